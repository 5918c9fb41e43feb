// Licensed under the Apache License, Version 2.0; see LICENSE.
#include "theorems/masked_layers_oracle.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "core/normal.h"
#include "support/random_laws.h"

namespace mixcert::testing {

Network TwoMaskedLayers::network() const {
  std::vector<DenseLayer> layers;
  layers.emplace_back("first", inputs, Vector::Zero(inputs.size()), DeterministicWeights{},
                      DeterministicBias{});
  layers.emplace_back("second", weight, bias, DeterministicWeights{}, DeterministicBias{});
  layers.emplace_back("output", out_weight, out_bias, DeterministicWeights{}, DeterministicBias{});
  const Mask behind = second_rate > 0.0 ? Mask::bernoulli(second_rate) : Mask();
  return Network(std::move(layers), {ActivationMap(), ActivationMap(first), ActivationMap(second)},
                 {Mask(), Mask::bernoulli(first_rate), behind});
}

TwoMaskedLayers random_masked_layers(std::uint64_t seed, Index outputs) {
  using F = ActivationFunction;
  Generator generator = make_generator(seed, Stream::Example, 1017);
  const auto pick = [&](Index most) { return std::uniform_int_distribution<Index>(1, most)(generator); };
  const std::vector<F> functions = {F::Relu, F::Relu, F::Tanh, F::Gelu, F::LeakyRelu};
  const std::vector<double> rates = {0.02, 0.1, 0.25, 0.5, 0.5, 0.75, 0.9};
  const auto one_of = [&](const auto& list) {
    return list[static_cast<std::size_t>(pick(static_cast<Index>(list.size())) - 1)];
  };
  TwoMaskedLayers net;
  net.first = Activation(one_of(functions));
  net.second = Activation(one_of(functions));
  net.first_rate = one_of(rates);
  net.second_rate = pick(4) == 1 ? 0.0 : one_of(rates);
  const Index n1 = pick(6), n2 = pick(5);
  // Some vectors have one entry far above the others.
  const double spread = pick(3) == 1 ? 2.0 : 0.3;
  net.inputs = random_matrix(generator, n1, 1).array().abs() + 0.1;
  for (Index j = 0; j < n1; ++j) net.inputs(j) *= std::exp(spread * random_matrix(generator, 1, 1)(0, 0));
  net.weight = random_matrix(generator, n2, n1);
  net.bias = random_matrix(generator, n2, 1);
  net.out_weight = random_matrix(generator, outputs, n2);
  net.out_bias = random_matrix(generator, outputs, 1);
  return net;
}

namespace {

/// All patterns of `count` masks: rows of factors 0 or 1/keep, and probabilities.
Patterns mask_patterns(Index count, double rate) {
  const Index all = Index{1} << count;
  Patterns made{Matrix(count, all), Vector::Ones(all)};
  for (Index pattern = 0; pattern < all; ++pattern) {
    for (Index j = 0; j < count; ++j) {
      const bool kept = (pattern >> j & 1) != 0;
      made.values(j, pattern) = kept ? 1.0 / (1.0 - rate) : 0.0;
      made.probabilities(pattern) *= kept ? 1.0 - rate : rate;
    }
  }
  return made;
}

/// E (y - x)^2 over the part of N(mean, deviation^2) between the thresholds.
double normal_part(double y, double mean, double deviation, double low, double high) {
  const double a = (low - mean) / deviation, b = (high - mean) / deviation;
  const double mass = normal_mass(a, b), at_a = normal_density(a), at_b = normal_density(b);
  const double first = at_a - at_b;
  const double second = mass + (std::isfinite(a) ? a * at_a : 0.0) - (std::isfinite(b) ? b * at_b : 0.0);
  const double shift = y - mean;
  return shift * shift * mass - 2.0 * shift * deviation * first + deviation * deviation * second;
}

}  // namespace

Patterns hidden_patterns(const TwoMaskedLayers& net, Matrix* masks) {
  const Patterns factors = mask_patterns(net.inputs.size(), net.first_rate);
  const Vector activations = net.first.apply(net.inputs);
  const Matrix inputs = (net.weight * activations.asDiagonal() * factors.values).colwise() + net.bias;
  if (masks != nullptr) {
    const double keep = 1.0 - net.first_rate;
    *masks = (keep * factors.values.array() - keep) / std::sqrt(net.first_rate * keep);
  }
  return {net.second.apply(inputs), factors.probabilities};
}

Patterns output_patterns(const TwoMaskedLayers& net) {
  const Patterns hidden = hidden_patterns(net, nullptr);
  Patterns factors{Matrix::Ones(net.weight.rows(), 1), Vector::Ones(1)};
  if (net.second_rate > 0.0) factors = mask_patterns(net.weight.rows(), net.second_rate);
  const Index outer = hidden.values.cols(), inner = factors.values.cols();
  Patterns made{Matrix(net.out_weight.rows(), outer * inner), Vector(outer * inner)};
  for (Index i = 0; i < outer; ++i) {
    for (Index k = 0; k < inner; ++k) {
      const Vector masked = hidden.values.col(i).cwiseProduct(factors.values.col(k));
      made.values.col(i * inner + k) = net.out_weight * masked + net.out_bias;
      made.probabilities(i * inner + k) = hidden.probabilities(i) * factors.probabilities(k);
    }
  }
  return made;
}

double line_distance(const Patterns& law, const Vector& direction, const GaussianMixture& mixture) {
  const Vector points = law.values.transpose() * direction;
  std::vector<Index> order(static_cast<std::size_t>(points.size()));
  std::iota(order.begin(), order.end(), Index{0});
  std::sort(order.begin(), order.end(), [&](Index a, Index b) { return points(a) < points(b); });
  const Index parts = mixture.size();
  Vector means(parts), deviations(parts);
  for (Index i = 0; i < parts; ++i) {
    means(i) = mixture.component(i).mean.dot(direction);
    const Vector image = mixture.component(i).covariance.times(direction);
    deviations(i) = std::sqrt(std::max(0.0, image.dot(direction)));
  }
  const double floor = 1e-6 * (points.cwiseAbs().maxCoeff() + means.cwiseAbs().maxCoeff());
  deviations = deviations.cwiseMax(0.5 * floor);
  const auto below = [&](double x) {
    double sum = 0.0;
    for (Index i = 0; i < parts; ++i) {
      sum += mixture.weights()(i) * normal_cdf((x - means(i)) / deviations(i));
    }
    return sum;
  };
  const double far = 40.0 * deviations.maxCoeff();
  double before = -INFINITY, total = 0.0, mass = 0.0;
  for (std::size_t k = 0; k < order.size(); ++k) {
    mass += law.probabilities(order[k]);
    double low = std::max(before, means.minCoeff() - far), high = means.maxCoeff() + far;
    for (int step = 0; step < 90; ++step) {
      const double middle = 0.5 * (low + high);
      (below(middle) < mass ? low : high) = middle;
    }
    const double end = k + 1 == order.size() ? INFINITY : 0.5 * (low + high);
    for (Index i = 0; i < parts; ++i) {
      total += mixture.weights()(i) * normal_part(points(order[k]), means(i), deviations(i), before, end);
    }
    before = end;
  }
  return std::max(0.0, std::sqrt(std::max(0.0, total)) - floor);
}

}  // namespace mixcert::testing
