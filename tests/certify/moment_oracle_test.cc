// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The moment method against the naive oracle of (H.1) to (H.4): one unsplit Gaussian, every activation, one
// to three hidden layers, every family of the first layer; means, covariances, the bound before slack for
// rounding, and each layer's term.
#include "certify/moment_oracle.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "certify/small_networks.h"
#include "mixcert/certify/certify.h"
#include "support/matchers.h"
#include "support/random_network.h"

namespace mixcert::testing {
namespace moment_oracle_test {

constexpr double kAgreement = 1e-8;

Result certify_moment(const Network& network, const Vector& input) {
  Options options;
  options.method = Method::Moment;
  options.theorems = TheoremSet::Coupling;
  options.threads = 1;
  return certify(network, input, options).front();
}

/// Errors far below the law itself are beyond double precision: `floor` times its scale is allowed.
void expect_agreement(const Network& network, const Vector& input, double floor = 1e-10) {
  const NaiveMomentCertificate naive = naive_moment_certificate(network, input);
  const Result result = certify_moment(network, input);
  ASSERT_EQ(result.method, Method::Moment);
  ASSERT_EQ(result.mixture.size(), 1);
  EXPECT_TRUE(is_valid_mixture(result.mixture));
  const double scale = std::sqrt(naive.mean.squaredNorm() + naive.covariance.trace());
  EXPECT_LE((result.mixture.mean() - naive.mean).norm(), kAgreement * scale);
  EXPECT_LE((result.mixture.covariance() - naive.covariance).norm(), kAgreement * scale * scale);
  EXPECT_TRUE(is_close(result.w2.nominal, naive.w2, 1.0, kAgreement * naive.w2 + floor * scale));
  EXPECT_GE(result.w2.value, result.w2.nominal);
  EXPECT_GE(result.w2.value, naive.w2 * (1.0 - 1e-12));
  EXPECT_LE(result.w1.value, result.w2.value);
}

class MomentOracle : public ::testing::TestWithParam<ActivationFunction> {
 protected:
  static NetworkRecipe recipe(Index hidden_layers, std::uint64_t seed) {
    NetworkRecipe recipe;
    recipe.widths = {static_cast<Index>(1 + seed % 3)};
    for (Index k = 0; k < hidden_layers; ++k) {
      recipe.widths.push_back(static_cast<Index>(1 + (5 * seed + 3 * static_cast<std::uint64_t>(k)) % 9));
    }
    recipe.widths.push_back(static_cast<Index>(1 + seed % 4));
    recipe.bias = seed % 3 == 0 ? BiasFamily::Deterministic : BiasFamily::Independent;
    recipe.deviation = seed % 2 == 0 ? 0.3 : 1.7;
    recipe.mean_scale = seed % 5 == 4 ? 3.0 : 1.0;
    recipe.activation = GetParam();
    recipe.seed = 300 + seed;
    return recipe;
  }

  static Vector input_for(const NetworkRecipe& made) {
    Generator generator = make_generator(made.seed, Stream::Example, 91);
    return random_matrix(generator, made.widths.front(), 1);
  }

  static void check(Index hidden_layers, std::uint64_t seeds) {
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
      const NetworkRecipe made = recipe(hidden_layers, seed);
      SCOPED_TRACE("seed " + std::to_string(seed));
      expect_agreement(random_network(made), input_for(made));
    }
  }
};

TEST_P(MomentOracle, OneHiddenLayer) { check(1, 10); }
TEST_P(MomentOracle, TwoHiddenLayers) { check(2, 10); }
TEST_P(MomentOracle, ThreeHiddenLayers) { check(3, 5); }

/// The first layer may have any law; later ones are independent or deterministic.
TEST_P(MomentOracle, AnyFirstLayer) {
  std::uint64_t seed = 0;
  for (const WeightFamily weights : all_weight_families()) {
    for (const BiasFamily bias : all_bias_families()) {
      SCOPED_TRACE(to_string(weights) + to_string(bias));
      Generator generator = make_generator(++seed, Stream::Example, 55);
      std::vector<DenseLayer> layers;
      layers.push_back(random_layer(generator, {weights, bias, 2, 4, 1.0, 0.8}));
      layers.push_back(random_layer(
          generator, {seed % 3 == 0 ? WeightFamily::Deterministic : WeightFamily::MeanField,
                      seed % 2 == 0 ? BiasFamily::Deterministic : BiasFamily::Independent, 4, 3, 1.0, 0.8}));
      layers.push_back(
          random_layer(generator, {WeightFamily::MeanField, BiasFamily::Independent, 3, 2, 1.0, 0.5}));
      expect_agreement(network_of(layers, GetParam()), random_matrix(generator, 2, 1));
    }
  }
}

/// (D.3): masks of both kinds at any layer, also in front of correlated outputs (H.7).
TEST_P(MomentOracle, Masks) {
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    NetworkRecipe made = recipe(1 + static_cast<Index>(seed % 3), seed);
    if (seed % 4 == 3) made.weights = WeightFamily::Kronecker;
    const Network plain = random_network(made);
    std::vector<Mask> masks(1);
    for (Index k = 1; k < plain.layer_count(); ++k) {
      const double rate =
          std::vector<double>{0.5, 0.1, 0.01, 0.9}[(seed + static_cast<std::uint64_t>(k)) % 4];
      const std::uint64_t kind = (seed + static_cast<std::uint64_t>(k)) % 3;
      masks.push_back(kind == 0 ? Mask() : kind == 1 ? Mask::bernoulli(rate) : Mask::gaussian(rate));
    }
    expect_agreement(with_masks(plain, masks), input_for(made));
  }
}

/// (M.8) where some neurons pass unchanged.
TEST_P(MomentOracle, NeuronsThatPassUnchanged) {
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const NetworkRecipe made = recipe(1 + static_cast<Index>(seed % 3), seed);
    const Network plain = random_network(made);
    std::vector<std::vector<bool>> unchanged;
    for (Index k = 0; k < plain.layer_count(); ++k) {
      std::vector<bool> which(static_cast<std::size_t>(plain.layer(k).inputs()), false);
      for (std::size_t j = 0; j < which.size(); ++j) which[j] = (j + seed) % 2 == 0;
      unchanged.push_back(k == 0 ? std::vector<bool>() : which);
    }
    expect_agreement(with_masks(plain, {}, unchanged), input_for(made));
  }
}

INSTANTIATE_TEST_SUITE_P(AllActivations, MomentOracle, ::testing::ValuesIn(all_activation_functions()),
                         [](const auto& tested) { return std::string(to_string(tested.param)); });

/// The bound is the sum of the layers' terms, and each agrees.
TEST(MomentOracleLayers, EachTermAgrees) {
  for (const ActivationFunction function : {ActivationFunction::Relu, ActivationFunction::Tanh}) {
    NetworkRecipe made;
    made.widths = {2, 6, 5, 4, 3};
    made.deviation = 0.7;
    made.activation = function;
    made.seed = 17;
    const Network network = random_network(made);
    const Vector input = Vector::Constant(2, 0.7);
    const NaiveMomentCertificate naive = naive_moment_certificate(network, input);
    const Result result = certify_moment(network, input);
    ASSERT_EQ(result.layers.size(), naive.local.size());
    for (std::size_t k = 0; k < naive.local.size(); ++k) {
      // Reports carry slack for rounding.
      EXPECT_TRUE(is_close(result.layers[k].local, naive.local[k], 1e-4));
      EXPECT_GE(result.layers[k].local, naive.local[k]);
      EXPECT_EQ(result.layers[k].compression, 0.0);
    }
  }
}

}  // namespace moment_oracle_test
}  // namespace mixcert::testing
