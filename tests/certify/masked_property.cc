// Licensed under the Apache License, Version 2.0; see LICENSE.
#include "certify/masked_property.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/normal.h"

namespace mixcert::testing {
namespace {

double cdf(const LineLaw& law, double x) {
  double sum = 0.0;
  for (const LinePiece& piece : law) {
    const double inside = piece.deviation > 0.0 ? normal_cdf((x - piece.mean) / piece.deviation)
                                                : (x >= piece.mean ? 1.0 : 0.0);
    sum += piece.weight * inside;
  }
  return sum;
}

double quantile(const LineLaw& law, double level, double reach) {
  double low = -reach, high = reach;
  for (int step = 0; step < 48; ++step) {
    const double middle = 0.5 * (low + high);
    (cdf(law, middle) < level ? low : high) = middle;
  }
  return 0.5 * (low + high);
}

/// W2^2 = int (Q_1 - Q_2)^2 at midpoints of levels, without what is beyond the last ones.
double distance(const LineLaw& a, const LineLaw& b) {
  constexpr int kLevels = 500;
  double reach = 0.0;
  for (const LineLaw* law : {&a, &b}) {
    for (const LinePiece& piece : *law) reach = std::max(reach, std::abs(piece.mean) + 9.0 * piece.deviation);
  }
  double sum = 0.0;
  for (int i = 0; i < kLevels; ++i) {
    const double level = (i + 0.5) / kLevels;
    sum += std::pow(quantile(a, level, reach) - quantile(b, level, reach), 2.0);
  }
  return std::sqrt(sum / kLevels);
}

/// Of a law of points: E y, Var y and E y g, g a standard normal that grows with y: E[g; a < g <= b] = phi(a)
/// - phi(b).
struct PointMoments {
  double mean = 0.0, variance = 0.0, product = 0.0;
};

PointMoments point_moments(LineLaw law) {
  std::sort(law.begin(), law.end(), [](const LinePiece& a, const LinePiece& b) { return a.mean < b.mean; });
  PointMoments made;
  double mass = 0.0, before = 0.0;
  for (const LinePiece& point : law) {
    made.mean += point.weight * point.mean;
    mass += point.weight;
    const double after = mass < 1.0 - 1e-15 ? normal_density(normal_quantile(mass)) : 0.0;
    made.product += point.mean * (before - after);
    before = after;
  }
  for (const LinePiece& point : law) made.variance += point.weight * std::pow(point.mean - made.mean, 2.0);
  return made;
}

double distance_to_gaussian(const PointMoments& of, double mean, double s) {
  const double squared = of.variance + s * s - 2.0 * s * of.product + std::pow(of.mean - mean, 2.0);
  return std::sqrt(std::max(squared, 0.0));
}

/// By a search over deviations.
double nearest_gaussian(const PointMoments& of) {
  double best = std::sqrt(of.variance);
  for (int i = 0; i <= 2000; ++i) {
    const double s = 1.1 * std::sqrt(of.variance) * i / 2000.0;
    best = std::min(best, distance_to_gaussian(of, of.mean, s));
  }
  return best;
}

LineLaw line_law(const GaussianMixture& mixture) {
  LineLaw law;
  for (Index i = 0; i < mixture.size(); ++i) {
    const Gaussian& g = mixture.component(i);
    law.push_back({mixture.weights()(i), g.mean(0), std::sqrt(g.covariance.variances()(0))});
  }
  return law;
}

}  // namespace

Network MaskedNet::network() const {
  WeightCovariance law = DeterministicWeights{};
  if (variances.size() > 0) law = MeanFieldWeights{variances};
  std::vector<DenseLayer> layers;
  layers.emplace_back("first", first, bias, DeterministicWeights{}, DeterministicBias{});
  layers.emplace_back("second", second, Vector::Zero(second.rows()), law, DeterministicBias{});
  return Network(std::move(layers), {ActivationMap(), Activation(ActivationFunction::Relu)},
                 {Mask(), Mask::bernoulli(rate)});
}

LineLaw MaskedNet::law(const Vector& input) const {
  const Vector a = (first * input + bias).cwiseMax(0.0);
  LineLaw all{{1.0, 0.0, 0.0}};
  for (Index j = 0; j < a.size(); ++j) {
    if (a(j) == 0.0) continue;
    const double kept = a(j) / (1.0 - rate);
    const double noise = variances.size() > 0 ? variances(0, j) * kept * kept : 0.0;
    LineLaw next;
    for (const LinePiece& piece : all) {
      next.push_back({rate * piece.weight, piece.mean, piece.deviation});
      next.push_back({(1.0 - rate) * piece.weight, piece.mean + second(0, j) * kept,
                      std::sqrt(piece.deviation * piece.deviation + noise)});
    }
    all = next;
  }
  return all;
}

MaskedNet RandomMaskedNets::draw(Index neurons, Index outputs, bool noisy) {
  MaskedNet net;
  net.first = matrix(neurons, 2);
  net.bias = matrix(neurons, 1);
  net.second = matrix(outputs, neurons);
  const double rates[] = {0.5, 0.25, 0.1, 0.02, 0.8};
  net.rate = rates[random_() % 5];
  if (noisy) net.variances = 0.2 * matrix(outputs, neurons).cwiseAbs2();
  return net;
}

Matrix RandomMaskedNets::matrix(Index rows, Index cols) {
  Matrix x(rows, cols);
  for (double& entry : x.reshaped()) entry = normal_(random_);
  return x;
}

Result certify_masked(const MaskedNet& net, const Vector& input, Index pieces) {
  Options options;
  options.method = Method::Moment;
  options.pieces = pieces;
  options.components = 1;  // no mixture that is fitted to the law of one output
  return certify(net.network(), input, options).front();
}

namespace {

void expect_lower_bounds(const Result& result, const LineLaw& law, double exact, double tolerance) {
  const double size = result.mixture.standard_deviation().norm();
  EXPECT_LE(result.w2_lower, nearest_gaussian(point_moments(law)) + 1e-6 * size);
  EXPECT_LE(result.w2_lower_mixture, std::sqrt(exact * exact + tolerance * size * size));
  if (result.mixture.size() > 1) return;
  EXPECT_LE(result.w2_lower, result.w2.value);
  EXPECT_LE(result.w2_lower, result.w2_lower_mixture);
}

/// One Gaussian for a law of points has a distance in closed form; others are integrated.
int expect_enclosed_once(const MaskedNet& net, const Vector& input, Index pieces) {
  const LineLaw law = net.law(input);
  const bool noisy = net.variances.size() > 0;
  const Result result = certify_masked(net, input, pieces);
  const double size = result.mixture.standard_deviation().norm();
  const LineLaw mixture = line_law(result.mixture);
  const bool is_closed = !noisy && mixture.size() == 1;
  const double exact = is_closed
                           ? distance_to_gaussian(point_moments(law), mixture[0].mean, mixture[0].deviation)
                           : distance(law, mixture);
  EXPECT_GE(result.w2.value, exact - 1e-6 * size);
  if (noisy) {
    EXPECT_TRUE(std::isnan(result.w2_lower) && std::isnan(result.w2_lower_mixture));
    return 0;
  }
  // Integrals are without what is beyond the last levels.
  expect_lower_bounds(result, law, exact, is_closed ? 1e-9 : 5e-3);
  return result.w2_lower > 0.0 ? 1 : 0;
}

}  // namespace

int expect_enclosed(unsigned seed, int rounds, Index most) {
  RandomMaskedNets random(seed);
  int with_lower = 0;
  for (int round = 0; round < rounds; ++round) {
    SCOPED_TRACE(round);
    // Integrals take long: few of the networks need them.
    const bool is_integrated = round % 8 == 7;
    const Index neurons = 1 + round % (is_integrated ? std::min<Index>(most, 6) : most);
    // A second output that is zero changes no distance, and is what theorems about one output do not cover.
    MaskedNet net = random.draw(neurons, 1 + round % 2, is_integrated && round % 16 == 7);
    if (net.second.rows() > 1) net.second.row(1).setZero();
    if (net.variances.rows() > 1) net.variances.row(1).setZero();
    const Vector input = random.matrix(2, 1);
    if (net.law(input).size() < 2) continue;
    with_lower += expect_enclosed_once(net, input, is_integrated ? 4 : 1);
    if (is_integrated) expect_enclosed_once(net, input, 1);
  }
  return with_lower;
}

}  // namespace mixcert::testing
