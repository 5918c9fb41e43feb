// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Networks meant to break the certificate: nothing random, nothing alive, one neuron, huge and
// tiny scales, identical inputs, no hidden layer at all.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "certify/bound_property.h"
#include "certify/small_networks.h"
#include "mixcert/certify/certify.h"
#include "mixcert/core/error.h"
#include "mixcert/statistics/simulate.h"
#include "support/matchers.h"
#include "support/random_network.h"

namespace mixcert::testing {
namespace adversarial_test {

const std::vector<CertificateMode> kModes = {CertificateMode::Best, CertificateMode::Metric,
                                             CertificateMode::Expected, CertificateMode::Paper};

/// Certifies, checks what must hold of every result, and compares with samples.
Result certify_checked(const Network& network, const Matrix& inputs, Options options) {
  options.joint = inputs.cols() > 1;
  Result result = certify(network, inputs, options, transport_services()).front();
  EXPECT_TRUE(std::isfinite(result.w2.value));
  EXPECT_GE(result.w2.value, result.w2.nominal);
  EXPECT_LE(result.w1.value, result.w2.value);
  EXPECT_TRUE(is_valid_mixture(result.mixture));
  SimulationOptions simulation;
  simulation.samples = 20000;
  const Matrix samples = options.joint ? simulate_joint(network, inputs, simulation)
                                       : simulate(network, inputs.col(0), 0, simulation);
  EXPECT_GE(result.w2.value, gelbrich_lower_bound(samples, result.mixture, 1, 0).lower);
  return result;
}

Options options_for(CertificateMode mode, Index points, Index components) {
  Options options;
  options.method = Method::Signature;
  options.certificate = mode;
  options.signature_size = points;
  options.components = components;
  return options;
}

Network scaled_network(double mean_scale, double deviation, ActivationFunction function, std::uint64_t seed) {
  NetworkRecipe recipe;
  recipe.widths = {2, 5, 4, 2};
  recipe.mean_scale = mean_scale;
  recipe.deviation = deviation;
  recipe.activation = function;
  recipe.seed = seed;
  return random_network(recipe);
}

Matrix some_inputs(Index rows, Index columns) {
  Generator generator = make_generator(3, Stream::Example);
  return random_matrix(generator, rows, columns);
}

class AdversarialModes : public ::testing::TestWithParam<CertificateMode> {};

TEST_P(AdversarialModes, ExtremeScales) {
  for (const double deviation : {1e-12, 1e-6, 1e3}) {
    for (const double mean_scale : {1e-12, 1.0, 1e3}) {
      for (const ActivationFunction function : {ActivationFunction::Relu, ActivationFunction::Tanh}) {
        for (const Index components : {0, 2}) {
          certify_checked(scaled_network(mean_scale, deviation, function, 5), some_inputs(2, 1),
                          options_for(GetParam(), 7, components));
        }
      }
    }
  }
}

TEST_P(AdversarialModes, ZeroWeightsAndZeroVariances) {
  const Matrix zero = Matrix::Zero(3, 3);
  const Vector none = Vector::Zero(3);
  const DenseLayer dead = mean_field_layer(zero, zero, none, none);
  const DenseLayer alive =
      mean_field_layer(Matrix::Identity(3, 3), Matrix::Ones(3, 3), none, Vector::Ones(3));
  const DenseLayer noise_only = mean_field_layer(zero, zero, none, Vector::Ones(3));
  const DenseLayer fixed = mean_field_layer(Matrix::Ones(3, 3), zero, Vector::Ones(3), none);
  const std::vector<std::vector<DenseLayer>> cases = {
      {dead, alive, alive},  {alive, dead, alive},  {alive, alive, dead},       {dead, dead, dead},
      {fixed, fixed, alive}, {alive, fixed, fixed}, {noise_only, alive, fixed}, {alive, noise_only, alive}};
  for (std::size_t i = 0; i < cases.size(); ++i) {
    SCOPED_TRACE(i);
    certify_checked(network_of(cases[i], ActivationFunction::Tanh), some_inputs(3, 1),
                    options_for(GetParam(), 6, 3));
    certify_checked(network_of(cases[i], ActivationFunction::Relu), some_inputs(3, 2),
                    options_for(GetParam(), 6, 0));
  }
}

/// Deterministic hidden layers make no error: only slack for rounding is left.
TEST_P(AdversarialModes, DeterministicHiddenLayersCostNothing) {
  const Matrix fixed = Matrix::Random(3, 3);
  const DenseLayer layer("fixed", fixed, Vector::Ones(3), DeterministicWeights{}, DeterministicBias{});
  const DenseLayer last = mean_field_layer(fixed, Matrix::Ones(3, 3), Vector::Ones(3), Vector::Ones(3));
  const Result result = certify_checked(network_of({layer, layer, last}, ActivationFunction::Gelu),
                                        some_inputs(3, 1), options_for(GetParam(), 10, 0));
  EXPECT_EQ(result.w2.nominal, 0.0);
  EXPECT_LT(result.w2.value, 1e-12);
  EXPECT_EQ(result.mixture.size(), 1);
}

TEST_P(AdversarialModes, NoHiddenLayer) {
  const DenseLayer only =
      mean_field_layer(Matrix::Ones(2, 3), Matrix::Ones(2, 3), Vector::Ones(2), Vector::Ones(2));
  for (const Index inputs : {1, 3}) {
    const Result result = certify_checked(network_of({only}, ActivationFunction::Tanh),
                                          some_inputs(3, inputs), options_for(GetParam(), 10, 5));
    EXPECT_EQ(result.mixture.size(), 1);
    EXPECT_EQ(result.w2.nominal, 0.0);
    EXPECT_LT(result.w2.value, 1e-5);
    EXPECT_TRUE(result.layers.empty());
  }
}

TEST_P(AdversarialModes, IdenticalInputsJointly) {
  const Matrix one = some_inputs(2, 1);
  for (const Index copies : {2, 4}) {
    for (const Index components : {0, 2}) {
      const Network network = scaled_network(1.0, 0.5, ActivationFunction::Relu, 6);
      const Result joint =
          certify_checked(network, one.replicate(1, copies), options_for(GetParam(), 6, components));
      const Result single = certify_checked(network, one, options_for(GetParam(), 6, components));
      // The joint law is the single one copied: distances grow by sqrt(copies). The refinement (A.3)
      // is not used jointly, so the joint bound may be larger than that.
      if (components == 0) {
        EXPECT_GE(joint.w2.nominal, std::sqrt(copies) * single.w2.nominal * (1.0 - 1e-9));
      }
      const Vector mean = joint.mixture.mean();
      EXPECT_LE((mean.head(2) - mean.tail(2)).norm(), 1e-9 * (1.0 + mean.norm()));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(AllModes, AdversarialModes, ::testing::ValuesIn(kModes),
                         [](const auto& tested) { return std::string(to_string(tested.param)); });

TEST(Adversarial, DeadRelusMergePoints) {
  // Both neurons are far below zero: every grid point becomes the origin.
  const DenseLayer first =
      mean_field_layer(Matrix::Zero(2, 1), Matrix::Ones(2, 1), Vector::Constant(2, -30.0), Vector::Ones(2));
  const DenseLayer last =
      mean_field_layer(Matrix::Ones(1, 2), Matrix::Ones(1, 2), Vector::Ones(1), Vector::Ones(1));
  Options options = options_for(CertificateMode::Best, 16, 0);
  const Result result =
      certify_checked(network_of({first, last}, ActivationFunction::Relu), Matrix::Ones(1, 1), options);
  EXPECT_EQ(result.mixture.size(), 1);
  EXPECT_EQ(result.layers.front().points, 1);
  EXPECT_LT(result.w2.value, 1e-5);
  // Half dead: the negative half of an axis is one point.
  const DenseLayer centred =
      mean_field_layer(Matrix::Zero(1, 1), Matrix::Ones(1, 1), Vector::Zero(1), Vector::Zero(1));
  const DenseLayer scalar = scalar_layer(1.0, 0.5, 0.0, 0.0);
  const Result half =
      certify_checked(network_of({centred, scalar}, ActivationFunction::Relu), Matrix::Ones(1, 1), options);
  EXPECT_EQ(half.mixture.size(), 9);
}

/// One neuron per layer, deep, with every activation.
TEST(Adversarial, OneNeuronPerLayer) {
  for (const ActivationFunction function : all_activation_functions()) {
    const DenseLayer layer = scalar_layer(1.5, 0.3, -0.2, 0.1);
    certify_checked(network_of({layer, layer, layer, layer}, function), Matrix::Constant(1, 1, 2.0),
                    options_for(CertificateMode::Best, 9, 4));
  }
}

/// The bound, or NaN where the network is refused.
double bound_or_refusal(const Network& network, const Options& options) {
  try {
    return certify(network, Matrix::Ones(1, 1), options).front().w2.value;
  } catch (const Error&) {
    return std::numeric_limits<double>::quiet_NaN();
  }
}

/// Numbers whose squares leave the range of doubles may be refused, or get no finite bound; they must
/// not get a small one.
TEST(Adversarial, OverflowNeverGivesASmallBound) {
  const DenseLayer huge = scalar_layer(0.0, 1e300, 0.0, 0.0);
  const DenseLayer last = scalar_layer(1e200, 1.0, 0.0, 0.0);
  const Network network = network_of({huge, last}, ActivationFunction::Relu);
  for (const CertificateMode mode : kModes) {
    EXPECT_FALSE(bound_or_refusal(network, options_for(mode, 3, 0)) < 1e149);
  }
}

/// z ~ N(0, 1e300) and output 1e-170 relu(z): deviations of about 1e-20, all of it error for N = 1,
/// though the square of the weight is zero in double precision.
TEST(Adversarial, UnderflowNeverGivesASmallBound) {
  const DenseLayer wide = scalar_layer(0.0, 1e300, 0.0, 0.0);
  const DenseLayer tiny = scalar_layer(1e-170, 0.0, 0.0, 0.0);
  const Network network = network_of({wide, tiny}, ActivationFunction::Relu);
  for (const CertificateMode mode : kModes) {
    EXPECT_FALSE(bound_or_refusal(network, options_for(mode, 1, 0)) < 0.5e-20);
  }
}

}  // namespace adversarial_test
}  // namespace mixcert::testing
