// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Dropout where the truth is known: networks so small that all masks can be listed, formulas of (D.5) and
// (D.6) by hand, moments of masked layers, the coupling of (D.2) by simulation.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>

#include "certificate/mask_tree.h"
#include "certify/small_networks.h"
#include "core/normal.h"
#include "mixcert/certify/certify.h"
#include "mixcert/core/error.h"
#include "mixcert/network/network_builder.h"
#include "mixcert/statistics/simulate.h"
#include "mixcert/transport/mixture_transport.h"
#include "mixture/symmetric_eigen.h"
#include "support/matchers.h"
#include "support/random_network.h"

namespace mixcert::testing {
namespace dropout_test {

Options options_of(Method method, Index pieces = 1) {
  Options options;
  options.method = method;
  if (method == Method::Moment) options.theorems = TheoremSet::Coupling;
  options.threads = 1;
  if (method == Method::Moment) options.pieces = pieces;
  return options;
}

/// in -> hidden -> out, deterministic weights, a mask on the hidden layer.
Network dropout_network(Index in, Index hidden, Index out, const Mask& mask, ActivationFunction function,
                        std::uint64_t seed) {
  Generator generator = make_generator(seed, Stream::Example, 71);
  std::vector<DenseLayer> layers;
  for (const auto& [from, to] : {std::pair{in, hidden}, std::pair{hidden, out}}) {
    layers.emplace_back("layer", random_matrix(generator, to, from), random_matrix(generator, to, 1),
                        DeterministicWeights{}, DeterministicBias{});
  }
  return with_masks(network_of(std::move(layers), function), {Mask(), mask});
}

Vector hidden_activations(const Network& network, const Vector& input) {
  return network.activation(1).apply(network.layer(0).weight_mean() * input + network.layer(0).bias_mean());
}

/// The law of the outputs, mask by mask.
GaussianMixture listed_law(const Network& network, const Vector& input) {
  const Vector a = hidden_activations(network, input);
  const Mask& mask = network.mask(1);
  std::vector<Gaussian> components;
  std::vector<double> weights;
  for (Index pattern = 0; pattern < (Index{1} << a.size()); ++pattern) {
    Vector masked = a;
    double weight = 1.0;
    for (Index j = 0; j < a.size(); ++j) {
      const bool kept = ((pattern >> j) & 1) != 0;
      masked(j) *= kept ? 1.0 / (1.0 - mask.rate()) : 0.0;
      weight *= kept ? 1.0 - mask.rate() : mask.rate();
    }
    components.push_back({network.layer(1).weight_mean() * masked + network.layer(1).bias_mean(),
                          Covariance::zero(network.outputs())});
    weights.push_back(weight);
  }
  return {Eigen::Map<Vector>(weights.data(), static_cast<Index>(weights.size())), std::move(components)};
}

TEST(Dropout, AllMasksEnumeratedIsTheExactLaw) {
  for (const double rate : {0.5, 0.1, 0.95}) {
    const Network network = dropout_network(3, 4, 2, Mask::bernoulli(rate), ActivationFunction::Tanh,
                                            1 + static_cast<unsigned>(10 * rate));
    const Vector input = Vector::Constant(3, 0.6);
    const GaussianMixture exact = listed_law(network, input);
    for (const Method method : {Method::Moment, Method::Signature}) {
      const Result result = certify(network, input, options_of(method, 16)).front();
      EXPECT_LE(result.w2.value, 1e-5 / (1.0 - rate) / (1.0 - rate)) << rate;  // rounding of weights
      EXPECT_LE(mixture_transport(exact, result.mixture).distance, result.w2.value + 1e-7);
    }
  }
}

/// The bound of every partial enumeration is above the exact distance, and falls.
TEST(Dropout, PartialEnumerationsBoundTheExactDistance) {
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    const Network network =
        dropout_network(3, 6, 1, Mask::bernoulli(seed % 2 == 0 ? 0.5 : 0.1),
                        seed % 3 == 0 ? ActivationFunction::Relu : ActivationFunction::Tanh, seed);
    const Vector input = Vector::Constant(3, 0.6);
    const GaussianMixture exact = listed_law(network, input);
    double before = std::numeric_limits<double>::infinity();
    for (const Index pieces : {1, 2, 4, 8, 16, 32, 64}) {
      const Result result = certify(network, input, options_of(Method::Moment, pieces)).front();
      // Any coupling is above W2 of the discrete law and the Gaussians; the optimal one of components is.
      const Matrix samples = sample_mixture(exact, 4000, 3, Stream::Example, 0);
      EXPECT_GE(result.w2.value, gelbrich_lower_bound(samples, result.mixture, 1, 0).lower);
      EXPECT_LE(result.w2.value, before * (1.0 + 1e-9));
      before = result.w2.value;
    }
    EXPECT_LE(before, 1e-5);
  }
}

/// One masked neuron of constant activation: the bound is the exact distance (0.404 of the variance at rate
/// 1/2).
TEST(Dropout, OneNeuronIsTight) {
  for (const double rate : {0.5, 0.1, 0.01}) {
    const Network network =
        with_masks(network_of({scalar_layer(1.0, 0.0, 0.0, 0.0), scalar_layer(2.0, 0.0, 0.0, 0.0)},
                              ActivationFunction::Relu),
                   {Mask(), Mask::bernoulli(rate)});
    const Result result = certify(network, Vector::Constant(1, 3.0), options_of(Method::Moment)).front();
    const double keep = 1.0 - rate;
    const double deviation = 6.0 * std::sqrt(rate / keep);
    EXPECT_TRUE(is_close(result.mixture.mean()(0), 6.0, 1e-12));
    EXPECT_TRUE(is_close(result.mixture.covariance()(0, 0), deviation * deviation, 1e-9));
    // E|X - Y|^2 of the optimal coupling of a standardised Bernoulli with a normal.
    const double q = normal_quantile(keep);
    const double exact = 2.0 - 2.0 * normal_density(q) / std::sqrt(rate * keep);
    EXPECT_TRUE(is_close(result.w2.value, deviation * std::sqrt(exact), 1e-4)) << rate;
  }
}

TEST(Dropout, PaperModeLeavesPointsUnperturbed) {
  const Network network = dropout_network(3, 40, 2, Mask::bernoulli(0.25), ActivationFunction::Relu, 5);
  const Vector input = Vector::Constant(3, 0.6);
  Options options = options_of(Method::Signature);
  options.certificate = CertificateMode::Paper;
  const Result result = certify(network, input, options).front();
  const Vector a = hidden_activations(network, input);
  const Matrix& w = network.layer(1).weight_mean();
  ASSERT_EQ(result.mixture.size(), 1);
  EXPECT_TRUE(is_close(result.mixture.mean(), w * a / 0.75 + network.layer(1).bias_mean(), 1e-10));
  const double norm = std::sqrt(symmetric_eigen(w.transpose() * w).values.maxCoeff());
  EXPECT_TRUE(is_close(result.w2.value, norm * std::sqrt(0.25) * a.norm() / 0.75, 1e-4));
}

TEST(Dropout, PaperModeExpandsTheLargestPoints) {
  const Network network = dropout_network(3, 4, 2, Mask::bernoulli(0.25), ActivationFunction::Relu, 6);
  Options options = options_of(Method::Signature);
  options.certificate = CertificateMode::Paper;
  const Result result = certify(network, Vector::Constant(3, 0.6), options).front();
  EXPECT_LE(result.w2.value, 1e-4);  // 16 masks fit into 50 points
}

TEST(Dropout, MeanCollapseOfSignaturesIsAnEqualityForOneLayer) {
  Network network = dropout_network(3, 40, 2, Mask::bernoulli(0.25), ActivationFunction::Relu, 5);
  const Vector input = Vector::Constant(3, 0.6);
  Options options = options_of(Method::Signature);
  options.signature_size = 1;
  options.components = 1;
  const Result result = certify(network, input, options).front();
  const Vector a = hidden_activations(network, input);
  const double square = (network.layer(1).weight_mean() * a.asDiagonal()).squaredNorm() / 3.0;
  EXPECT_TRUE(is_close(result.w2.value, std::sqrt(square), 1e-4));
}

/// One hidden layer: mean and covariance of the mixture are the network's.
TEST(Dropout, MomentsAreMatched) {
  for (const Mask& mask : {Mask::bernoulli(0.3), Mask::gaussian(0.3)}) {
    for (std::uint64_t seed = 0; seed < 4; ++seed) {
      NetworkRecipe made;
      made.widths = {2, 6, 2};
      made.deviation = 0.6;
      made.activation = seed % 2 == 0 ? ActivationFunction::Relu : ActivationFunction::Tanh;
      made.seed = 40 + seed;
      const Network network = with_masks(random_network(made), {Mask(), mask});
      const Vector input = Vector::Constant(2, 0.8);
      const Result result = certify(network, input, options_of(Method::Moment, seed < 2 ? 1 : 8)).front();
      SimulationOptions simulation;
      simulation.samples = 200000;
      const Matrix samples = simulate(network, input, 0, simulation);
      const Vector mean = samples.rowwise().mean();
      const Matrix centred = samples.colwise() - mean;
      const auto count = static_cast<double>(samples.cols());
      const Matrix covariance = centred * centred.transpose() / count;
      for (Index i = 0; i < 2; ++i) {
        const double error = std::sqrt(covariance(i, i) / count);
        EXPECT_LE(std::abs(mean(i) - result.mixture.mean()(i)), Tolerance::standard_errors * error);
        for (Index j = 0; j < 2; ++j) {
          const Eigen::ArrayXd products = (centred.row(i).array() * centred.row(j).array()).transpose();
          const double spread = std::sqrt((products - products.mean()).square().mean() / count);
          EXPECT_LE(std::abs(covariance(i, j) - result.mixture.covariance()(i, j)),
                    Tolerance::standard_errors * spread);
        }
      }
    }
  }
}

/// One hidden layer with independent neurons: the coupling that proves the bound costs what the bound says,
/// apart from the Hoelder step for activations of two signs.
/// What people read first: means and deviations of auto are the network's. Points without width would have a
/// bound that is a few per cent smaller, and half of the deviation.
TEST(Dropout, AutoHasTheDeviationsOfTheNetwork) {
  for (const double rate : {0.5, 0.1}) {
    const Network network = dropout_network(6, 50, 10, Mask::bernoulli(rate), ActivationFunction::Gelu, 91);
    const Vector input = Vector::LinSpaced(6, -1.0, 1.0);
    const Result result = certify(network, input, options_of(Method::Auto)).front();
    const Vector a = hidden_activations(network, input);
    const Vector mean = network.layer(1).weight_mean() * a + network.layer(1).bias_mean();
    const Vector variance = rate / (1.0 - rate) * network.layer(1).weight_mean().cwiseAbs2() * a.cwiseAbs2();
    EXPECT_LT((result.mixture.mean() - mean).norm(), 1e-9 * mean.norm());
    EXPECT_LT((result.mixture.standard_deviation() - variance.cwiseSqrt()).norm(),
              1e-6 * variance.cwiseSqrt().norm());
  }
}

TEST(Dropout, SimulatedCouplingCostsNoMoreThanTheBound) {
  for (const Mask& mask : {Mask::bernoulli(0.5), Mask::bernoulli(0.1), Mask::gaussian(0.4)}) {
    for (const Index pieces : {1, 8}) {
      NetworkRecipe made;
      made.widths = {2, 12, 3};
      made.deviation = 0.3;
      made.activation = ActivationFunction::Relu;
      made.seed = 9;
      const Network network = with_masks(random_network(made), {Mask(), mask});
      Options options = options_of(Method::Moment, pieces);
      options.statistics = 20000;
      Services services;
      services.statistics = statistics_service(nullptr);
      const Result result = certify(network, Vector::Constant(2, 0.8), options, services).front();
      ASSERT_TRUE(result.statistics.has_value());
      EXPECT_LE(result.statistics->w2_lower_statistical, result.w2.value);
      EXPECT_LE(result.statistics->coupled_cost, 1.02 * result.w2.value);
      EXPECT_GE(result.statistics->coupled_cost, 0.7 * result.w2.value);
    }
  }
}

TEST(MaskTree, LeavesPartitionAllMasks) {
  Generator generator = make_generator(3, Stream::Example, 12);
  for (const double rate : {0.5, 0.1, 0.9}) {
    const Mask mask = Mask::bernoulli(rate);
    Vector costs(6);
    for (double& cost : costs) cost = uniform(generator);
    for (const Index leaves : {1, 2, 5, 17, 64, 100}) {
      const MaskTree tree = grow_mask_tree(costs, mask, leaves);
      EXPECT_EQ(tree.size(), std::min<Index>(leaves, 64));
      Vector found = Vector::Zero(tree.size());
      for (Index pattern = 0; pattern < 64; ++pattern) {
        const auto is_kept = [pattern](Index j) { return ((pattern >> j) & 1) != 0; };
        double probability = 1.0;
        for (Index j = 0; j < 6; ++j) probability *= is_kept(j) ? 1.0 - rate : rate;
        const Index leaf = tree.find(is_kept);
        found(leaf) += probability;
        for (const Index j : tree.leaf(leaf).kept) EXPECT_TRUE(is_kept(j));
        for (const Index j : tree.leaf(leaf).dropped) EXPECT_FALSE(is_kept(j));
      }
      for (Index i = 0; i < tree.size(); ++i) {
        EXPECT_TRUE(is_close(tree.leaf(i).probability, found(i), 1e-12));
      }
    }
  }
}

TEST(MaskTree, RefusesTwoQuestionsForOneNeuronAndOtherMasks) {
  MaskTree tree;
  tree.split(0, 3, Mask::bernoulli(0.5));
  EXPECT_THROW(tree.split(0, 3, Mask::bernoulli(0.5)), InvalidArgument);
  EXPECT_THROW(tree.split(1, 3, Mask::bernoulli(0.5)), InvalidArgument);
  EXPECT_THROW(tree.split(1, 2, Mask::gaussian(0.5)), InvalidArgument);
  EXPECT_EQ(grow_mask_tree(Vector::Ones(3), Mask::gaussian(0.5), 8).size(), 1);
  EXPECT_EQ(grow_mask_tree(Vector::Zero(3), Mask::bernoulli(0.5), 8).size(), 1);
}

/// At rate 0.1 sixty-four leaves know twice as many masks as at rate 1/2.
TEST(MaskTree, SmallRatesMakeDeepTrees) {
  const auto mean_depth = [](double rate) {
    const MaskTree tree = grow_mask_tree(Vector::Ones(64), Mask::bernoulli(rate), 64);
    double depth = 0.0;
    for (Index i = 0; i < tree.size(); ++i) {
      depth += tree.leaf(i).probability *
               static_cast<double>(tree.leaf(i).kept.size() + tree.leaf(i).dropped.size());
    }
    return depth;
  };
  EXPECT_TRUE(is_close(mean_depth(0.5), 6.0, 1e-12));
  EXPECT_GT(mean_depth(0.1), 11.5);
}

/// Noise layers belong to the input, as masks do; written as biases they would be shared by all inputs.
TEST(NoiseLayers, AreRefusedJointly) {
  Generator generator = make_generator(4, Stream::Example, 9);
  const DenseLayer layer =
      random_layer(generator, {WeightFamily::MeanField, BiasFamily::Independent, 2, 2, 1.0, 0.3});
  const Network network = build_network({GaussianNoiseSpec{0.1}, DenseSpec{layer}});
  Options options;
  options.joint = true;
  EXPECT_THROW(certify(network, Matrix::Ones(2, 2), options), InvalidArgument);
  EXPECT_THROW(simulate_joint(network, Matrix::Ones(2, 2), {}), InvalidArgument);
}

TEST(Mask, RatesOutsideTheUnitIntervalAreRefused) {
  for (const double rate : {-0.1, 1.0, 1.5, std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_THROW(Mask::bernoulli(rate), InvalidArgument);
    EXPECT_THROW(Mask::gaussian(rate), InvalidArgument);
  }
  EXPECT_TRUE(Mask::bernoulli(0.0).is_none());
}

/// (D.2) against the naive formula, from below, also at rates where 1 - rate rounds.
TEST(Mask, CouplingIsALowerBound) {
  for (const double rate : {1e-12, 1e-6, 0.01, 0.1, 0.5, 0.9, 0.999}) {
    const Mask mask = Mask::bernoulli(rate);
    const double q = normal_quantile(std::min(rate, 1.0 - rate));
    const double exact = normal_density(q) / (1.0 - rate);
    EXPECT_LE(mask.normal_coupling(), exact);
    EXPECT_GE(mask.normal_coupling(), exact * (1.0 - 1e-9));
    EXPECT_LE(mask.normal_coupling(), std::sqrt(mask.variance().upper));
  }
}

}  // namespace dropout_test
}  // namespace mixcert::testing
