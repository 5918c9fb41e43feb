// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Networks meant to break the moment method: kinks at the mean, variances from nothing to huge, copied and
// mirrored neurons, functions with falling parts, laws that are Gaussian after all; then splitting.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <limits>
#include <string>
#include <vector>

#include "certify/moment_property.h"
#include "certify/small_networks.h"
#include "mixcert/core/error.h"
#include "mixcert/statistics/simulate.h"
#include "support/matchers.h"
#include "support/random_network.h"

namespace mixcert::testing {
namespace moment_adversarial_test {

Options moment_options(Index pieces = 1) {
  Options options;
  options.method = Method::Moment;
  options.theorems = TheoremSet::Coupling;
  options.pieces = pieces;
  options.threads = 1;
  return options;
}

/// Certifies, checks what must hold of every result, and compares with samples.
Result certify_checked(const Network& network, const Vector& input, Index pieces = 1) {
  Result result = certify(network, input, moment_options(pieces)).front();
  EXPECT_TRUE(std::isfinite(result.w2.value));
  EXPECT_GE(result.w2.value, result.w2.nominal);
  EXPECT_LE(result.w1.value, result.w2.value);
  EXPECT_TRUE(is_valid_mixture(result.mixture));
  SimulationOptions simulation;
  simulation.samples = 5000;
  simulation.threads = 1;
  const Matrix samples = simulate(network, input, 0, simulation);
  EXPECT_GE(result.w2.value, gelbrich_lower_bound(samples, result.mixture, 1, 0).lower);
  if (samples.rows() == 1) {
    const EmpiricalDistance estimate = empirical_distance(samples, result.mixture, 2, 0);
    EXPECT_GE(result.w2.value, estimate.distance - 3.0 * estimate.floor);
  }
  return result;
}

/// certify_checked without splits, and the coupling of its proof costs no more.
Result certify_coupled(const Network& network, const Vector& input) {
  Result result = certify_checked(network, input);
  const CoupledCost cost = coupled_cost(network, input, 5000, 3);
  const double least = cost.mean_square - Tolerance::standard_errors * cost.standard_error;
  EXPECT_LE(std::sqrt(std::max(0.0, least)), result.w2.value);
  return result;
}

DenseLayer fixed_layer(const Matrix& mean, const Vector& bias) {
  return {"fixed", mean, bias, DeterministicWeights{}, DeterministicBias{}};
}

/// Pre-activations N(mean_i, variance_i), independent, whatever the input.
DenseLayer source_layer(const Vector& mean, const Vector& variance) {
  const Index n = mean.size();
  return mean_field_layer(Matrix::Zero(n, 1), Matrix::Zero(n, 1), mean, variance);
}

double deviation_of(const Result& result) { return std::sqrt(result.mixture.covariance().trace()); }

const Vector kOne = Vector::Ones(1);

class MomentAdversarial : public ::testing::TestWithParam<ActivationFunction> {};

TEST_P(MomentAdversarial, KinkAtTheMeanAndVariancesOfEverySize) {
  for (const double variance : {0.0, 1e-300, 1e-30, 1e-8, 1.0, 1e6}) {
    for (const double mean : {0.0, -1e-9, 3.0}) {
      SCOPED_TRACE("variance " + std::to_string(variance) + ", mean " + std::to_string(mean));
      const DenseLayer source = source_layer(Vector::Constant(3, mean), Vector::Constant(3, variance));
      const DenseLayer noisy =
          mean_field_layer(Matrix::Ones(2, 3), Matrix::Constant(2, 3, 0.5), Vector::Zero(2), Vector::Zero(2));
      const DenseLayer last =
          mean_field_layer(Matrix::Ones(1, 2), Matrix::Constant(1, 2, 0.2), Vector::Zero(1), Vector::Zero(1));
      certify_coupled(network_of({source, noisy}, GetParam()), kOne);
      certify_coupled(network_of({source, noisy, last}, GetParam()), kOne);
    }
  }
}

/// One random neuron feeds many: in layer two all correlations are one, or minus one.
TEST_P(MomentAdversarial, PerfectlyCorrelatedAndOppositeNeurons) {
  for (const double variance : {1e-6, 1.0, 1e4}) {
    for (const double sign : {1.0, -1.0}) {
      SCOPED_TRACE("variance " + std::to_string(variance) + ", sign " + std::to_string(sign));
      Matrix spread = Matrix::Ones(6, 1);
      spread.bottomRows(3).setConstant(sign);
      const DenseLayer source = source_layer(Vector::Zero(1), Vector::Constant(1, variance));
      const DenseLayer copies = fixed_layer(spread, Vector::Zero(6));
      for (const double cancel : {1.0, -1.0}) {
        Matrix read = Matrix::Ones(1, 6);
        read.rightCols(3).setConstant(cancel);
        const DenseLayer fixed = fixed_layer(read, Vector::Zero(1));
        const DenseLayer noisy =
            mean_field_layer(read, Matrix::Constant(1, 6, 0.3), Vector::Zero(1), Vector::Constant(1, 0.1));
        certify_coupled(network_of({source, copies, fixed}, GetParam()), kOne);
        certify_coupled(network_of({source, copies, noisy}, GetParam()), kOne);
        if (sign == cancel) certify_checked(network_of({source, copies, noisy}, GetParam()), kOne, 8);
      }
    }
  }
}

/// Copies that cancel exactly, magnified a thousand times: what is left of their variance is rounding.
TEST_P(MomentAdversarial, CancelledNeuronsMagnified) {
  const DenseLayer source = source_layer(Vector::Constant(1, 0.3), kOne);
  const DenseLayer copies = fixed_layer(Matrix::Ones(2, 1), Vector::Zero(2));
  Matrix difference(2, 2);
  difference << 1.0, -1.0, -1.0, 1.0;
  const DenseLayer cancel = fixed_layer(difference, Vector::Zero(2));
  for (const double factor : {1.0, 1e3}) {
    const DenseLayer read = fixed_layer(Matrix::Constant(1, 2, factor), Vector::Zero(1));
    const Network network = network_of({source, copies, cancel, read}, GetParam());
    const Result result = certify_coupled(network, kOne);
    // The output is constant: 2 factor f(0).
    const double truth = 2.0 * factor * Activation(GetParam())(0.0);
    const double distance = std::hypot(result.mixture.mean()(0) - truth, deviation_of(result));
    EXPECT_LE(distance, result.w2.value);
  }
}

TEST_P(MomentAdversarial, SingleNeurons) {
  for (const double variance : {0.0, 0.3, 4.0}) {
    const DenseLayer layer = scalar_layer(1.5, variance, -0.2, 0.1);
    for (std::size_t depth = 1; depth <= 5; ++depth) {
      certify_coupled(network_of(std::vector<DenseLayer>(depth, layer), GetParam()), kOne);
      certify_checked(network_of(std::vector<DenseLayer>(depth, layer), GetParam()), kOne, 4);
    }
  }
}

TEST_P(MomentAdversarial, HugeBiases) {
  for (const double bias : {-1e6, -40.0, 40.0, 1e6}) {
    SCOPED_TRACE(bias);
    const DenseLayer source = source_layer(Vector::Constant(2, bias), Vector::Constant(2, 2.0));
    const DenseLayer noisy = mean_field_layer(Matrix::Identity(2, 2), Matrix::Constant(2, 2, 0.5),
                                              Vector::Constant(2, -bias), Vector::Ones(2));
    certify_coupled(network_of({source, noisy}, GetParam()), kOne);
    certify_coupled(network_of({source, noisy, noisy}, GetParam()), kOne);
  }
}

INSTANTIATE_TEST_SUITE_P(AllActivations, MomentAdversarial, ::testing::ValuesIn(all_activation_functions()),
                         [](const auto& tested) { return std::string(to_string(tested.param)); });

/// Deterministic later layers and identity: the law is Gaussian, only slack for rounding is left.
TEST(MomentGaussianLaws, LinearNetworksCostOnlyRounding) {
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    Generator generator = make_generator(seed, Stream::Example, 12);
    const WeightFamily first = seed % 2 == 0 ? WeightFamily::MeanField : WeightFamily::Full;
    std::vector<DenseLayer> layers = {
        random_layer(generator, {first, BiasFamily::Independent, 2, 5, 1.0, 0.7})};
    Index width = 5;
    for (const Index next : {4, 6, 2}) {
      layers.push_back(fixed_layer(random_matrix(generator, next, width), Vector::Ones(next)));
      width = next;
    }
    const Result result = certify_checked(network_of(layers, ActivationFunction::Identity), Vector::Ones(2));
    EXPECT_LT(result.w2.value, 1e-4 * deviation_of(result));
  }
}

TEST(MomentGaussianLaws, NoHiddenLayer) {
  const DenseLayer only =
      mean_field_layer(Matrix::Ones(2, 3), Matrix::Ones(2, 3), Vector::Ones(2), Vector::Ones(2));
  const Result result = certify_checked(network_of({only}, ActivationFunction::Tanh), Vector::Ones(3));
  EXPECT_EQ(result.mixture.size(), 1);
  EXPECT_EQ(result.w2.nominal, 0.0);
  EXPECT_LT(result.w2.value, 1e-5);
}

/// Products of Gaussians are not Gaussian: the bound must see it though identity makes no signal error.
TEST(MomentGaussianLaws, ProductsOfGaussiansAreNotGaussian) {
  const DenseLayer source = source_layer(Vector::Zero(1), kOne);
  const Result result = certify_checked(
      network_of({source, scalar_layer(0.0, 1.0, 0.0, 0.0)}, ActivationFunction::Identity), kOne);
  // (H.2) for S = z^2: Var S = 2, Sb = 1: min(2, 2 - 2 / sqrt 3).
  EXPECT_TRUE(is_close(result.w2.nominal, std::sqrt(2.0 - 2.0 / std::sqrt(3.0)), 1e-9));
}

/// Numbers whose squares leave the range of doubles may be refused; they must not get a small bound, and auto
/// must not lose what the other method can bound.
TEST(MomentOverflow, NeverGivesASmallBound) {
  const std::vector<std::vector<DenseLayer>> cases = {
      {scalar_layer(0.0, 1e300, 0.0, 0.0), scalar_layer(1e200, 1.0, 0.0, 0.0)},
      {scalar_layer(0.0, 1e160, 0.0, 0.0), scalar_layer(1.0, 1.0, 0.0, 0.0)},
      {scalar_layer(1e160, 1.0, 0.0, 0.0), scalar_layer(1.0, 1.0, 0.0, 0.0)}};
  for (std::size_t i = 0; i < cases.size(); ++i) {
    for (const ActivationFunction function : all_activation_functions()) {
      const bool bounded = function == ActivationFunction::Tanh || function == ActivationFunction::Sigmoid ||
                           function == ActivationFunction::Erf;
      if (bounded) continue;
      double bound = std::numeric_limits<double>::infinity();
      try {
        bound = certify(network_of(cases[i], function), kOne, moment_options()).front().w2.value;
      } catch (const Error&) {
      }
      SCOPED_TRACE("case " + std::to_string(i) + " " + std::string(to_string(function)));
      EXPECT_FALSE(bound < 1e70);
    }
  }
}

/// z ~ N(0, 1e300) and output 1e-170 relu(z): an error of about 1e-20 though squares of weights vanish.
TEST(MomentOverflow, UnderflowNeverGivesASmallBound) {
  const Network network = network_of(
      {scalar_layer(0.0, 1e300, 0.0, 0.0), scalar_layer(1e-170, 0.0, 0.0, 0.0)}, ActivationFunction::Relu);
  double bound = std::numeric_limits<double>::infinity();
  try {
    bound = certify(network, kOne, moment_options()).front().w2.value;
  } catch (const Error&) {
  }
  // |relu(z) - surrogate| = 0.25 of the deviation 1e150 and more.
  EXPECT_FALSE(bound < 0.2e-20);
}

Network small_network(const std::vector<Index>& widths, ActivationFunction function, std::uint64_t seed) {
  NetworkRecipe recipe;
  recipe.widths = widths;
  recipe.activation = function;
  recipe.deviation = 0.8;
  recipe.seed = seed;
  return random_network(recipe);
}

TEST(MomentOverflow, SquaresOfTinyVariancesDoNotVanish) {
  // V^2 underflows, V a^2 is about one: the certificate scales with the network.
  for (const Mask& mask : {Mask(), Mask::bernoulli(0.3), Mask::gaussian(0.3)}) {
    const auto bound = [&](double scale) {
      const DenseLayer first("a", Matrix::Zero(3, 1), Vector::Zero(3),
                             MeanFieldWeights{Matrix::Constant(3, 1, scale * scale)}, DeterministicBias{});
      const DenseLayer second("b", Matrix::Zero(1, 3), Vector::Zero(1),
                              MeanFieldWeights{Matrix::Constant(1, 3, 1e-30 / scale / scale)},
                              DeterministicBias{});
      const Network network({first, second}, {Activation(), Activation(ActivationFunction::Relu)},
                            {Mask(), mask});
      return certify(network, Vector::Ones(1), moment_options()).front().w2.value;
    };
    EXPECT_NEAR(bound(1e65) / bound(1.0), 1.0, 1e-6);
  }
}

TEST(MomentSplitting, BoundNeverRisesWithPieces) {
  const std::vector<std::vector<Index>> shapes = {{1, 2, 1}, {2, 5, 3}, {1, 4, 4, 1}, {1, 3, 3, 3, 2}};
  for (std::size_t s = 0; s < shapes.size(); ++s) {
    for (const ActivationFunction function :
         {ActivationFunction::Relu, ActivationFunction::Tanh, ActivationFunction::Gelu}) {
      SCOPED_TRACE("shape " + std::to_string(s) + " " + std::string(to_string(function)));
      const Network network = small_network(shapes[s], function, 40 + s);
      const Vector input = Vector::Constant(shapes[s].front(), 0.8);
      double last = std::numeric_limits<double>::infinity();
      for (Index pieces = 1; pieces <= 64; pieces *= 2) {
        const Result result = certify(network, input, moment_options(pieces)).front();
        EXPECT_LE(result.w2.value, last) << pieces << " pieces";
        last = result.w2.value;
      }
    }
  }
}

/// The bound at epsilon = a fifth of the unsplit one with 2000 components, and samples do not contradict it.
Result certify_to_a_fifth(const Network& network) {
  Options options = moment_options();
  options.epsilon = certify(network, kOne, options).front().w2.value / 5.0;
  options.max_components = 2000;
  Result result = certify(network, kOne, options).front();
  EXPECT_EQ(result.termination == Termination::EpsilonReached, result.w2.value <= *options.epsilon);
  EXPECT_LE(result.mixture.size(), 2000);
  SimulationOptions simulation;
  simulation.samples = 20000;
  simulation.threads = 1;
  const EmpiricalDistance estimate =
      empirical_distance(simulate(network, kOne, 0, simulation), result.mixture, 2, 0);
  EXPECT_GE(result.w2.value, estimate.distance - 3.0 * estimate.floor);
  return result;
}

/// Where the output's bias has no variance, S^{1/2} has a kink at a = 0 and (H.2) stays large there: such
/// networks may miss the fifth, and are counted.
TEST(MomentSplitting, AFifthOfTheUnsplitBoundIsReached) {
  for (const ActivationFunction function : {ActivationFunction::Relu, ActivationFunction::Tanh}) {
    int without_variance = 0;
    int missed = 0;
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      SCOPED_TRACE(std::string(to_string(function)) + " " + std::to_string(seed));
      const Network network = small_network({1, 2, 1}, function, 70 + seed);
      const Result result = certify_to_a_fifth(network);
      const bool reached = result.termination == Termination::EpsilonReached;
      if (network.layer(1).bias_variances()(0) > 0.0) {
        EXPECT_TRUE(reached) << result.reason;
      } else {
        ++without_variance;
        missed += reached ? 0 : 1;
      }
    }
    std::printf("splitting [1-2-1] %s: a fifth missed by %d of %d networks without output bias variance\n",
                std::string(to_string(function)).c_str(), missed, without_variance);
  }
}

}  // namespace moment_adversarial_test
}  // namespace mixcert::testing
