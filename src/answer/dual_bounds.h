// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// What answers are made of: projections of mixtures (U.8), and the dual bounds on the line (U.4), of
// polyhedra (U.6) and of the logistic function (U.12).
#pragma once

#include <algorithm>
#include <limits>
#include <vector>

#include "mixcert/answer/answers.h"
#include "mixcert/answer/certified_law.h"
#include "mixcert/answer/statement.h"
#include "mixcert/core/rounding.h"
#include "mixcert/core/types.h"
#include "mixcert/mixture/gaussian_mixture.h"

namespace mixcert {

inline Interval squared(const Interval& norm) {
  const double lower = positive_part(norm.lower);
  return {norm.estimate * norm.estimate, positive_part(next_down(lower * lower)),
          next_up(norm.upper * norm.upper)};
}

// Where mixtures in many dimensions meet the line, and what rounding costs there (U.8).

/// At most this much below zero is an eigenvalue of a stored covariance; the law meant is that of its
/// positive part (docs/theory/rounding.md). Zero for a diagonal with a low-rank part.
double negative_part(const Covariance& covariance);

struct Projection {
  LineMixture line;
  double error = 0.0;  ///< no less than W2 between `line` and the exact law
};

/// The law of direction'y, in work that grows with the nonzero entries of the direction.
Projection project(const GaussianMixture& mixture, ConstVectorRef direction);

// The dual bound (U.4). Every set we need is made of half-lines, so that one function of a mixture is enough
// (U.5):
//     soft tail  E_q (1 - (d/h)^k)_+,   d = (t - y)_+ the distance to {y >= t},   k = 1 or 2.

enum class TransportOrder { One = 1, Two = 2 };

/// The soft tail, rounded up; P(y >= threshold) at width 0.
double soft_tail_upper(const LineMixture& line, double threshold, double width, TransportOrder order);

/// About E_q[(d/h)^k; d <= h], what it costs to move all that lies within the width.
double moved_share(const LineMixture& line, double threshold, double width, TransportOrder order);

/// {y >= threshold} under `line`.
struct HalfLine {
  const LineMixture* line;
  double threshold;
};

struct DualBound {
  double value = 1.0;
  double width = 0.0;  ///< the smoothing width that gave it; 0 where none is used
};

/// No less than P_p(A) for every p within w2 and w1 of the line, A the closed set with
///     (1 - (d(y, A)/h)^k)_+ <= offset + sum of the soft tails' integrands of `sides`:
/// one half-line, the union of two (offset 0), or the intersection of two that overlap (offset -1).
DualBound dual_bound(const std::vector<HalfLine>& sides, double offset, double w2, double w1);

// A statement as a polyhedron A = {y : rows y >= thresholds}, and distances of points to it and to the
// complement of its interior, both rounded down (U.6).

class Polyhedron {
 public:
  explicit Polyhedron(const Statement& statement);

  /// Of each point.
  struct Distances {
    Vector to_set;         ///< no more than d(y, A); exact for boxes and for classes, up to rounding
    Vector to_complement;  ///< no more than the distance to where a row fails; exact up to rounding
    Index inside = 0;      ///< how many fulfil all rows strictly
  };
  /// `points`: dimension x count. Distances to the set that are found to be at least `enough` are not sought
  /// any further.
  [[nodiscard]] Distances distances(ConstMatrixRef points,
                                    double enough = std::numeric_limits<double>::infinity()) const;

 private:
  Matrix rows_;        // of norm one
  Vector thresholds_;  // scaled alike
  Matrix gram_;        // rows rows'
  double threshold_size_ = 0.0;
};

// The dual bound integrated over samples of the mixture, for statements that have no closed form (U.6).

/// Both ends hold together but for options.failure_probability.
ProbabilityAnswer sampled_probability(const CertifiedLaw& law, const Statement& statement,
                                      const IntegrationOptions& options);

/// No less than W2 between `part`, outputs of `mixture`, and the law of its computed samples (U.6): the
/// entries of the part and the factor of its covariance are exact up to rounding, in trace norm, and so is
/// each sample.
double sampling_error(const GaussianMixture& mixture, const GaussianMixture& part);

// The envelope of the logistic function s(v) = 1/(1 + e^-v),
//
//     phi(u) = inf over v of s(v) + kappa (u - v)^2,
//
// which duality needs (U.12): how low s may fall for a cost kappa per squared distance. Kept as a table over
// u with a proven error; a solve per sample would cost twenty times as much.

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
