// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Rows (D.13), (D.16) and (D.19) of the table of theorems: the sum of the masks behind the last hidden layer
// as a whole, in place of masks that are coupled one by one.
#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "methods/moment/surrogate_law.h"
#include "theorems/masks/masked_output.h"
#include "theorems/theorem_table.h"

namespace mixcert {
namespace {

/// Sums of masks that may be evaluated at one input.
constexpr std::size_t kMostMaskSums = 32;
/// Operations for all of them, about; a fraction of a second.
constexpr double kMaskOperations = 2e9;

/// No weight and no bias is random, whatever their family.
bool is_without_noise(const DenseLayer& layer) {
  return layer.row_variances().isZero(0.0) && layer.bias_variances().isZero(0.0);
}

/// Which masks a leaf knows: behind fixed activations and deterministic weights nothing else matters (D.19).
std::vector<Index> known_masks(const MaskLeaf& leaf) {
  std::vector<Index> known = leaf.kept;
  known.insert(known.end(), leaf.dropped.begin(), leaf.dropped.end());
  std::sort(known.begin(), known.end());
  return known;
}

/// Leaves that share a sum.
std::map<std::vector<Index>, std::vector<Index>> leaves_by_sum(const Situation& at) {
  const MaskTree& masks = at.traced(at.depth).masks;
  const bool shared = is_without_noise(at.network.layer(at.depth));
  std::map<std::vector<Index>, std::vector<Index>> sums;
  for (Index i = 0; i < masks.size(); ++i) {
    sums[shared ? known_masks(masks.leaf(i)) : std::vector<Index>{i}].push_back(i);
  }
  return sums;
}

/// (D.19): squares average over leaves; weights of leaves are rounded products (R.6).
UpperBound distance_over_leaves(const Situation& at) {
  const MomentLayerTrace& layer = at.traced(at.depth);
  const DenseLayer& next = at.network.layer(at.depth);
  const Mask& mask = at.network.mask(at.depth);
  const GaussianMixture& output = at.trace.output;
  const Vector weights = pushed_weights(layer), center = output.mean();
  const Index leaves = layer.masks.size();
  const double weight_error =
      leaves == 1 ? 0.0 : 4.0 * std::sqrt(rounding_gamma(2 * weights.size() + 4 * leaves + 64));
  const auto sums = leaves_by_sum(at);
  // One sum has all the work, several share it.
  const MaskWork work{kMaskOperations / static_cast<double>(sums.size()), sums.size() > 4};
  UpperBound squared;
  for (const auto& [known, sharing] : sums) {
    const auto law = [&](Index leaf) -> const SurrogateLaw& {
      return layer.surrogates[static_cast<std::size_t>(leaf)];
    };
    const double shared = left_masks_distance(next, mask, law(sharing.front()), work);
    for (const Index leaf : sharing) {
      const Gaussian& pushed = output.component(leaf);
      const double size = (pushed.mean - center).norm() + std::sqrt(positive_part(pushed.covariance.trace()));
      const double rest = leaf_rounding(next, mask, law(leaf), pushed) + weight_error * enlarged(size);
      const UpperBound distance{shared, enlarged(shared + enlarged(rest))};
      squared = squared + UpperBound::exact(weights(leaf)) * distance * distance;
      if (!(squared.upper < INFINITY)) return {INFINITY, INFINITY};
    }
  }
  return sqrt(squared);
}

const Precondition kMaskedLayer = {
    "Bernoulli masks are behind this layer",
    [](const Situation& at, Index layer) { return at.network.mask(layer).kind() == Mask::Kind::Bernoulli; }};
const Precondition kFixedActivations = {
    "the activations in front of its masks are not random", [](const Situation& at, Index layer) {
      const GaussianMixture& pieces = at.traced(layer).pieces;
      return pieces.size() == 1 && pieces.component(0).covariance.variances().isZero(0.0);
    }};
const Precondition kOneLeaf = {"none of its masks is enumerated", [](const Situation& at, Index layer) {
                                 return at.traced(layer).masks.size() == 1;
                               }};
const Precondition kGaussianNext = {
    "weights and biases of the next layer are Gaussian",
    [](const Situation& at, Index layer) { return at.layer(layer).next_is_gaussian; }};

// One output has a law that can be computed: (D.7), where the table has it, is never larger.
const char* const kInsteadOfMasks = "D.7";

}  // namespace

Theorem mask_chain_theorem() {
  return {"D.13",
          "sum of masks",
          "mask-sums.md",
          {precondition::kLastLayer,
           kMaskedLayer,
           kFixedActivations,
           kOneLeaf,
           {"weights and biases of the next layer are deterministic",
            [](const Situation& at, Index layer) { return is_without_noise(at.network.layer(layer)); }}},
          [](const Situation& at, Index, Certificate& certificate) {
            return take_smaller(distance_over_leaves(at), "D.13", certificate.layers.back());
          },
          nullptr,
          kInsteadOfMasks};
}

Theorem mask_noise_theorem() {
  return {"D.16",
          "sum of masks and weight noise",
          "mask-sums.md",
          {precondition::kLastLayer,
           precondition::kIndependentNext,
           kMaskedLayer,
           kFixedActivations,
           kOneLeaf,
           kGaussianNext,
           {"weights or biases of the next layer are random",
            [](const Situation& at, Index layer) { return !is_without_noise(at.network.layer(layer)); }}},
          [](const Situation& at, Index, Certificate& certificate) {
            return take_smaller(distance_over_leaves(at), "D.16", certificate.layers.back());
          },
          nullptr,
          kInsteadOfMasks};
}

Theorem mask_leaves_theorem() {
  return {"D.19",
          "sums of the masks that are not enumerated",
          "mask-sums.md",
          {precondition::kLastLayer,
           precondition::kIndependentNext,
           kFixedActivations,
           kGaussianNext,
           {"some of its masks are enumerated",
            [](const Situation& at, Index layer) { return at.traced(layer).masks.size() > 1; }},
           {"at most 32 different sums of masks are left",
            [](const Situation& at, Index layer) {
              return layer != at.depth || leaves_by_sum(at).size() <= kMostMaskSums;
            }}},
          [](const Situation& at, Index, Certificate& certificate) {
            return take_smaller(distance_over_leaves(at), "D.19", certificate.layers.back());
          },
          nullptr,
          kInsteadOfMasks};
}

}  // namespace mixcert
