// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The envelope of the logistic function s(v) = 1/(1 + e^-v),
//
//     phi(u) = inf over v of s(v) + kappa (u - v)^2,
//
// which duality needs (U.12): how low s may fall for a cost kappa per squared distance. Kept as a table over
// u with a proven error; a solve per sample would cost twenty times as much.
#pragma once

#include <algorithm>
#include <vector>

#include "mixcert/core/rounding.h"
#include "mixcert/core/types.h"

namespace mixcert {

/// phi(u), up to 1e-13 and never above it; h(v) = s(v) + kappa (u - v)^2 is convex outside one interval.
double sigmoid_envelope(double u, double kappa);

class EnvelopeTable {
 public:
  explicit EnvelopeTable(double kappa);

  [[nodiscard]] double kappa() const { return kappa_; }
  /// No more than phi(u); within [-24, 104] by at most 2e-6 less, but for the one cell that may hold a kink,
  /// where it may be 1/2048. Not negative.
  [[nodiscard]] double lower(double u) const {
    const double place = (u - kFirst) * kNodesPerUnit;
    if (!(place > 0.0)) return 0.0;
    const auto last = static_cast<double>(values_.size() - 1);
    if (place >= last) return values_.back();
    const auto node = static_cast<std::size_t>(place);
    const double part = place - static_cast<double>(node);
    return positive_part(values_[node] + part * (values_[node + 1] - values_[node]) - kTableError);
  }

  /// The kappas there are tables of: 2^(k/8 - 14), k = 0..count-1. Built at first use, any thread.
  static Index count();
  static double kappa_of(Index k);
  static const EnvelopeTable& at(Index k);

 private:
  static constexpr double kFirst = -24.0;
  static constexpr double kLast = 104.0;
  static constexpr double kNodesPerUnit = 128.0;
  /// phi - u^2/(12 sqrt 3) is concave, so that a chord is above phi by at most h^2/(48 sqrt 3) (U.12).
  static constexpr double kTableError = 7.4e-7;

  double kappa_;
  std::vector<double> values_;
};

}  // namespace mixcert
