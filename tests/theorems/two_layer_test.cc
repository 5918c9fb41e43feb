// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Two hidden layers, docs/theory/two_layers.md: the bounds (Y.20), (Y.28) against the couplings that they are
// about, drawn from their definitions; whole certificates against sorted samples; sums over cells against
// fine sums.
#include <gtest/gtest.h>

#include <cmath>
#include <tuple>
#include <utility>

#include "activation/neuron/upper_sums.h"
#include "core/normal.h"
#include "methods/moment/moment_certificate.h"
#include "mixcert/certify/certify.h"
#include "support/random_laws.h"
#include "theorems/two_layer_oracle.h"
#include "theorems/two_layers/second_layer.h"

namespace mixcert::testing {
namespace two_layer_test {

using F = ActivationFunction;

TEST(TwoLayers, IsNotBelowTheCoupling) {
  const TwoLayerCheck check = check_random_two_layers(1, 140, 2000);
  EXPECT_GE(check.compared, 130);
  // It has something to say: for some networks little is lost.
  EXPECT_GE(check.largest.first, 0.5);
  EXPECT_GE(check.largest.both, 0.8);
}

/// Sorted samples are about 1.5 deviations over the root of their number away from any smooth law.
TEST(TwoLayers, CertificatesAreNotBelowSamples) {
  Index used = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const TwoLayerNetwork net = random_two_layers(seed);
    if (net.out_weight.rows() != 1) continue;
    const Result result = certify(net.network(), Matrix::Ones(1, 1), Options()).front();
    if (result.mixture.size() != 1) continue;
    if (result.layers.front().theorem == "Y.20" || result.layers.front().theorem == "Y.28") ++used;
    const double floor = 3.0 * result.mixture.standard_deviation()(0) / std::sqrt(5000.0);
    EXPECT_LE(sampled_distance(net, result, 5000, seed), result.w2.value + floor) << "seed " << seed;
  }
  EXPECT_GE(used, 5);
}

TEST(TwoLayers, OutputWithItsSignalApartIsNotBelowSamples) {
  EXPECT_GE(check_signals_apart(1, 120, 20000), 10);
}

/// A draft of the theorem was 11 times below the truth here, by a supremum over a window: W2 to its Gaussian
/// is 0.0141.
TEST(TwoLayers, DeadNeuronIsNotBelowTheTruth) {
  TwoLayerNetwork net;
  net.activation = Activation(F::Relu);
  net.mean = Vector::Constant(1, -2.847);
  net.deviation = Vector::Constant(1, 1.2275);
  net.weight = Matrix::Constant(1, 1, 0.78267);
  net.variance = Matrix::Constant(1, 1, 7.2751e-4);
  net.bias = Vector::Constant(1, -0.84);
  net.bias_variance = Vector::Constant(1, 1.5824e-5);
  net.out_weight = Matrix::Constant(1, 1, 2.08782);
  net.out_variance = Matrix::Constant(1, 1, 0.0082807);
  net.out_bias_variance = Vector::Constant(1, 0.01);
  Options options;
  options.pieces = 1;
  const Result result = certify(net.network(), Matrix::Ones(1, 1), options).front();
  ASSERT_EQ(result.mixture.size(), 1);
  EXPECT_GE(result.w2.value, 0.0141);
  // Against its own Gaussian; the floor of so many samples is below 0.0005.
  EXPECT_GE(result.w2.value, sampled_distance(net, result, 200000, 1) - 0.0005);
  const StageValues bounds = two_layer_bounds(net.network()), truth = coupled_squares(net, 200000, 2);
  EXPECT_GE(bounds.first * bounds.first, truth.first);
  EXPECT_GE(bounds.both * bounds.both, truth.both);
}

TEST(TwoLayers, IsSmallWhereTheSecondLayerIsNoisy) {
  TwoLayerNetwork net = random_two_layers(8);  // tanh
  Generator generator = make_generator(5, Stream::Example, 77);
  net.activation = Activation(F::Tanh);
  const Index n = 64;
  net.mean = random_matrix(generator, n, 1);
  net.deviation = Vector::Constant(n, 0.5);
  net.weight = 0.05 * random_matrix(generator, n, n);
  net.variance = Matrix::Constant(n, n, 0.02);
  net.bias = random_matrix(generator, n, 1);
  net.bias_variance = Vector::Constant(n, 0.1);
  net.out_weight = random_matrix(generator, 1, n);
  net.out_variance = Matrix::Constant(1, n, 1e-4);
  net.out_bias_variance = Vector::Constant(1, 1e-4);
  const Network network = net.network();
  const Certificate plain = evaluate_moment_certificate(network, analyse_sensitivity(network),
                                                        make_error_norms(network, SensitivityMode::Closed),
                                                        two_layer_trace(network));
  EXPECT_LE(two_layer_bounds(network).first, 0.4 * plain.layers.front().local.upper);
}

TEST(TwoLayers, IsInfiniteWhereItDoesNotApply) {
  TwoLayerNetwork net = random_two_layers(8);
  EXPECT_LT(two_layer_bounds(net.network()).first, INFINITY);
  TwoLayerNetwork quiet = net;
  quiet.variance.setZero();
  quiet.bias_variance.setZero();
  EXPECT_EQ(two_layer_bounds(quiet.network()).both, INFINITY);
  const Network two = net.network();
  const Network one({two.layer(0), two.layer(1)}, {two.activation(0), two.activation(1)});
  EXPECT_EQ(two_layer_bounds(one).both, INFINITY);
}

/// E of a function of x and z = m + s x on a fine grid.
template <class Function>
double fine_mean(const Function& function) {
  double sum = 0.0;
  const double step = 1e-3;
  for (double x = -9.0 + 0.5 * step; x < 9.0; x += step) sum += step * normal_density(x) * function(x);
  return sum;
}

TEST(TwoLayers, SumsOverCellsAreTightUpperBounds) {
  for (const F function : {F::Relu, F::LeakyRelu, F::Tanh, F::Sigmoid, F::Erf, F::Gelu, F::Silu, F::Softplus,
                           F::Elu, F::Mish, F::LogSigmoid, F::Tanhshrink}) {
    const Activation f(function, 0.2);
    for (const auto& [m, s] : {std::pair(0.3, 0.5), std::pair(-1.2, 0.8), std::pair(0.7, 3.0)}) {
      const GaussianMoments moments = gaussian_moments(f, m, s);
      const double gain = 0.9 * moments.slope.value;
      const ValuePowers powers = value_powers(f, m, s, gain, moments.mean, moments.second);
      const auto value = [&f, m = m, s = s](double x) { return f(m + s * x); };
      const double d4 =
          fine_mean([&](double x) { return std::pow(value(x) - moments.mean.value - gain * x, 4); });
      const double q4 =
          fine_mean([&](double x) { return std::pow(value(x) * value(x) - moments.second.value, 4); });
      EXPECT_GE(powers.deviation, d4 * (1.0 - 1e-5));
      EXPECT_LE(powers.deviation, 1.5 * d4 + 1e-12) << to_string(function) << " " << m << " " << s;
      EXPECT_GE(powers.square, q4 * (1.0 - 1e-5));
      EXPECT_LE(powers.square, 1.8 * q4 + 1e-12) << to_string(function) << " " << m << " " << s;
      const SlopeCells cells(f, m, s);
      const auto slope = [&f, m = m, s = s](double x) { return f.derivative(m + s * x); };
      for (const double center : {0.0, 0.4}) {
        const auto r = [&](double x) { return std::pow(slope(x) - center, 2); };
        const double mean = fine_mean(r);
        const double spread = std::sqrt(fine_mean([&](double x) { return std::pow(r(x) - mean, 2); }));
        const SlopeCells::Squares squares = cells.about(center);
        EXPECT_GE(squares.mean, mean - 1e-3 * mean);
        EXPECT_LE(squares.mean, mean + 0.12);
        EXPECT_GE(squares.spread, spread - 2e-3 * spread - 1e-9);
        EXPECT_LE(squares.spread, spread + 0.25);
      }
      const double weighted = fine_mean([&](double x) { return std::pow(slope(x) * x, 2); });
      EXPECT_GE(cells.weighted(), weighted * (1.0 - 2e-3));
      EXPECT_LE(cells.weighted(), weighted + 0.15);
    }
  }
}

/// E (y_+)^2 of y ~ N(mean, variance).
double positive_square(double mean, double variance) {
  const double root = std::sqrt(variance), t = mean / root;
  return (mean * mean + variance) * normal_cdf(t) + mean * root * normal_density(t);
}

TEST(TwoLayers, FarSideIsBoundedByExponentials) {
  const Vector means = (Vector(2) << 0.9, -0.7).finished(), variances = (Vector(2) << 0.05, 0.2).finished();
  const Gaussian piece{(Vector(2) << -0.4, 0.8).finished(),
                       Covariance::diagonal((Vector(2) << 1.1, 0.4).finished())};
  for (const F function : {F::Relu, F::LeakyRelu}) {
    const Activation f(function, 0.2);
    const FarSides sides(ActivationMap(f), piece);
    ASSERT_TRUE(sides.exist());
    for (const double bias : {-3.0, -1.0, 0.0, 3.5}) {
      const double side = bias < 0.0 ? 1.0 : -1.0;
      double exact = 0.0;
      const double step = 0.04;
      for (double x = -8.0; x < 8.0; x += step) {
        for (double y = -8.0; y < 8.0; y += step) {
          const Eigen::Array2d a(f(-0.4 + std::sqrt(1.1) * x), f(0.8 + std::sqrt(0.4) * y));
          const double mean = bias + (means.array() * a).sum(),
                       noise = 0.1 + (variances.array() * a * a).sum();
          exact += step * step * normal_density(x) * normal_density(y) * positive_square(side * mean, noise);
        }
      }
      double best = INFINITY;
      for (double rate = 0.25; rate < 4.0; rate *= 1.2) {
        const double bound = sides.square({bias, 0.1, means, variances}, side, rate);
        EXPECT_GE(bound, exact * (1.0 - 1e-3)) << bias << " " << rate;
        best = std::min(best, bound);
      }
      EXPECT_LE(best, 12.0 * exact) << bias;
    }
    EXPECT_EQ(sides.square({-1.0, 0.1, means, variances}, 1.0, 100.0), INFINITY);
  }
  EXPECT_FALSE(FarSides(ActivationMap(Activation(F::Tanh)), piece).exist());
  // Neurons that cancel: one factor is e^-744, which has one digit left, the two others are e^372.
  const Gaussian large{(Vector(3) << 744.0, 372.0, 372.0).finished(),
                       Covariance::diagonal(Vector::Constant(3, 0.01))};
  const Vector opposite = (Vector(3) << -1.0, 1.0, 1.0).finished();
  const FarSides cancelling(ActivationMap(Activation(F::Relu)), large);
  EXPECT_EQ(cancelling.square({-2.0, 0.1, opposite, Vector::Zero(3)}, 1.0, 1.0), INFINITY);
}

TEST(TwoLayers, SumsOfDensitiesAreTightUpperBounds) {
  for (const auto& [m, t, s] :
       {std::tuple(0.1, 1.0, 0.5), std::tuple(-2.0, 0.6, 1.0), std::tuple(5.0, 0.3, 1.2)}) {
    for (const double center : {0.0, 0.1, 0.3}) {
      const auto density = [m = m, t = t, s = s](double h) { return normal_density((m + t * h) / s); };
      const double exact = fine_mean([&](double h) { return std::pow(density(h) - center, 4); });
      const double bound = smoothed_density_fourth(m, t, s, center);
      EXPECT_GE(bound, exact * (1.0 - 1e-5));
      EXPECT_LE(bound, 1.5 * exact + 1e-9) << m << " " << center;
    }
  }
}

}  // namespace two_layer_test
}  // namespace mixcert::testing
