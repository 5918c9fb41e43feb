// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The product of the neurons' characteristic functions at multiples kh of a frequency, with its error:
// docs/theory/stein.md (Y.4).
#pragma once

#include <vector>

#include "certify/line_nodes.h"
#include "mixcert/core/types.h"

namespace mixcert {

using LineFour = Eigen::Array<double, 4, 1>;
/// Numbers at kh, k = 1, 2, .., four to an entry.
using LineValues = std::vector<LineFour>;

/// The frequencies kh, k = 1 .. count, and what follows.
struct LineFrequencies {
  LineFrequencies(double h, Index frequency_count);

  double spacing;
  Index count;
  LineValues order;  ///< k
  LineValues time;   ///< kh
  LineValues rest;   ///< about the size of a sum without one of its terms: exp(-0.4 (kh)^2)
};

/// One factor, and no less than its error; where that is above 1/2 the factor counts as 0 with error 1.
struct LineFactor {
  explicit LineFactor(std::size_t size) : real(size), imaginary(size), error(size) {}
  void resize(std::size_t size);
  /// The largest error times `rest`.
  [[nodiscard]] double largest_error(const LineFrequencies& frequencies) const;

  LineValues real, imaginary, error;
};

/// Values of f_j by recurrence over frequencies, from nodes (Y.4). Overwrites all of `factor`, which may have
/// fewer entries than there are frequencies.
void line_factor_by_nodes(const LineNeuron& neuron, const LineNodes& nodes,
                          const LineFrequencies& frequencies, LineFactor& factor);

class LineProduct {
 public:
  /// exp(-beta t^2/2) alone.
  LineProduct(const LineFrequencies& frequencies, double bias_variance);

  void multiply(const LineFactor& factor);
  /// Entries (of four) that are not negligible; factors need no more. The others stay as they are, with an
  /// error that covers all further factors.
  [[nodiscard]] std::size_t active() const { return active_; }
  [[nodiscard]] double real(Index k) const { return at(real_, k); }
  [[nodiscard]] double imaginary(Index k) const { return at(imaginary_, k); }
  /// Without the rounding of products.
  [[nodiscard]] double error(Index k) const { return at(error_, k); }

 private:
  static double at(const LineValues& values, Index k) {
    return values[static_cast<std::size_t>(k / 4)](k % 4);
  }
  LineValues real_, imaginary_;
  LineValues size_;  ///< product of bounds of |f_j|
  LineValues error_;
  std::size_t active_;
};

}  // namespace mixcert
