// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// A masked activation m a = a + (m - 1) a: the second part has mean zero given everything before it, and its
// Gaussian stand-in tau eta is coupled to the mask (D.2). tau^2 is the variance of that part, so that means
// and covariances of the pushed Gaussian are the network's; tau = kappa E|a| would make the certificate
// smaller by some ten per cent and every variance too small.
#include <algorithm>
#include <cmath>
#include <utility>

#include "core/elementary.h"
#include "methods/moment/surrogate_law.h"

namespace mixcert {
namespace {

// Covers the few roundings of each formula below.
constexpr double kMaskOutward = 1.0 + 64 * kUnitRoundoff;
constexpr double kSmallerMask = 1.0 - 64 * kUnitRoundoff;

/// No less than E a^4 = (E a^2)^2 + E[a^2 x]^2 + (rest)^2.
double fourth_moment(const SurrogateLaw& law, Index j) {
  return kMaskOutward *
         (square(law.second(j) + law.second_error(j)) +
          square(std::abs(law.square_slope(j)) + law.square_slope_error(j)) + square(law.square_rest(j)));
}

/// No more than E|a|: by |E a|, and by Hoelder's inequality (E a^2)^{3/2} <= E|a| (E a^4)^{1/2}.
double absolute_mean(const SurrogateLaw& law, Index j) {
  const double by_mean = std::abs(law.mean(j)) - law.error(j);
  const double second = law.second(j) - law.second_error(j);
  const double by_moments =
      second > 0.0 ? second * std::sqrt(second) / std::sqrt(fourth_moment(law, j)) : 0.0;
  return kSmallerMask * positive_part(larger_or_nan(by_mean, by_moments));
}

/// The mask of neuron j takes a known value.
void fix_mask(double factor, Index j, SurrogateLaw& law) {
  const double rounding =
      8 * kUnitRoundoff *
      (std::abs(law.mean(j)) + std::abs(law.gain(j)) + std::abs(law.linear(j)) + std::abs(law.quadratic(j)));
  law.error(j) = kMaskOutward * factor * (law.error(j) + rounding);
  for (Vector* field : {&law.mean, &law.gain, &law.linear, &law.quadratic}) (*field)(j) *= factor;
  law.rest(j) *= kMaskOutward * factor;
  const double squared = factor * factor;
  law.second_error(j) = kMaskOutward * squared * (law.second_error(j) + 8 * kUnitRoundoff * law.second(j));
  law.square_slope_error(j) = kMaskOutward * squared *
                              (law.square_slope_error(j) + 8 * kUnitRoundoff * std::abs(law.square_slope(j)));
  law.square_rest(j) *= kMaskOutward * squared;
  law.second(j) *= squared;
  law.square_slope(j) *= squared;
}

/// The mask of neuron j is random.
void randomise_mask(const Mask& mask, Index j, SurrogateLaw& law) {
  const UpperBound variance = mask.variance();
  const UpperBound factor = UpperBound::exact(1.0) + variance;
  const double fourth = fourth_moment(law, j);
  const double highest = kMaskOutward * variance.upper * (law.second(j) + law.second_error(j));
  const double tau = std::sqrt(positive_part(variance.nominal * law.second(j)));
  law.mask_gain(j) = tau;
  law.mask_variance(j) = highest;
  // Written so that NaN, left by an overflow, stays NaN.
  const double cost = kMaskOutward * (highest + tau * tau) -
                      kSmallerMask * 2.0 * tau * mask.normal_coupling() * absolute_mean(law, j);
  law.mask_cost(j) = cost <= 0.0 ? 0.0 : cost;
  const double spread = mask.fourth_moment().upper - kSmallerMask * square(factor.nominal);
  law.mask_square(j) = kMaskOutward * positive_part(spread) * fourth;
  const double widened = factor.upper * kMaskOutward - factor.nominal;
  law.second_error(j) = kMaskOutward * (factor.upper * law.second_error(j) + widened * law.second(j));
  law.square_slope_error(j) =
      kMaskOutward * (factor.upper * law.square_slope_error(j) + widened * std::abs(law.square_slope(j)));
  law.square_rest(j) *= kMaskOutward * factor.upper;
  law.second(j) *= factor.nominal;
  law.square_slope(j) *= factor.nominal;
}

}  // namespace

SurrogateLaw masked_law(SurrogateLaw law, const Mask& mask, const MaskLeaf& leaf) {
  if (mask.is_none()) return law;
  const Index n = law.mean.size();
  for (Vector* field : {&law.mask_gain, &law.mask_cost, &law.mask_variance, &law.mask_square}) {
    *field = Vector::Zero(n);
  }
  std::vector<bool> fixed(static_cast<std::size_t>(n), false);
  const auto fix = [&](const std::vector<Index>& neurons, double factor) {
    for (const Index j : neurons) {
      fixed[static_cast<std::size_t>(j)] = true;
      fix_mask(factor, j, law);
    }
  };
  fix(leaf.kept, 1.0 / mask.keep());
  fix(leaf.dropped, 0.0);
  for (Index j = 0; j < n; ++j) {
    if (!fixed[static_cast<std::size_t>(j)]) randomise_mask(mask, j, law);
  }
  return law;
}

void add_surrogates(const ActivationMap& activation, const Mask& mask, MomentLayerTrace& layer) {
  layer.surrogates.reserve(static_cast<std::size_t>(layer.pieces.size() * layer.masks.size()));
  for (const Gaussian& piece : layer.pieces.components()) {
    const SurrogateLaw law = surrogate_law(activation, piece);
    for (Index leaf = 0; leaf < layer.masks.size(); ++leaf) {
      layer.surrogates.push_back(masked_law(law, mask, layer.masks.leaf(leaf)));
    }
  }
}

Vector pushed_weights(const MomentLayerTrace& layer) {
  const Index leaves = layer.masks.size();
  if (leaves == 1) return layer.pieces.weights();
  Vector weights(layer.pieces.size() * leaves);
  for (Index i = 0; i < weights.size(); ++i) {
    weights(i) = layer.pieces.weights()(i / leaves) * layer.masks.leaf(i % leaves).probability;
  }
  return weights / weights.sum();
}

}  // namespace mixcert
