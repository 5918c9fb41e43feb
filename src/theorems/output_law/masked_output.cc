// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// docs/theory/dropout-laws.md (D.7): what is random beside the masks is replaced by constants and by
// independent noise, which is taken off both laws. No square is formed of a size that may vanish.
#include "theorems/output_law/masked_output.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "certificate/mask_tree.h"
#include "methods/moment/surrogate_law.h"

namespace mixcert {
namespace {

/// No less than the L2 norm of a_j - mean_j, but for what the mean is off by.
double neuron_spread(const SurrogateLaw& law, Index j) {
  return std::abs(law.gain(j) + law.linear(j)) + std::abs(law.quadratic(j)) + law.rest(j) +
         2.0 * kUnitRoundoff * std::abs(law.gain(j));
}

/// Noise of weights beside masks has a random variance S. Its deviation counts as that of E S, which moves
/// the output by no more than (Var S / E S)^{1/2}.
double uneven_noise(const Vector& deviations, double noise, double rate) {
  if (!(noise > 0.0)) return 0.0;
  double fourth = 0.0;
  for (const double one : deviations) fourth += std::pow(one / noise, 4);
  return enlarged(noise * (std::sqrt(rate / (1.0 - rate) * fourth) + 1e-100));
}

}  // namespace

MaskedOutput masked_output(const Situation& situation) {
  const Index last = situation.depth;
  const DenseLayer& next = situation.network.layer(last);
  const Gaussian& piece = situation.traced(last).pieces.component(0);
  const SurrogateLaw law = surrogate_law(situation.network.activation(last), piece);
  const double rate = situation.network.mask(last).rate();
  const double root = std::sqrt(1.0 - rate);
  const Index n = next.inputs();
  MaskedOutput output;
  output.sum.rate = rate;
  output.sum.contributions.resize(n);
  const Vector deviations = next.weight_variances().row(0).cwiseSqrt();
  Vector spreads(n), noises(n);
  double rounding = 0.0;
  for (Index j = 0; j < n; ++j) {
    const double weight = next.weight_mean()(0, j);
    const double size = std::hypot(weight, deviations(j));
    const double contribution = output.sum.contributions(j) = weight * law.mean(j);
    spreads(j) = size * neuron_spread(law, j);
    noises(j) = deviations(j) * std::abs(law.mean(j)) / root;
    rounding += size * law.error(j) + 2.0 * kUnitRoundoff * std::abs(contribution) + 1e-320;
  }
  const bool is_independent = piece.covariance.is_diagonal();
  const double bias = next.bias_mean()(0), total = output.sum.contributions.cwiseAbs().sum();
  output.mean = bias + output.sum.contributions.sum();
  output.mean_error = enlarged(rounding_gamma(n + 4) * (std::abs(bias) + total));
  output.noise = std::hypot(std::sqrt(next.bias_variances()(0)), noises.stableNorm());
  const double neurons = is_independent ? spreads.stableNorm() : spreads.sum();
  output.moved = enlarged((neurons + rounding) / root) + uneven_noise(noises, output.noise, rate) +
                 64.0 * kUnitRoundoff * output.noise;
  return output;
}

UpperBound masked_distance(const MaskedOutput& output, const LatticeLaw& law,
                           const GaussianMixture& mixture) {
  const double center = mixture.size() == 1 ? mixture.component(0).mean(0) : mixture.mean()(0);
  LineGaussians line;
  double replaced = 0.0;  // of deviations and means, at most
  for (Index k = 0; k < mixture.size(); ++k) {
    const Gaussian& component = mixture.component(k);
    const double deviation = std::sqrt(component.covariance.variances()(0));
    const double mean = component.mean(0) - center, noise = output.noise;
    line.weights.push_back(mixture.weights()(k));
    line.means.push_back(mean);
    // The deviation that noise leaves.
    const bool is_wider = deviation > noise;
    line.deviations.push_back(is_wider ? std::sqrt(deviation - noise) * std::sqrt(deviation + noise) : 0.0);
    const double missing = is_wider ? 0.0 : noise - deviation;
    replaced = larger_or_nan(replaced, missing + 16.0 * kUnitRoundoff * (std::abs(mean) + deviation + noise));
  }
  const UpperBound apart = distance_to_gaussians(law, line);
  const double shift = std::abs(output.mean - center) * (1.0 + 4.0 * kUnitRoundoff) + output.mean_error;
  const double upper = next_up(apart.upper + enlarged(shift + replaced + output.moved));
  return upper < INFINITY ? UpperBound{apart.nominal, upper} : UpperBound{INFINITY, INFINITY};
}

// Mixtures in place of the Gaussian.

namespace {

/// With the output's mean, the fitted law in place of the sum's, and the noise.
GaussianMixture with_output_noise(const MaskedOutput& output, const LineGaussians& line) {
  Vector weights(static_cast<Index>(line.weights.size()));
  std::vector<Gaussian> components;
  for (Index i = 0; i < weights.size(); ++i) {
    const auto k = static_cast<std::size_t>(i);
    weights(i) = line.weights[k];
    const double deviation = std::hypot(line.deviations[k], output.noise);
    components.push_back({Vector::Constant(1, output.mean + line.means[k]),
                          Covariance::diagonal(Vector::Constant(1, deviation * deviation))});
  }
  return {weights / weights.sum(), std::move(components)};
}

/// Standard deviation of the sum, about.
double sum_deviation(const MaskedSum& sum) {
  return std::sqrt(sum.rate / (1.0 - sum.rate)) * sum.contributions.stableNorm();
}

LineGaussians fitted_gaussians(const MaskedSum& sum, const LatticeLaw& law, Index most, double wanted) {
  const double deviation = sum_deviation(sum);
  const UnitMixture unit = best_fit(fit_target(law), most, wanted / deviation);
  LineGaussians line{unit.weights, unit.means, unit.deviations};
  for (double& mean : line.means) mean *= deviation;
  for (double& one : line.deviations) one *= deviation;
  return line;
}

/// The Gaussians of the leaves of a tree that asks for the largest masks (D.4): it has the sum's own moments.
LineGaussians leaf_gaussians(const MaskedSum& sum, Index most) {
  const double deviation = sum_deviation(sum);
  const Vector shares = (sum.contributions / deviation).cwiseAbs2();
  const MaskTree tree = grow_mask_tree(shares, Mask::bernoulli(sum.rate), most);
  const double keep = 1.0 - sum.rate, all = shares.sum();
  LineGaussians line;
  for (Index i = 0; i < tree.size(); ++i) {
    const MaskLeaf& leaf = tree.leaf(i);
    double mean = 0.0, known = 0.0;
    for (const Index j : leaf.kept) {
      mean += sum.contributions(j) * (sum.rate / keep);
      known += shares(j);
    }
    for (const Index j : leaf.dropped) {
      mean -= sum.contributions(j);
      known += shares(j);
    }
    line.weights.push_back(leaf.probability);
    line.means.push_back(mean);
    line.deviations.push_back(deviation * std::sqrt(positive_part(all - known) * (sum.rate / keep)));
  }
  return line;
}

}  // namespace

OutputFit fit_masked_output(const Situation& situation, Index most, double wanted) {
  const MaskedOutput output = masked_output(situation);
  OutputFit result;
  if (!(output.moved < INFINITY)) return result;
  const LatticeLaw law = lattice_law(output.sum);
  result.gaussian = masked_distance(output, law, situation.trace.output);
  result.law = kept_lattice(output, law);
  // What a tree of masks has split is compared as it is: the law was fitted before.
  const bool is_done = situation.components > 1 || most < 2 || !(result.gaussian.upper > wanted);
  const double deviation = sum_deviation(output.sum);
  if (is_done || !(deviation > 0.0) || !(deviation < INFINITY)) return result;
  double least = kClearlyCloser * result.gaussian.upper;
  for (const LineGaussians& line : {fitted_gaussians(output.sum, law, most, wanted),
                                    leaf_gaussians(output.sum, std::min<Index>(most, 64))}) {
    GaussianMixture mixture = with_output_noise(output, line);
    const UpperBound distance = masked_distance(output, law, mixture);
    if (!(distance.upper < least)) continue;
    least = distance.upper;
    result.mixture = FittedOutput{std::move(mixture), distance};
  }
  return result;
}

}  // namespace mixcert
