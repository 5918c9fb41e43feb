// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Lower bounds come from Monte Carlo samples of the network; seeds are fixed, so a failure is reproduced by
// the number of its case.
#include "certify/moment_property.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>

#include "certify/moment_oracle.h"
#include "mixcert/core/error.h"
#include "mixcert/statistics/simulate.h"
#include "mixture/symmetric_eigen.h"
#include "support/matchers.h"
#include "support/naive_layer.h"
#include "support/random_network.h"

namespace mixcert::testing {
namespace {

template <typename T>
T pick(Generator& generator, const std::vector<T>& choices) {
  return choices[static_cast<std::size_t>(generator() % choices.size())];
}

double log_uniform(Generator& generator, double low, double high) {
  return low * std::pow(high / low, uniform(generator));
}

Index up_to(Generator& generator, Index most) {
  return 1 + static_cast<Index>(generator() % static_cast<std::uint64_t>(most));
}

/// Some neurons saturated or dead by a bias of +-20, some constant: their weights and bias have no law.
DenseLayer with_special_neurons(Generator& generator, const DenseLayer& layer) {
  const auto* variances = std::get_if<MeanFieldWeights>(&layer.weights());
  if (variances == nullptr || generator() % 3 != 0) return layer;
  Matrix mean = layer.weight_mean();
  Matrix variance = variances->variance;
  Vector bias = layer.bias_mean();
  Vector bias_variance = layer.bias_variances();
  for (Index i = 0; i < layer.outputs(); ++i) {
    const auto kind = generator() % 8;
    if (kind == 0) bias(i) = 20.0;
    if (kind == 1) bias(i) = -20.0;
    if (kind == 2) variance.row(i).setZero();
    if (kind == 2) bias_variance(i) = 0.0;
    if (kind == 3) mean.row(i).setZero();
  }
  return {layer.name(), std::move(mean), std::move(bias), MeanFieldWeights{std::move(variance)},
          IndependentBias{std::move(bias_variance)}};
}

LayerRecipe recipe_for(Generator& generator, Index k, Index inputs, Index outputs) {
  LayerRecipe recipe;
  recipe.weights = generator() % 4 == 0 ? WeightFamily::Deterministic : WeightFamily::MeanField;
  recipe.bias = generator() % 3 == 0 ? BiasFamily::Deterministic : BiasFamily::Independent;
  if (k == 0 && generator() % 3 == 0) recipe.weights = pick(generator, all_weight_families());
  if (k == 0 && generator() % 3 == 0) recipe.bias = pick(generator, all_bias_families());
  recipe.inputs = inputs;
  recipe.outputs = outputs;
  recipe.mean_scale = log_uniform(generator, 0.3, 3.0);
  // random_layer scales by the fan-in; half of the layers undo that.
  const double root = std::sqrt(static_cast<double>(inputs));
  recipe.deviation = log_uniform(generator, 0.02, 2.0) * (generator() % 2 == 0 ? root : 1.0);
  return recipe;
}

Options options_for(Method method, Index pieces) {
  Options options;
  options.method = method;
  if (method == Method::Moment) options.theorems = TheoremSet::Coupling;
  if (method != Method::Signature) options.pieces = pieces;
  options.threads = 1;
  return options;
}

Matrix weight_variances(const DenseLayer& layer) {
  return Matrix::NullaryExpr(layer.outputs(), layer.inputs(),
                             [&](Index l, Index j) { return entry_covariance_of(layer, l, j, l, j); });
}

/// Samples of N(m, C) for the law before the first activation.
Matrix first_samples(const NaivePiece& piece, Index samples, Generator& generator) {
  const Matrix covariance = piece.deviation.asDiagonal() * piece.correlation * piece.deviation.asDiagonal();
  const SymmetricEigen solver = symmetric_eigen(covariance);
  const Matrix factor = solver.vectors * solver.values.cwiseMax(0.0).cwiseSqrt().asDiagonal();
  return (factor * random_matrix(generator, covariance.rows(), samples)).colwise() + piece.mean;
}

/// b = mu + k (z - m) / s, column by column.
Matrix surrogate(const NaivePiece& piece, const Matrix& z) {
  Matrix b(z.rows(), z.cols());
  for (Index j = 0; j < z.rows(); ++j) {
    const NaiveNeuron& neuron = piece.neurons[static_cast<std::size_t>(j)];
    const double scale = piece.deviation(j) > 0.0 ? neuron.gain / piece.deviation(j) : 0.0;
    b.row(j) = (neuron.mean + scale * (z.row(j).array() - piece.mean(j))).matrix();
  }
  return b;
}

/// |mean(p) - mean(q)| <= W1, the mean of p known to six standard errors. Differences are averaged, not
/// samples: of a network without noise the sum of equal samples would round by more than the bound.
void check_means(const Matrix& samples, const Result& result) {
  const Matrix differences = samples.colwise() - result.mixture.mean();
  const Vector mean = differences.rowwise().mean();
  const auto count = static_cast<double>(samples.cols());
  const double variance = (differences.colwise() - mean).squaredNorm() / count;
  const double error = Tolerance::standard_errors * std::sqrt(variance / count);
  EXPECT_LE(mean.norm() - error, result.w1.value);
}

void check_against_samples(const MomentCase& tested, const Result& result, Index samples,
                           MomentSummary& summary) {
  SimulationOptions simulation;
  simulation.samples = samples;
  simulation.seed = 7;
  simulation.threads = 1;
  const Matrix drawn = simulate(tested.network, tested.input, 0, simulation);
  const double lower = gelbrich_lower_bound(drawn, result.mixture, 11, 0).lower;
  EXPECT_GE(result.w2.value, lower);
  if (lower > 0.0) {
    summary.smallest_ratio = std::min(summary.smallest_ratio, result.w2.value / lower);
    ++summary.ratios;
  }
  check_means(drawn, result);
  if (drawn.rows() != 1) return;
  // Three floors: the noise of the two samples may add up to more than one.
  const EmpiricalDistance estimate = empirical_distance(drawn, result.mixture, 13, 0);
  EXPECT_GE(result.w2.value, estimate.distance - 3.0 * estimate.floor);
  ++summary.scalar_outputs;
}

void check_coupling(const MomentCase& tested, double bound, Index samples, MomentSummary& summary) {
  const CoupledCost cost = coupled_cost(tested.network, tested.input, samples, 5);
  const double least = cost.mean_square - Tolerance::standard_errors * cost.standard_error;
  EXPECT_LE(std::sqrt(std::max(0.0, least)), bound);
  if (cost.mean_square > 30.0 * cost.standard_error && cost.mean_square > 1e-20) {
    summary.smallest_coupled = std::min(summary.smallest_coupled, bound / std::sqrt(cost.mean_square));
  }
}

/// Method auto keeps the moment method's mixture, its bound made smaller by further theorems, unless that of
/// signatures is at most half as large; samples must agree with what it returns too.
void check_auto(const MomentCase& tested, const Result& moment, Index samples, MomentSummary& summary) {
  const Result signature = certify(tested.network, tested.input, options_for(Method::Signature, 1)).front();
  const Result chosen =
      certify(tested.network, tested.input, options_for(Method::Auto, tested.pieces)).front();
  if (chosen.method == Method::Signature) {
    EXPECT_EQ(chosen.w2.value, signature.w2.value);
    EXPECT_LE(chosen.w2.value, 0.5 * moment.w2.value);
  } else {
    // Behind dependent outputs it is moved to the network's moments, at what that costs (B.4).
    const double moved = (chosen.mixture.standard_deviation() - moment.mixture.standard_deviation()).norm() +
                         (chosen.mixture.mean() - moment.mixture.mean()).norm();
    // Rounding of covariances moves it by a root of the unit roundoff (R.8), relative to the outputs' size.
    const double size = chosen.mixture.standard_deviation().norm() + chosen.mixture.mean().norm();
    EXPECT_LE(chosen.w2.value, moment.w2.value + 1.001 * moved + 1e-6 * size + 1e-9 * moment.w2.value);
    if (!tested.network.has_masks()) {
      EXPECT_LE(0.5 * chosen.w2.value, signature.w2.value);
    }
    MomentSummary unused;
    if (chosen.w2.value != moment.w2.value) check_against_samples(tested, chosen, samples, unused);
  }
  summary.gains.push_back(signature.w2.value / moment.w2.value);
}

double median(std::vector<double> values) {
  if (values.empty()) return std::numeric_limits<double>::quiet_NaN();
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

void print_summary(const MomentSummary& summary, Index samples) {
  const auto wins =
      std::count_if(summary.gains.begin(), summary.gains.end(), [](double gain) { return gain > 1.0; });
  std::printf(
      "moment properties: %td networks, %td samples each (%td by sorting); smallest bound / lower bound %.4g "
      "over %td positive lower bounds; smallest bound / coupled cost %.6g; largest rounding share %.2g (case "
      "%td); below signatures %td times of %zu, median factor %.3g\n",
      summary.networks, samples, summary.scalar_outputs, summary.smallest_ratio, summary.ratios,
      summary.smallest_coupled, summary.largest_share, summary.largest_share_case, wins, summary.gains.size(),
      median(summary.gains));
}

}  // namespace

MomentCase moment_case(std::uint64_t index) {
  Generator generator = make_generator(index, Stream::Example, 4004);
  const Index hidden_layers = 1 + static_cast<Index>(index % 4);
  std::vector<DenseLayer> layers;
  std::vector<ActivationMap> activations;
  Index inputs = up_to(generator, 4);
  for (Index k = 0; k <= hidden_layers; ++k) {
    const bool last = k == hidden_layers;
    const Index outputs = !last ? up_to(generator, 12) : generator() % 2 == 0 ? 1 : up_to(generator, 3);
    const LayerRecipe recipe = recipe_for(generator, k, inputs, outputs);
    layers.push_back(with_special_neurons(generator, random_layer(generator, recipe, std::to_string(k))));
    const bool raw_input = k == 0 && generator() % 8 != 0;
    activations.emplace_back(
        Activation(raw_input ? ActivationFunction::Identity : pick(generator, all_activation_functions()),
                   pick<double>(generator, {0.1, -0.5, 1.5})));
    inputs = outputs;
  }
  Network network(std::move(layers), std::move(activations));
  Vector input = log_uniform(generator, 0.3, 3.0) * random_matrix(generator, network.inputs(), 1);
  return {std::move(network), std::move(input), index % 3 == 0 ? 8 : 1};
}

CoupledCost coupled_cost(const Network& network, const Vector& input, Index samples, std::uint64_t seed) {
  const NaiveMomentCertificate naive = naive_moment_certificate(network, input);
  if (naive.pieces.empty()) return {};
  Generator generator = make_generator(seed, Stream::Example, 606);
  Matrix truth = first_samples(naive.pieces.front(), samples, generator);
  Matrix approximation = truth;
  for (Index k = 1; k <= network.hidden_count(); ++k) {
    const DenseLayer& layer = network.layer(k);
    const NaivePiece& piece = naive.pieces[static_cast<std::size_t>(k - 1)];
    const Matrix activations = network.activation(k).apply(truth);
    const Matrix surrogates = surrogate(piece, approximation);
    const Matrix noise = random_matrix(generator, layer.outputs(), samples);
    const Matrix variances =
        (weight_variances(layer) * activations.cwiseAbs2()).colwise() + layer.bias_variances();
    const Vector mean_noise = Vector::NullaryExpr(
        layer.outputs(), [&](Index l) { return std::sqrt(naive_mean_noise(piece, layer, l)); });
    truth = (layer.weight_mean() * activations).colwise() + layer.bias_mean();
    truth += variances.cwiseSqrt().cwiseProduct(noise);
    approximation = (layer.weight_mean() * surrogates).colwise() + layer.bias_mean();
    approximation += mean_noise.asDiagonal() * noise;
  }
  const Vector costs = (truth - approximation).colwise().squaredNorm();
  const auto count = static_cast<double>(samples);
  const double mean = costs.mean();
  return {mean, std::sqrt((costs.array() - mean).square().sum() / count / count)};
}

void check_moment_case(const MomentCase& tested, Index samples, MomentSummary& summary) {
  const Result result =
      certify(tested.network, tested.input, options_for(Method::Moment, tested.pieces)).front();
  ASSERT_TRUE(std::isfinite(result.w2.value));
  EXPECT_TRUE(is_valid_mixture(result.mixture));
  EXPECT_GE(result.w2.value, result.w2.nominal);
  EXPECT_LE(result.w1.value, result.w2.value);
  const double share = result.w2.value / result.w2.nominal - 1.0;
  const double scale = std::sqrt(result.mixture.second_moment());
  if (result.w2.nominal > 1e-4 * scale && share > summary.largest_share) {
    summary.largest_share = share;
    summary.largest_share_case = summary.networks;
  }
  check_against_samples(tested, result, samples, summary);
  if (tested.pieces == 1) {
    check_coupling(tested, result.w2.value, std::min<Index>(samples, 20000), summary);
  } else {
    const Result unsplit = certify(tested.network, tested.input, options_for(Method::Moment, 1)).front();
    EXPECT_LE(result.w2.value, unsplit.w2.value);
    check_coupling(tested, unsplit.w2.value, std::min<Index>(samples, 20000), summary);
  }
  check_auto(tested, result, samples, summary);
  ++summary.networks;
}

void check_moment_properties(Index networks, Index samples, Index many_every) {
  if (const char* wanted = std::getenv("MIXCERT_PROPERTY_NETWORKS")) networks = std::atol(wanted);
  MomentSummary summary;
  for (Index i = 0; i < networks; ++i) {
    const MomentCase tested = moment_case(static_cast<std::uint64_t>(i));
    SCOPED_TRACE("case " + std::to_string(i) + ", K = " + std::to_string(tested.network.hidden_count()) +
                 ", pieces = " + std::to_string(tested.pieces));
    const bool many = many_every > 0 && tested.network.outputs() == 1 && i % many_every == 0;
    try {
      check_moment_case(tested, many ? 1000000 : samples, summary);
    } catch (const Error& error) {
      ADD_FAILURE() << error.what();
    }
  }
  print_summary(summary, samples);
}

}  // namespace mixcert::testing
