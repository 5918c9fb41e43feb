// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Stein's estimate: slopes against differences, kernels against the covariance that they have in the mean,
// the estimate against distances that quadrature computes, and the case in which it sees nothing.
#include "simulated/stein/stein_estimate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>
#include <utility>

#include "simulated/coupled_paths.h"
#include "simulated/line/output_simulation.h"
#include "simulated/naive_coupling.h"
#include "simulated/stein/stein_tensors.h"
#include "support/random_laws.h"

namespace mixcert::testing {
namespace stein_estimate_test {

TEST(NetworkSlopes, AgreeWithDifferences) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const SimulatedCase at =
        deep_case(5, 1 + static_cast<Index>(seed % 4), 0.6, ActivationFunction::Tanh, seed, 3);
    const CoupledChain chain(at.network, *at.trace);
    Generator generator = make_generator(seed, Stream::Example, 77);
    const Vector normals = random_matrix(generator, chain.normal_count(), 1).col(0);
    const NetworkSlopes own = slopes_at(chain, normals);
    for (Index j = 0; j < normals.size(); ++j) {
      const double step = 1e-5;
      const NetworkSlopes up = slopes_at(chain, normals + step * Vector::Unit(normals.size(), j));
      const NetworkSlopes down = slopes_at(chain, normals - step * Vector::Unit(normals.size(), j));
      EXPECT_LE(((up.mean - down.mean) / (2.0 * step) - own.mean_slopes.col(j)).norm(), 1e-6);
      EXPECT_LE(((up.variances - down.variances) / (2.0 * step) - own.variance_slopes.col(j)).norm(), 1e-6);
    }
  }
}

/// Mean and covariance of the output from many draws.
Matrix sampled_covariance(const CoupledChain& chain, Index draws) {
  const CoupledOutputs both = draw_coupled_outputs(chain, {991, DrawUse::Main, 0, draws}, 2, nullptr);
  const Matrix centred = both.network.colwise() - both.network.rowwise().mean();
  Matrix covariance = centred * centred.transpose() / static_cast<double>(draws);
  covariance.diagonal() += both.variances.rowwise().mean();
  return covariance;
}

TEST(SteinTensors, HaveTheCovarianceAsTheirMean) {
  const SimulatedCase at = deep_case(8, 2, 0.5, ActivationFunction::Relu, 5, 2);
  const CoupledChain chain(at.network, *at.trace);
  RandomBits bits(3, DrawUse::Stein, 0, 0);
  const auto draw = [&] { return Vector(standard_normals(bits, chain.normal_count(), 1)); };
  Generator generator = make_generator(4, Stream::Example, 78);
  const auto uniform = [&] { return std::uniform_real_distribution<>()(generator); };
  const Index draws = 4000;
  Matrix mean = Matrix::Zero(2, 2), squares = Matrix::Zero(2, 2);
  for (Index i = 0; i < draws; ++i) {
    const SteinDraw one = stein_tensors(chain, draw, uniform);
    const Matrix kernel = 0.5 * (one.groups[0].first + one.groups[1].first);
    mean += kernel / static_cast<double>(draws);
    squares += kernel.cwiseAbs2() / static_cast<double>(draws);
  }
  const Matrix truth = sampled_covariance(chain, 400000);
  const Matrix error = ((squares - mean.cwiseAbs2()) / static_cast<double>(draws)).cwiseSqrt();
  EXPECT_LE(((mean - truth).array() / (error.array() + 0.003 * truth.norm())).abs().maxCoeff(), 4.0);
}

SteinEstimate estimate_of(const SimulatedCase& at, const GaussianMixture& mixture, std::uint64_t seed) {
  const Options options;
  const SimulationRequest request{
      .network = at.network, .trace = &*at.trace, .mixture = mixture, .options = options};
  return *stein_estimate(request, CoupledChain(at.network, *at.trace), {.seed = seed, .threads = 2});
}

/// W2 between one output and a Gaussian, by sorted draws.
double line_distance(const CoupledChain& chain, double mean, double deviation, Index draws) {
  const OutputDraws sorted = draw_outputs(chain, {17, DrawUse::Main, 0, draws}, 2, nullptr).front();
  double sum = 0.0;
  for (Index i = 0; i < draws; ++i) {
    const double t = (static_cast<double>(i) + 0.5) / static_cast<double>(draws);
    // Newton's method on the distribution function from a logistic guess.
    double z = std::log(t / (1.0 - t)) / 1.702;
    for (int step = 0; step < 30; ++step) {
      const double off = 0.5 * std::erfc(-z / std::numbers::sqrt2) - t;
      z -= std::clamp(off * std::sqrt(2.0 * std::numbers::pi) * std::exp(0.5 * z * z), -0.5, 0.5);
    }
    sum += std::pow(sorted.lower(i) - mean - deviation * z, 2) / static_cast<double>(draws);
  }
  return std::sqrt(sum);
}

TEST(SteinEstimate, IsNotBelowDistancesThatCanBeSeenAndFarBelowTheCoupling) {
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    SCOPED_TRACE(seed);
    const Index depth = 1 + static_cast<Index>(seed % 3);
    const SimulatedCase at = deep_case(6, depth, 0.9, ActivationFunction::Relu, seed + 40, 1);
    const CoupledChain chain(at.network, *at.trace);
    const GaussianMixture& own = at.trace->output;
    const SteinEstimate estimate = estimate_of(at, own, seed);
    const double deviation = own.standard_deviation()(0);
    const double truth = line_distance(chain, own.mean()(0), deviation, 200000);
    const double coupling = std::sqrt(draw_costs(chain, {991, DrawUse::Main, 0, 20000}, 2, nullptr).mean());
    std::printf("depth %d, in deviations: distance %.4f, Stein %.4f +- %.4f, coupling %.4f\n",
                static_cast<int>(depth), truth / deviation, estimate.w2 / deviation,
                estimate.error / deviation, coupling / deviation);
    EXPECT_GE(estimate.w2 + 3.0 * estimate.error, truth - 0.01 * deviation);
    EXPECT_LE(estimate.w2, 1.2 * coupling + 3.0 * estimate.error);
  }
}

TEST(SteinEstimate, SeesNothingOfARareNeuronWhereTheCertificateDoes) {
  // The second neuron is active with probability 2e-5 and then moves the output by many deviations.
  const auto layer = [](std::string name, const Matrix& mean, const Vector& bias, double bias_variance) {
    return DenseLayer(std::move(name), mean, bias, MeanFieldWeights{Matrix::Zero(mean.rows(), mean.cols())},
                      IndependentBias{Vector::Constant(mean.rows(), bias_variance)});
  };
  Matrix first(2, 1), second(1, 2);
  first << 0.0, 0.0;
  second << 0.3, 40.0;
  Vector bias(2);
  bias << 8.0, -4.1;
  const SimulatedCase at(
      Network({layer("first", first, bias, 1.0), layer("last", second, Vector::Zero(1), 0.01)},
              {ActivationMap(), ActivationMap(Activation(ActivationFunction::Relu))}),
      Vector::Ones(1));
  const CoupledChain chain(at.network, *at.trace);
  // Against the Gaussian of the first neuron alone, which is what the draws see.
  const GaussianMixture seen(Vector::Ones(1),
                             {{Vector::Constant(1, 2.4), Covariance::diagonal(Vector::Constant(1, 0.1))}});
  const SteinEstimate estimate = estimate_of(at, seen, 1);
  const SimulationSettings settings{.draws = 20000, .seed = 1};
  const double bound =
      OutputSimulation(chain_source(at.network, *at.trace, settings), settings).bound(seen).bound.w2;
  std::printf("a rare neuron: Stein %.5f +- %.5f, certified by simulation %.3f\n", estimate.w2,
              estimate.error, bound);
  EXPECT_LE(estimate.w2, 0.01);
  EXPECT_GE(bound, 0.02);
}

}  // namespace stein_estimate_test
}  // namespace mixcert::testing
