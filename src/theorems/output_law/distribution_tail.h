// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Tails of the comparison of Y with Z, node by node from the outside in: docs/theory/stein.md (Y.7).
#pragma once

#include "theorems/output_law/distribution_curve.h"

namespace mixcert {

/// What is known of P(Y > y) and of T(y) = PhiInv(F_Y(y)).
struct TailPoint {
  double y, lower, upper;
  double up, down;  ///< y - down <= T(y) <= y + up

  /// From P(Z > y), the change of it, and the error of that.
  TailPoint(double at, double normal, double change, double error);
  [[nodiscard]] bool is_known() const { return lower > 0.0 && upper < 0.5; }
};

class DistributionTail {
 public:
  /// At the outermost node where something is known. `log_moment` is that of exp(order Y).
  DistributionTail(const DistributionSide& side, double error, double order, double log_moment);

  [[nodiscard]] std::size_t node() const { return node_; }
  /// What p outside of F_Y(y_node) adds to W2^2 on this side; infinite where nothing is known.
  [[nodiscard]] double cost() const { return cost_; }
  /// Goes on to the next node; false where there is none, or nothing is known of it.
  bool step_inward();

 private:
  [[nodiscard]] TailPoint point(std::size_t i) const;

  const DistributionSide& side_;
  double error_;
  std::size_t node_;
  TailPoint at_;
  double cost_;
};

}  // namespace mixcert
