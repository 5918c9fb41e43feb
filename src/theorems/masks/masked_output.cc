// Licensed under the Apache License, Version 2.0; see LICENSE.
#include "theorems/masks/masked_output.h"

#include <cmath>
#include <vector>

#include "mixcert/core/rounding.h"
#include "network/mask_sums/mask_sum_distance.h"
#include "theorems/masks/masked_noise.h"

namespace mixcert {
namespace {

/// Is the mask of neuron j random at this leaf, and does it matter?
bool has_random_mask(const SurrogateLaw& law, Index j) { return law.mask_gain(j) > 0.0; }

/// sum_j c_j Y_j, c_j = nu^{1/2} a_j w_j with activations as computed.
MaskGroup random_masks(const DenseLayer& layer, const Mask& mask, const SurrogateLaw& law) {
  std::vector<Index> random;
  for (Index j = 0; j < law.mean.size(); ++j) {
    if (has_random_mask(law, j)) random.push_back(j);
  }
  const double root = std::sqrt(mask.variance().nominal);
  const Vector factors = root * law.mean(random);
  return {mask.rate(), layer.weight_mean()(Eigen::all, random) * factors.asDiagonal()};
}

/// The noise of all outputs, and how far its root is from that of its mean.
struct OutputNoise {
  Vector means;
  double before = 0.0;   ///< `before` of MaskSumSettings
  double rounded = 0.0;  ///< what rounded means move the output by
};

OutputNoise output_noise(const DenseLayer& layer, const Mask& mask, const SurrogateLaw& law,
                         double most_operations) {
  OutputNoise noise{layer.bias_variances(), 0.0, 0.0};
  const Matrix* variances = independent_variances(layer.weights());
  if (variances == nullptr) return noise;
  const Index n = law.mean.size(), outputs = layer.outputs();
  // Known masks are part of the activations: what a leaf drops is zero.
  const Vector squares = law.mean.cwiseAbs2();
  Vector known(n), random(n);
  for (Index j = 0; j < n; ++j) {
    random(j) = has_random_mask(law, j) ? squares(j) : 0.0;
    known(j) = squares(j) - random(j);
  }
  double squared = 0.0;
  for (Index l = 0; l < outputs; ++l) {
    const auto row = variances->row(l).transpose();
    const double least = layer.bias_variances()(l) + row.dot(known);
    const MaskedNoise own =
        masked_noise(mask, least, row.cwiseProduct(random), most_operations / static_cast<double>(outputs));
    noise.means(l) = own.mean;
    squared += own.distance;
  }
  noise.before = enlarged(std::sqrt(squared));
  noise.rounded = enlarged(rounding_gamma(2 * n + 64) * std::sqrt(noise.means.sum()));
  return noise;
}

/// What activations that are off by law.error move the output by, in L2: a random mask has the mean square
/// 1/kappa. Products c_j are off by a few units.
double moved_by_activations(const DenseLayer& layer, const Mask& mask, const SurrogateLaw& law) {
  const double factor = enlarged(1.0 / std::sqrt(mask.keep()));
  const Matrix* variances = independent_variances(layer.weights());
  double moved = 0.0;
  for (Index j = 0; j < law.mean.size(); ++j) {
    double size = layer.weight_mean().col(j).stableNorm();
    if (variances != nullptr) size += std::sqrt(variances->col(j).sum());
    moved += factor * size * (law.error(j) + 32.0 * kUnitRoundoff * std::abs(law.mean(j)));
  }
  return enlarged(moved);
}

double leaf_mean_shift(const DenseLayer& layer, const SurrogateLaw& law, const Gaussian& pushed) {
  const Matrix& m = layer.weight_mean();
  const Vector means = m * law.mean + layer.bias_mean();
  const Vector sizes = m.cwiseAbs() * law.mean.cwiseAbs() + layer.bias_mean().cwiseAbs();
  return enlarged((means - pushed.mean).stableNorm() +
                  rounding_gamma(layer.inputs() + 8) * sizes.stableNorm());
}

}  // namespace

double left_masks_distance(const DenseLayer& layer, const Mask& mask, const SurrogateLaw& law,
                           const MaskWork& work) {
  const std::vector<MaskGroup> masks{random_masks(layer, mask, law)};
  // Lattices of the noise are a small part of it all.
  const OutputNoise noise = output_noise(layer, mask, law, 0.01 * work.most_operations);
  const Matrix covariance = noise.means.asDiagonal();
  if (!masks[0].vectors.allFinite() || !covariance.allFinite() || !std::isfinite(noise.before))
    return INFINITY;
  MaskSumSettings settings;
  settings.most_operations = work.most_operations;
  settings.before = noise.before;
  // More are little work beside the integrals of single masks, and worth 2 to 5 %.
  settings.nodes = 48;
  if (work.is_quick) {
    settings.cuts.clear();
    settings.nodes = 8;
  }
  return mask_sum_distance(masks, covariance, settings).w2;
}

double leaf_rounding(const DenseLayer& layer, const Mask& mask, const SurrogateLaw& law,
                     const Gaussian& pushed) {
  const std::vector<MaskGroup> masks{random_masks(layer, mask, law)};
  const OutputNoise noise = output_noise(layer, mask, law, 0.0);
  const Matrix covariance = noise.means.asDiagonal();
  if (pushed.covariance.rank() > 0 || !masks[0].vectors.allFinite() || !covariance.allFinite())
    return INFINITY;
  return enlarged(stored_covariance_cost(masks, covariance, pushed.covariance.to_dense()) + noise.rounded +
                  moved_by_activations(layer, mask, law) + leaf_mean_shift(layer, law, pushed));
}

}  // namespace mixcert
