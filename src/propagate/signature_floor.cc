// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// N grid points on independent axes leave all but log2 N neurons of the first hidden layer with a single
// point. Such a neuron's activation is replaced by a constant, and its whole variance, weighed by a metric,
// is in the certificate's first local term.
#include "propagate/signature_floor.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

namespace mixcert {

namespace {

/// Root of the sum of all but the `split` largest.
double root_without_largest(Vector shares, Index split) {
  if (split >= shares.size()) return 0.0;
  std::sort(shares.data(), shares.data() + shares.size(), std::greater<>());
  return std::sqrt(positive_part(shares.tail(shares.size() - split).sum()));
}

}  // namespace

double signature_floor(const Prepared& prepared, const MomentTrace& trace) {
  const Network& network = prepared.network;
  if (prepared.options.epsilon || network.hidden_count() < 1 || network.has_masks()) return 0.0;
  if (trace.layers.empty() || trace.layers.front().pieces.size() != 1) return 0.0;
  const MomentLayerTrace& layer = trace.layers.front();
  if (!layer.pieces.component(0).covariance.is_diagonal()) return 0.0;
  const SurrogateLaw& law = layer.surrogates.front();
  const Vector variances = law.second - law.mean.cwiseAbs2();
  Index split = 0;
  for (Index points = prepared.options.signature_size; points > 1; points /= 2) ++split;
  double least = std::numeric_limits<double>::infinity();
  for (const MetricChain& chain : prepared.sensitivity.metrics) {
    const Vector& metric = chain.activation_weights.front();
    if (metric.size() != variances.size()) return 0.0;
    least = std::min(least, root_without_largest(metric.cwiseProduct(variances), split));
  }
  return least < std::numeric_limits<double>::infinity() ? least * (1.0 - 1e-9) : 0.0;
}

}  // namespace mixcert
