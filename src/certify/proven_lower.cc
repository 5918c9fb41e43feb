// Licensed under the Apache License, Version 2.0; see LICENSE.
#include "certify/proven_lower.h"

#include <algorithm>
#include <cmath>

#include "certificate/first_push.h"
#include "certificate/rounding_terms.h"
#include "methods/moment/surrogate_law.h"
#include "mixcert/core/rounding.h"
#include "network/mask_sums/mask_sum_lower.h"

namespace mixcert {
namespace {

/// One hidden layer: y = b + sum_j c_j Y_j with activations as they were computed.
struct MaskedSum {
  MaskGroup masks;
  double entropy = 0.0;  ///< no less than that of the sum
  double moved = 0.0;    ///< no less than W2 to the network's own law
};

MaskedSum masked_sum(const Network& network, const Sensitivity& sensitivity, ConstVectorRef input) {
  const FirstPush first = push_first(network, input);
  const SurrogateLaw law = surrogate_law(network.activation(1), first.law);
  const Matrix& weights = network.layer(1).weight_mean();
  const Mask& mask = network.mask(1);
  const double root = std::sqrt(mask.variance().nominal);
  MaskedSum output;
  output.masks = {mask.rate(), weights * (root * law.mean).asDiagonal()};
  // Activations are off by law.error, products by a few units. Sums of sizes, not of their squares, which may
  // underflow.
  double moved = 0.0;
  for (Index j = 0; j < weights.cols(); ++j) {
    const double off = root * law.error(j) + 16.0 * kUnitRoundoff * root * std::abs(law.mean(j));
    moved += off * weights.col(j).stableNorm();
    const bool is_there = law.mean(j) != 0.0 && !weights.col(j).isZero(0.0);
    if (is_there) output.entropy += mask_entropy(mask.rate());
  }
  output.entropy = enlarged(output.entropy);
  const double first_error = first_layer_error(network, sensitivity, first.trace, 1).upper;
  output.moved = enlarged(enlarged(moved) + first_error) + 1e-290;
  return output;
}

/// Written so that NaN gives no bound but zero.
double lowered_by(double bound, double moved) {
  const double left = next_down(bound - moved);
  return left > 0.0 ? left : 0.0;
}

}  // namespace

bool is_made_of_masks(const Network& network) {
  if (network.graph() != nullptr || network.hidden_count() == 0 || !network.has_masks()) return false;
  for (Index k = 0; k < network.layer_count(); ++k) {
    const DenseLayer& layer = network.layer(k);
    const bool is_fixed = layer.row_variances().isZero(0.0) && layer.bias_variances().isZero(0.0);
    if (!is_fixed || network.mask(k).kind() == Mask::Kind::Gaussian) return false;
  }
  return true;
}

ProvenLower proven_lower(const Network& network, const Sensitivity& sensitivity, ConstVectorRef input,
                         const GaussianMixture& mixture) {
  ProvenLower lower;
  if (network.hidden_count() > 1) {
    // The output is a function of all masks.
    double entropy = 0.0;
    for (Index k = 1; k < network.layer_count(); ++k) {
      if (network.mask(k).is_none()) continue;
      entropy += static_cast<double>(network.layer(k).inputs()) * mask_entropy(network.mask(k).rate());
    }
    lower.mixture = mixture_lower_bound(mixture, enlarged(entropy));
    return lower;
  }
  const MaskedSum output = masked_sum(network, sensitivity, input);
  if (!output.masks.vectors.allFinite() || !std::isfinite(output.moved)) return lower;
  lower.gaussian = lowered_by(nearest_gaussian_distance({output.masks}), output.moved);
  lower.mixture = lowered_by(mixture_lower_bound(mixture, output.entropy), output.moved);
  if (mixture.size() == 1) lower.mixture = std::max(lower.mixture, lower.gaussian);
  return lower;
}

}  // namespace mixcert
