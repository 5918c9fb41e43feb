// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// How far the law of the output can move while the input moves (M.9): the norms of (M.8) carried one layer
// further back, through the first layer's weights to the features.
#pragma once

#include <vector>

#include "mixcert/core/parallel.h"
#include "mixcert/core/rounding.h"
#include "mixcert/network/network.h"

namespace mixcert {

/// factor |d|_A for a change d of the features, and what bounds it over sets (M.10).
struct FeatureNorm {
  double factor = 1.0;
  Vector metric;         ///< diag(metric) >= A
  double longest = 0.0;  ///< >= lambda_max(A)
};

/// Belongs to the network whatever the input.
class InputNorms {
 public:
  /// Interrupted between two layers where the flag is set; it may be null.
  InputNorms(const Network& network, const CancelFlag* cancel);

  // No less than W2 between the network's laws at features f and f + d, whatever d in the set.

  /// |d_i| <= half_widths_i.
  [[nodiscard]] UpperBound change_in_box(ConstVectorRef half_widths) const;
  /// |d| <= radius.
  [[nodiscard]] UpperBound change_in_ball(double radius) const;

 private:
  std::vector<FeatureNorm> norms_;
};

}  // namespace mixcert
