// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The engine against the naive oracle: bounds before slack for rounding and output mixtures agree
// to 1e-9, for one hidden layer and for two without compression, every weight and bias family,
// every activation, every certificate mode, single inputs and inputs jointly, both grids.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

#include "certificate/certificate.h"
#include "methods/signature/plan/signature_plan.h"
#include "methods/signature/signature_certificate.h"
#include "mixcert/certify/certify.h"
#include "support/matchers.h"
#include "support/naive_oracle.h"
#include "support/random_network.h"

namespace mixcert::testing {
namespace oracle_test {

constexpr double kAgreement = 1e-9;

NaiveMode naive_mode(CertificateMode mode) {
  if (mode == CertificateMode::Paper) return NaiveMode::Paper;
  return mode == CertificateMode::Expected ? NaiveMode::Expected : NaiveMode::Metric;
}

/// Distance of two components, relative to the scale of the mixture.
double component_distance(const Gaussian& a, const Vector& mean, const Matrix& covariance, double scale) {
  return std::max((a.mean - mean).cwiseAbs().maxCoeff() / scale,
                  (a.covariance.to_dense() - covariance).cwiseAbs().maxCoeff() / (scale * scale));
}

/// Moves coordinate neuron * inputs + input to input * neurons + neuron.
NaiveGaussian input_major(const NaiveGaussian& gaussian, Index inputs) {
  const Index size = gaussian.mean.size();
  const Index neurons = size / inputs;
  const auto from = [&](Index at) { return (at % neurons) * inputs + at / neurons; };
  return {gaussian.weight, Vector::NullaryExpr(size, [&](Index i) { return gaussian.mean(from(i)); }),
          Matrix::NullaryExpr(size, size,
                              [&](Index i, Index j) { return gaussian.covariance(from(i), from(j)); })};
}

/// The same law: each naive component lies on a component of the engine, and the weights that
/// arrive there are the engine's. (The engine merges coinciding points, the oracle does not.)
void expect_same_mixture(const GaussianMixture& mixture, const NaiveMixture& naive, Index inputs) {
  const double scale = std::sqrt(mixture.second_moment()) + 1e-300;
  Vector arrived = Vector::Zero(mixture.size());
  double farthest = 0.0;
  for (const NaiveGaussian& gaussian : naive) {
    const NaiveGaussian moved = input_major(gaussian, inputs);
    Vector distances(mixture.size());
    for (Index i = 0; i < mixture.size(); ++i) {
      distances(i) = component_distance(mixture.component(i), moved.mean, moved.covariance, scale);
    }
    Index nearest = 0;
    farthest = std::max(farthest, distances.minCoeff(&nearest));
    arrived(nearest) += gaussian.weight;
  }
  EXPECT_LE(farthest, kAgreement);
  EXPECT_LE((arrived - mixture.weights()).cwiseAbs().maxCoeff(), kAgreement);
}

void expect_agreement(const Network& network, const Matrix& inputs, const Options& options) {
  const NaiveCertificate naive = naive_certificate(
      network, inputs,
      {naive_mode(options.certificate), options.signature_size, options.grid == GridPlacement::Uniform});
  const std::vector<Result> results = certify(network, inputs, options);
  ASSERT_EQ(results.size(), 1U);
  const Result& result = results.front();
  EXPECT_TRUE(is_close(result.w2.nominal, naive.w2, kAgreement));
  EXPECT_TRUE(is_close(result.w1.nominal, naive.w1, kAgreement));
  EXPECT_LE(result.w1.value, result.w2.value);
  EXPECT_GE(result.w2.value, result.w2.nominal);
  EXPECT_TRUE(is_valid_mixture(result.mixture));
  expect_same_mixture(result.mixture, naive.output, inputs.cols());
}

Options options_for(CertificateMode mode, Index points, bool joint) {
  Options options;
  options.method = Method::Signature;
  options.certificate = mode;
  options.signature_size = points;
  options.components = 0;
  options.joint = joint;
  options.threads = 1;
  return options;
}

const std::vector<CertificateMode> kModes = {CertificateMode::Best, CertificateMode::Metric,
                                             CertificateMode::Expected, CertificateMode::Paper};

using Families = std::tuple<WeightFamily, BiasFamily>;

class OracleAgreement : public ::testing::TestWithParam<Families> {
 protected:
  /// Hidden widths 1..6 and 1..3 outputs, by seed.
  static NetworkRecipe recipe(Index hidden_layers, std::uint64_t seed) {
    NetworkRecipe recipe;
    recipe.widths = {static_cast<Index>(1 + seed % 3)};
    for (Index k = 0; k < hidden_layers; ++k) {
      recipe.widths.push_back(static_cast<Index>(1 + (3 * seed + 2 * static_cast<std::uint64_t>(k)) %
                                                         (hidden_layers == 1 ? 6 : 4)));
    }
    recipe.widths.push_back(static_cast<Index>(1 + seed % 2));
    std::tie(recipe.weights, recipe.bias) = GetParam();
    recipe.deviation = seed % 2 == 0 ? 0.4 : 1.5;
    recipe.seed = 100 + seed;
    return recipe;
  }

  static void check(Index hidden_layers, Index input_count) {
    const auto& functions = all_activation_functions();
    for (std::size_t f = 0; f < functions.size(); ++f) {
      NetworkRecipe made = recipe(hidden_layers, f + 10 * static_cast<std::size_t>(input_count));
      made.activation = functions[f];
      const Network network = random_network(made);
      Generator generator = make_generator(made.seed, Stream::Example, 77);
      const Matrix inputs = random_matrix(generator, network.inputs(), input_count);
      const Index points =
          hidden_layers == 1 ? 6 + 2 * static_cast<Index>(f % 10) : 3 + static_cast<Index>(f) % 5;
      for (std::size_t m = 0; m < kModes.size(); ++m) {
        SCOPED_TRACE(std::string(to_string(functions[f])) + " " + std::string(to_string(kModes[m])));
        Options options = options_for(kModes[m], points, input_count > 1);
        if (f % 3 == 2) options.grid = GridPlacement::Uniform;
        expect_agreement(network, inputs, options);
      }
    }
  }
};

TEST_P(OracleAgreement, OneHiddenLayerOneInput) { check(1, 1); }
TEST_P(OracleAgreement, OneHiddenLayerThreeInputsJointly) { check(1, 3); }
TEST_P(OracleAgreement, TwoHiddenLayersOneInput) { check(2, 1); }
TEST_P(OracleAgreement, TwoHiddenLayersTwoInputsJointly) { check(2, 2); }

std::vector<Families> all_families() {
  std::vector<Families> all;
  for (const WeightFamily weights : all_weight_families()) {
    for (const BiasFamily bias : all_bias_families()) {
      if (weights == WeightFamily::Joint && bias != BiasFamily::Deterministic) continue;
      all.emplace_back(weights, bias);
    }
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(AllFamilies, OracleAgreement, ::testing::ValuesIn(all_families()),
                         [](const auto& tested) {
                           return to_string(std::get<0>(tested.param)) + to_string(std::get<1>(tested.param));
                         });

/// Terms of each layer, and the trace of one placement evaluated in the other forms.
TEST(OracleLayers, EachLocalTermAgrees) {
  for (const CertificateMode mode : kModes) {
    NetworkRecipe made;
    made.widths = {2, 5, 3, 2};
    made.seed = 31;
    const Network network = random_network(made);
    Generator generator = make_generator(5, Stream::Example, 3);
    const Matrix input = random_matrix(generator, 2, 1);
    const Options options = options_for(mode, 6, false);
    const Sensitivity sensitivity = analyse_sensitivity(network);
    const SizePlanner planner = [](Index, const GaussianMixture&) { return LayerSizes{0, 6}; };
    const Sealed<SignatureTrace> trace = propagate(network, input, sensitivity, options, planner, {});
    const Certificate certificate =
        evaluate_signature_certificate(network, sensitivity, trace, certificate_form(mode));
    const NaiveCertificate naive = naive_certificate(network, input, {naive_mode(mode), 6, false});
    for (std::size_t k = 0; k < 2; ++k) {
      EXPECT_TRUE(is_close(certificate.layers[k].local.nominal, naive.local[k], kAgreement));
      EXPECT_TRUE(is_close(certificate.layers[k].local_w1.nominal, naive.local_w1[k], kAgreement));
      EXPECT_EQ(certificate.layers[k].compression.upper, 0.0);
    }
  }
}

}  // namespace oracle_test
}  // namespace mixcert::testing
