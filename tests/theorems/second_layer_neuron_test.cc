// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// One neuron of the second hidden layer, (Y.22), (Y.23), (Y.27), (Y.29): each of its bounds against samples
// of what it is about. The moments that it is made from are those of the samples.
#include <gtest/gtest.h>

#include <cmath>

#include "activation/gaussian_moments.h"
#include "methods/moment/moment_error.h"
#include "support/random_laws.h"
#include "theorems/two_layers/second_layer.h"

namespace mixcert::testing {
namespace second_layer_neuron_test {

using F = ActivationFunction;
using Array = Eigen::ArrayXd;

constexpr Index kSamples = 20000;

/// Samples of m', delta and S for one neuron behind some neurons of its kind.
struct Drawn {
  double mean = 0.0, noise = 0.0, least = 0.0;
  Array signal, delta, variance, normal;
};

Drawn draw(const Activation& f, std::uint64_t seed) {
  Generator generator = make_generator(seed, Stream::Example, 33);
  const Index n = 1 + static_cast<Index>(seed % 9);
  Drawn all;
  all.signal = all.delta = all.variance = Array::Zero(kSamples);
  all.normal = random_matrix(generator, kSamples, 1).array();
  all.mean = random_matrix(generator, 1, 1)(0);
  const double noise = std::pow(10.0, -1.0 - 0.4 * static_cast<double>(seed % 5));
  all.least = all.noise = noise;
  for (Index j = 0; j < n; ++j) {
    const Vector draws = random_matrix(generator, 4, 1);
    const double m = draws(0), s = 0.2 + std::abs(draws(1)),
                 weight = draws(2) / std::sqrt(static_cast<double>(n));
    const double variance = noise * draws(3) * draws(3) / static_cast<double>(n);
    const GaussianMoments moments = gaussian_moments(f, m, s);
    const double gain = std::sqrt(moments.second.value - moments.mean.value * moments.mean.value) *
                        (moments.slope.value < 0 ? -1 : 1);
    const Array x = random_matrix(generator, kSamples, 1).array();
    const Array a = f.apply((m + s * x).matrix()).array();
    all.signal += weight * gain * x;
    all.delta += weight * (a - moments.mean.value - gain * x);
    all.variance += variance * a.square();
    all.mean += weight * moments.mean.value;
    all.noise += variance * moments.second.value;
  }
  all.variance += all.least;
  return all;
}

double norm(const Array& values) { return std::sqrt(values.square().mean()); }

NeuronSpread spread_of(const Drawn& x, bool convex) {
  const Array u = x.variance / x.noise - 1.0;
  NeuronSpread spread;
  spread.mean = x.mean;
  spread.noise = x.noise;
  spread.least = x.least;
  spread.convex = convex;
  spread.signal = x.signal.square().mean();
  spread.delta2 = x.delta.square().mean();
  spread.delta_sd = norm(x.delta.square() - spread.delta2);
  spread.delta4 = x.delta.square().square().mean();
  spread.u2 = u.square().mean();
  spread.u3 = std::abs((u * u * u).mean());
  spread.u4 = u.square().square().mean();
  spread.h_delta = norm(x.signal * x.delta);
  spread.h_u = norm(x.signal * u);
  spread.delta_u = norm(x.delta * u);
  return spread;
}

/// E[s(m + S^{1/2} g)] at every sample.
Array smoothed(const Activation& f, const Array& m, const Array& deviation) {
  Array values(m.size());
  for (Index i = 0; i < m.size(); ++i) values(i) = gaussian_moments(f, m(i), deviation(i)).mean.value;
  return values;
}

TEST(SecondLayerNeuron, IsNotBelowSamples) {
  double closest_rest = 0.0, closest_own = 0.0, closest_whole = 0.0;
  for (std::uint64_t seed = 1; seed <= 36; ++seed) {
    const F functions[] = {F::Relu, F::LeakyRelu, F::Tanh, F::Softplus};
    const Activation f(functions[seed % 4], 0.1);
    const Drawn x = draw(f, seed);
    const NeuronCarry carry = carry_neuron(f, spread_of(x, has_convex_sizes(f, 1)));
    const double sigma = std::sqrt(x.noise);
    const Array signal = x.mean + x.signal, roots = x.variance.sqrt();
    const Array d = f.apply((signal + x.delta + roots * x.normal).matrix()).array() -
                    f.apply((signal + sigma * x.normal).matrix()).array();
    const Array rest = smoothed(f, signal + x.delta, roots) -
                       smoothed(f, signal, Array::Constant(kSamples, sigma)) - carry.slope * x.delta -
                       carry.noise_slope * (x.variance - x.noise);
    // Sampled moments on both sides: off by some per cent.
    EXPECT_GE(1.05 * carry.rest, norm(rest)) << "seed " << seed;
    EXPECT_GE(1.1 * carry.own, (d - carry.slope * x.delta).square().mean()) << "seed " << seed;
    EXPECT_GE(1.1 * carry.whole, d.square().mean()) << "seed " << seed;
    closest_rest = std::max(closest_rest, norm(rest) / carry.rest);
    closest_own = std::max(closest_own, (d - carry.slope * x.delta).square().mean() / carry.own);
    closest_whole = std::max(closest_whole, d.square().mean() / carry.whole);
  }
  // The bounds are no larger than they need to be for some neurons.
  EXPECT_GE(closest_rest, 0.4);
  EXPECT_GE(closest_own, 0.5);
  EXPECT_GE(closest_whole, 0.7);
}

/// (Y.29) for functions that go with delta^2 as strongly as any: by the samples' own covariance.
TEST(SecondLayerNeuron, SquaresHaveLittleToDoWithTheSignal) {
  double closest = 0.0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Generator generator = make_generator(seed, Stream::Example, 34);
    const Activation f(seed % 2 == 0 ? F::Relu : F::Tanh);
    const Index n = 3 + static_cast<Index>(seed % 7);
    const Matrix weights = random_matrix(generator, 1, n);
    const Vector means = random_matrix(generator, n, 1);
    NeuronErrors errors{Vector(n), Vector(n), Vector(n), Vector(n)};
    Array h = Array::Zero(kSamples), delta = h;
    for (Index j = 0; j < n; ++j) {
      const GaussianMoments moments = gaussian_moments(f, means(j), 1.0);
      const double gain = std::sqrt(moments.second.value - std::pow(moments.mean.value, 2));
      const Array x = random_matrix(generator, kSamples, 1).array();
      const Array d = f.apply((means(j) + x).matrix()).array() - moments.mean.value - gain * x;
      errors.gain(j) = gain;
      errors.linear(j) = std::abs(moments.slope.value - gain);
      errors.bent(j) = std::sqrt(d.square().mean() - std::pow(errors.linear(j), 2));
      errors.square_sd(j) = norm(d.square() - d.square().mean());
      h += weights(0, j) * gain * x;
      delta += weights(0, j) * d;
    }
    const double signal = weights.cwiseAbs2().row(0).dot(errors.gain.cwiseAbs2());
    const double theta = square_couplings(weights, errors, Vector::Constant(1, signal))(0);
    if (!(theta < INFINITY)) continue;
    const Array t = h / std::sqrt(signal), square = delta.square() - delta.square().mean();
    for (const Array& psi :
         {Array(t), Array(t.square()), Array(t.square() * t), Array((t > 0.7).cast<double>())}) {
      const double covariance = std::abs((psi * square).mean()), deviation = norm(psi - psi.mean());
      const double error = 4.0 * norm((psi - psi.mean()) * square) / std::sqrt(static_cast<double>(kSamples));
      EXPECT_LE(covariance - error, 1.05 * theta * deviation) << "seed " << seed;
      closest = std::max(closest, covariance / (theta * deviation));
    }
  }
  EXPECT_GE(closest, 0.2);
  // One neuron makes most of the signal.
  const NeuronErrors one{Vector::Ones(2), Vector::Zero(2), Vector::Ones(2), Vector::Ones(2)};
  Matrix weights(1, 2);
  weights << 1.0, 0.1;
  EXPECT_EQ(square_couplings(weights, one, Vector::Constant(1, 1.01))(0), INFINITY);
}

}  // namespace second_layer_neuron_test
}  // namespace mixcert::testing
