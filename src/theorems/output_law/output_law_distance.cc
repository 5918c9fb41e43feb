// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The output in units of its deviation, and what rounding those units changes: docs/theory/stein.md (Y.8);
// the Gaussian or a mixture that stands for it (Y.1), (Y.40), behind dropout too (D.8).
#include "theorems/output_law/output_law_distance.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "certificate/replaced_weights.h"
#include "methods/moment/moment_error.h"
#include "methods/moment/surrogate_law.h"
#include "theorems/output_law/distribution.h"
#include "theorems/output_law/line_mixture.h"

namespace mixcert {
namespace {

bool has_output_law(const DenseLayer& layer, const Gaussian& piece, const SurrogateLaw& law) {
  return layer.outputs() == 1 && layer.has_independent_outputs() && piece.covariance.is_diagonal() &&
         !law.is_masked();
}

/// |bias + sum_j M_j mu_j - mean of the pushed Gaussian|, rounded up.
double mean_shift(const DenseLayer& layer, const SurrogateLaw& law, double mean) {
  const Index n = layer.inputs();
  const double bias = layer.bias_mean()(0);
  const double sum = layer.weight_mean().row(0).dot(law.mean) + bias;
  const double sizes = layer.weight_mean().row(0).cwiseAbs().dot(law.mean.cwiseAbs()) + std::abs(bias);
  return enlarged(std::abs(sum - mean) + rounding_gamma(n + 8) * sizes);
}

/// The output in units of its deviation.
struct OutputUnits {
  OutputLaw law;
  double sigma = 0.0;
  double moved = 0.0;  ///< W2, in the output's own units, by which rounding and the stored mean move it
};

/// Nothing where (Y.1) does not apply. `law` has the moments of activations without a mask, of rate `rate`
/// (D.8); 0: there is none.
std::optional<OutputUnits> output_units(const ActivationMap& activation, const DenseLayer& layer,
                                        const Gaussian& piece, const SurrogateLaw& law,
                                        const Gaussian& pushed, double rate = 0.0) {
  if (!has_output_law(layer, piece, law)) return {};
  OutputUnits units;
  const double sigma = units.sigma = std::sqrt(pushed.covariance.variances()(0));
  if (!(sigma > 0.0) || !std::isfinite(sigma)) return {};
  const Vector variances = layer.weight_variances().row(0).transpose();
  const Vector deviations = piece.covariance.variances().cwiseSqrt();
  const double bias_variance = layer.bias_variances()(0);
  units.law.bias_variance = bias_variance / sigma / sigma;
  units.law.rate = rate;
  const double keep = 1.0 - rate;
  // Of the units: weights, bias and the Gaussian's own deviation.
  double rounding = 4.0 * kUnitRoundoff * (std::sqrt(bias_variance) + sigma);
  const double moved = rounding_gamma(piece.covariance.rank() + 4) * activation.lipschitz().upper;
  units.law.neurons.reserve(static_cast<std::size_t>(layer.inputs()));
  for (Index j = 0; j < layer.inputs(); ++j) {
    const double weight = layer.weight_mean()(0, j);
    const double noise = std::sqrt(variances(j));
    SummandNeuron neuron{&activation.at(j), piece.mean(j), deviations(j), law.mean(j), law.error(j)};
    neuron.weight = weight / keep / sigma;
    neuron.noise = noise / keep / sigma;
    neuron.second = law.second(j);
    neuron.second_error = law.second_error(j);
    units.law.neurons.push_back(neuron);
    const double size = std::sqrt(law.second(j) + law.second_error(j)) + std::abs(law.mean(j));
    rounding += (std::abs(weight) + noise) * (4.0 * kUnitRoundoff * size + moved * deviations(j));
  }
  // Kept weights are rounded twice more, and a mask has the mean square 1 / kappa.
  if (rate > 0.0) rounding *= 2.0 / std::sqrt(keep);
  units.moved = rounding + mean_shift(layer, law, pushed.mean(0));
  return units;
}

UpperBound in_own_units(const OutputUnits& units, const UpperBound& standard) {
  return {units.sigma * standard.nominal, enlarged(units.sigma * standard.upper + units.moved)};
}

}  // namespace

UpperBound output_law_distance(const ActivationMap& activation, const DenseLayer& layer,
                               const Gaussian& piece, const SurrogateLaw& law, const Gaussian& pushed) {
  const auto units = output_units(activation, layer, piece, law, pushed);
  if (!units) return {INFINITY, INFINITY};
  return in_own_units(*units, distance_to_normal(computed_law(units->law)));
}

// Mixtures in place of the Gaussian (Y.40).

namespace {

/// The mixture in the output's own units, and its distance to the law, what its rounding costs included.
FittedOutput in_own_units(const OutputUnits& units, const UnitMixture& fitted, const Gaussian& pushed,
                          const UpperBound& standard) {
  Vector weights(static_cast<Index>(fitted.weights.size()));
  std::vector<Gaussian> components;
  double rounding = 0.0;
  for (Index i = 0; i < weights.size(); ++i) {
    const auto k = static_cast<std::size_t>(i);
    weights(i) = fitted.weights[k];
    const double deviation = units.sigma * fitted.deviations[k];
    const double mean = pushed.mean(0) + units.sigma * fitted.means[k];
    components.push_back(
        {Vector::Constant(1, mean), Covariance::diagonal(Vector::Constant(1, deviation * deviation))});
    rounding = std::max(rounding, 4.0 * kUnitRoundoff *
                                      (std::abs(mean) + units.sigma * std::abs(fitted.means[k]) + deviation));
  }
  // Weights that do not add up to one are off by this part of themselves (R.6).
  const double off = std::sqrt(rounding_gamma(weights.size() + 8));
  const UpperBound own = in_own_units(units, standard);
  return {GaussianMixture(weights, std::move(components)),
          {own.nominal, enlarged(own.upper + rounding + 8.0 * off * units.sigma)}};
}

/// What weights that are not Gaussian add, as in distance_over_pieces() (W.1).
UpperBound replaced_weights(const Situation& situation) {
  const DenseLayer& next = situation.network.layer(situation.depth);
  if (next.is_gaussian()) return {};
  const SurrogateLaw& law = situation.traced(situation.depth).surrogates.front();
  const Vector errors = replaced_weight_errors(next, law.second + law.second_error, 1);
  return sqrt(UpperBound::of_sum(errors.sum(), errors.size() + 8));
}

}  // namespace

namespace {

// Nodes of the law that results keep, per deviation: their cubics are off by 1e-6 at most in ordinary laws.
constexpr int kKeptNodes = 8;

/// The computed law in the output's own units (U.20): every so many nodes of the curve, both sides together.
std::shared_ptr<OutputDistribution> kept_law(const OutputUnits& units, const DistributionCurve& curve,
                                             double mean, const UpperBound& replaced) {
  const LineGrid& grid = *curve.upper.grid;
  const double cell = 1.0 / kKeptNodes;
  const auto stride = static_cast<Index>(std::llround(cell / grid.cell));
  const Index half = static_cast<Index>(grid.last) / stride;
  auto law = std::make_shared<OutputDistribution>();
  law->cell = units.sigma * cell;
  law->first = mean - law->cell * static_cast<double>(half);
  law->values.resize(2 * half + 1);
  law->density.resize(2 * half + 1);
  for (Index i = -half; i <= half; ++i) {
    const auto node = static_cast<std::size_t>(std::abs(i) * stride);
    const DistributionSide& side = i < 0 ? curve.lower : curve.upper;
    const double tail = grid.tail[node] + side.value[node];
    law->values(i + half) = i < 0 ? tail : 1.0 - tail;
    law->density(i + half) = (grid.density[node] + side.slope[node]) / units.sigma;
  }
  // The last number is for roundings of values, slopes and the cubic's own.
  law->error = enlarged(curve.error + std::pow(cell, 4) / 384.0 * (curve.fourth + kNormalFourth)) + 1e-14;
  const double reach = std::abs(mean) + units.sigma * grid.cell * static_cast<double>(grid.last);
  law->moved = enlarged(units.moved + replaced.upper + 8.0 * kUnitRoundoff * reach);
  return law;
}

}  // namespace

namespace {

/// `moments` are those of the activations, masks apart.
OutputFit fit_law(const Situation& situation, const SurrogateLaw& moments, double rate, Index most,
                  double wanted) {
  const Index last = situation.depth;
  const Gaussian& pushed = situation.trace.output.component(0);
  const auto units = output_units(situation.network.activation(last), situation.network.layer(last),
                                  situation.traced(last).pieces.component(0), moments, pushed, rate);
  OutputFit result;
  if (!units) return result;
  const ComputedLaw law = computed_law(units->law);
  if (!law.exists) return result;
  const UpperBound gaussian = distance_to_normal(law);
  const UpperBound replaced = replaced_weights(situation);
  result.gaussian = in_own_units(*units, gaussian) + replaced;
  result.law = kept_law(*units, law.curve, pushed.mean(0), replaced);
  if (most < 2 || result.gaussian.upper <= wanted) return result;
  const UnitMixture mixture = best_fit(fit_target(law.curve), most, wanted / units->sigma);
  const UpperBound distance = distance_to_mixture(law, mixture);
  if (!(distance.upper < kClearlyCloser * gaussian.upper)) return result;
  result.mixture = in_own_units(*units, mixture, pushed, distance);
  result.mixture->distance = result.mixture->distance + replaced;
  return result;
}

}  // namespace

OutputFit fit_output(const Situation& situation, Index most, double wanted) {
  return fit_law(situation, situation.traced(situation.depth).surrogates.front(), 0.0, most, wanted);
}

OutputFit fit_noisy_masked_output(const Situation& situation, Index most, double wanted) {
  const Index last = situation.depth;
  const SurrogateLaw moments =
      surrogate_law(situation.network.activation(last), situation.traced(last).pieces.component(0));
  return fit_law(situation, moments, situation.network.mask(last).rate(), most, wanted);
}

}  // namespace mixcert
