// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// N grid points on independent axes leave all but log2 N neurons with a single point. Such a neuron's
// activation is replaced by a constant, and its whole variance is in the coupling that the certificate
// bounds from above.
#include "propagate/signature_floor.h"

#include <algorithm>
#include <cmath>
#include <functional>

namespace mixcert {

double signature_floor(const Prepared& prepared, const MomentTrace& trace) {
  const Network& network = prepared.network;
  if (prepared.options.epsilon || network.hidden_count() != 1 || network.has_masks()) return 0.0;
  if (trace.layers.size() != 1 || trace.layers.front().pieces.size() != 1) return 0.0;
  const MomentLayerTrace& layer = trace.layers.front();
  if (!layer.pieces.component(0).covariance.is_diagonal()) return 0.0;
  const SurrogateLaw& law = layer.surrogates.front();
  const Matrix& weights = network.layer(1).weight_mean();
  Vector shares = weights.colwise().squaredNorm().transpose().cwiseProduct(law.second - law.mean.cwiseAbs2());
  std::sort(shares.data(), shares.data() + shares.size(), std::greater<>());
  Index split = 0;
  for (Index points = prepared.options.signature_size; points > 1; points /= 2) ++split;
  if (split >= shares.size()) return 0.0;
  return std::sqrt(std::max(0.0, shares.tail(shares.size() - split).sum()));
}

}  // namespace mixcert
