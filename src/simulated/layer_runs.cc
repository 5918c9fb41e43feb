// Licensed under the Apache License, Version 2.0; see LICENSE.
#include "simulated/layer_runs.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "mixcert/core/rounding.h"
#include "mixture/verified_norm.h"

namespace mixcert {

LayerSlopes slopes_of(const ActivationMap& activation, Index neurons) {
  double low = INFINITY, high = -INFINITY;
  for (Index j = 0; j < neurons; ++j) {
    const SlopeRange range = activation.at(j).slope_range();
    low = std::min(low, range.low);
    high = std::max(high, range.high);
  }
  return {enlarged(0.5 * std::abs(low + high)), enlarged(0.5 * (high - low)),
          std::max(std::abs(low), std::abs(high))};
}

LayerRuns::LayerRuns(const std::vector<Matrix>& weights, std::vector<LayerSlopes> slopes)
    : slopes_(std::move(slopes)) {
  const auto depth = static_cast<Index>(weights.size());
  products_ = runs_ = Matrix::Zero(depth, depth);
  const auto weight = [&](Index k) -> const Matrix& { return weights[static_cast<std::size_t>(k - 1)]; };
  for (Index first = 1; first <= depth; ++first) {
    Matrix product = weight(first);
    // Frobenius norms bound what rounding of the products may hide.
    double sizes = enlarged(product.norm()), rounding = 0.0;
    for (Index last = first; last <= depth; ++last) {
      if (last > first) {
        const Matrix& next = weight(last);
        rounding = enlarged(next.norm() * rounding + rounding_gamma(next.cols() + 8) * next.norm() * sizes);
        product = next * product;
        sizes = enlarged(sizes * next.norm());
      }
      products_(last - 1, first - 1) = enlarged(spectral_norm(product) + rounding);
    }
  }
  // From short runs to long ones: below the first Theta_s any run may follow, above it the slopes' middle.
  for (Index length = 0; length < depth; ++length) {
    for (Index j = 1; j + length <= depth; ++j) {
      const Index i = j + length;
      double middles = 1.0, expanded = 0.0, best = INFINITY;
      for (Index s = i; s > j; --s) {
        expanded += middles * product(i, s) * this->slopes(s).half * runs_(s - 2, j - 1);
        middles *= this->slopes(s).middle;
        best = std::min(best, this->slopes(s).largest * runs_(i - 1, s - 1) * runs_(s - 2, j - 1));
      }
      runs_(i - 1, j - 1) = enlarged(std::min(best, expanded + middles * product(i, j)));
    }
  }
}

double LayerRuns::run(Index last, Index first) const {
  if (last < first) return 1.0;
  return enlarged(runs_(last - 1, first - 1) * slopes(first).largest);
}

}  // namespace mixcert
