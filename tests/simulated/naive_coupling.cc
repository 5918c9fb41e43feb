// Licensed under the Apache License, Version 2.0; see LICENSE.
#include "simulated/naive_coupling.h"

#include <cmath>
#include <utility>
#include <vector>

#include "support/random_laws.h"

namespace mixcert::testing {
namespace {

using Number = long double;
using Numbers = std::vector<Number>;

Number value(const Activation& f, Number x) {
  switch (f.function()) {
    case ActivationFunction::Relu:
      return x > 0.0L ? x : 0.0L;
    case ActivationFunction::Tanh:
      return std::tanh(x);
    default:
      return x;
  }
}

/// M x + b.
Numbers affine(const DenseLayer& layer, const Numbers& x) {
  Numbers y;
  for (Index l = 0; l < layer.outputs(); ++l) {
    Number sum = layer.bias_mean()(l);
    for (Index j = 0; j < layer.inputs(); ++j)
      sum += static_cast<Number>(layer.weight_mean()(l, j)) * x[static_cast<std::size_t>(j)];
    y.push_back(sum);
  }
  return y;
}

/// beta + V a^2.
Numbers noise_of(const DenseLayer& layer, const Numbers& a) {
  const Matrix variances = layer.weight_variances();
  Numbers s;
  for (Index l = 0; l < layer.outputs(); ++l) {
    Number sum = layer.bias_variances()(l);
    for (Index j = 0; j < layer.inputs(); ++j)
      sum += static_cast<Number>(variances(l, j)) * a[static_cast<std::size_t>(j)] *
             a[static_cast<std::size_t>(j)];
    s.push_back(sum);
  }
  return s;
}

/// Sums that the chain's numbers are made of: E S of the surrogate's second moments.
Vector chain_noise(const DenseLayer& layer, const SurrogateLaw& law) {
  return layer.weight_variances() * law.second + layer.bias_variances();
}

}  // namespace

SimulatedCase::SimulatedCase(Network made, Vector at) : network(std::move(made)), input(std::move(at)) {
  trace =
      propagate_moments(network, input, [](Index, const GaussianMixture&) { return MomentChoices{}; }, {});
}

SimulatedCase small_case(std::uint64_t seed, Index outputs_wanted) {
  Generator generator = make_generator(seed, Stream::Example, 2801);
  const auto number = [&] { return random_matrix(generator, 1, 1)(0, 0); };
  const auto pick = [&](Index count) {
    return static_cast<Index>(generator() % static_cast<std::uint64_t>(count));
  };
  const Index depth = 1 + pick(4);
  const double noise = std::pow(10.0, -1.5 + 2.0 * std::abs(std::fmod(number(), 1.0)));
  const ActivationFunction function = pick(2) == 0 ? ActivationFunction::Relu : ActivationFunction::Tanh;
  std::vector<DenseLayer> layers;
  std::vector<ActivationMap> activations;
  Index inputs = 1 + pick(2);
  const Index features = inputs;
  for (Index k = 0; k <= depth; ++k) {
    const Index drawn = 1 + pick(3);
    const Index outputs = k == depth && outputs_wanted > 0 ? outputs_wanted : drawn;
    Matrix mean = random_matrix(generator, outputs, inputs);
    Vector bias = random_matrix(generator, outputs, 1);
    if (pick(3) == 0) bias = -mean.rowwise().sum();              // at the kink for inputs of one
    if (pick(3) == 0 && inputs > 1) mean.col(1) = -mean.col(0);  // neurons that cancel
    if (pick(4) == 0) bias(0) -= 4.0;                            // rarely active
    const bool is_fixed = k > 0 && pick(4) == 0;
    const Matrix variances = Matrix::Constant(outputs, inputs, is_fixed ? 0.0 : noise * noise);
    const Vector bias_variances = Vector::Constant(outputs, pick(4) == 0 ? 0.0 : 0.3 * noise * noise);
    layers.emplace_back("layer" + std::to_string(k), mean, bias, MeanFieldWeights{variances},
                        IndependentBias{bias_variances});
    activations.emplace_back(Activation(k == 0 ? ActivationFunction::Identity : function));
    inputs = outputs;
  }
  return {Network(layers, activations), Vector::Ones(features)};
}

SimulatedCase deep_case(Index width, Index depth, double noise, ActivationFunction function,
                        std::uint64_t seed, Index outputs) {
  Generator generator = make_generator(seed, Stream::Example, 2802);
  const Index features = 2 * width;
  std::vector<DenseLayer> layers;
  std::vector<ActivationMap> activations;
  for (Index k = 0; k <= depth; ++k) {
    const Index in = k == 0 ? features : width, out = k == depth ? outputs : width;
    const double fan = 1.0 / std::sqrt(static_cast<double>(in));
    layers.emplace_back("layer" + std::to_string(k), std::sqrt(2.0) * fan * random_matrix(generator, out, in),
                        Vector::Zero(out),
                        MeanFieldWeights{Matrix::Constant(out, in, noise * noise * fan * fan)},
                        IndependentBias{Vector::Constant(out, 1e-4)});
    activations.emplace_back(Activation(k == 0 ? ActivationFunction::Identity : function));
  }
  // As bright as an image: entries of root mean square 0.3.
  return {Network(layers, activations), 0.3 * random_matrix(generator, features, 1)};
}

Index naive_normal_count(const SimulatedCase& at) {
  Index count = 0;
  for (Index k = 0; k < at.network.hidden_count(); ++k) count += at.network.layer(k).outputs();
  return count;
}

namespace {

/// The first hidden layer's pre-activations from the first of the normals.
Numbers first_pre_activations(const SimulatedCase& at, const Vector& normals) {
  const Gaussian& first = at.trace->layers.front().pieces.component(0);
  Numbers z;
  for (Index j = 0; j < first.dimension(); ++j) {
    const Number deviation = std::sqrt(static_cast<Number>(first.covariance.variances()(j)));
    z.push_back(first.mean(j) + deviation * normals(j));
  }
  return z;
}

}  // namespace

long double naive_output(const SimulatedCase& at, const Vector& normals) {
  Numbers z = first_pre_activations(at, normals);
  auto next = static_cast<Index>(z.size());
  for (Index k = 1; k <= at.network.hidden_count(); ++k) {
    const DenseLayer& layer = at.network.layer(k);
    Numbers a;
    for (std::size_t j = 0; j < z.size(); ++j)
      a.push_back(value(at.network.activation(k).at(static_cast<Index>(j)), z[j]));
    const Numbers s = noise_of(layer, a);
    z = affine(layer, a);
    for (std::size_t l = 0; l < s.size(); ++l) z[l] += std::sqrt(s[l]) * normals(next++);
  }
  return z.front();
}

long double naive_cost(const SimulatedCase& at, const Vector& normals) {
  const Index depth = at.network.hidden_count();
  Numbers z = first_pre_activations(at, normals), zh = z;
  auto next = static_cast<Index>(z.size());
  for (Index k = 1; k <= depth; ++k) {
    const DenseLayer& layer = at.network.layer(k);
    const MomentLayerTrace& traced = at.trace->layers[static_cast<std::size_t>(k - 1)];
    const Gaussian& piece = traced.pieces.component(0);
    const SurrogateLaw& law = traced.surrogates.front();
    Numbers a, b;
    for (Index j = 0; j < piece.dimension(); ++j) {
      const auto place = static_cast<std::size_t>(j);
      const double deviation = std::sqrt(piece.covariance.variances()(j));
      const double gain = deviation > 0.0 ? law.gain(j) / deviation : 0.0;
      a.push_back(value(at.network.activation(k).at(j), z[place]));
      b.push_back(law.mean(j) + static_cast<Number>(gain) * (zh[place] - piece.mean(j)));
    }
    const Vector chain = chain_noise(layer, law);
    const Numbers s = noise_of(layer, a);
    z = affine(layer, a);
    zh = affine(layer, b);
    if (k == depth) {
      Number square = 0.0L;
      for (std::size_t l = 0; l < s.size(); ++l) {
        const Number gap = std::sqrt(s[l]) - std::sqrt(static_cast<Number>(chain(static_cast<Index>(l))));
        square += (z[l] - zh[l]) * (z[l] - zh[l]) + gap * gap;
      }
      return std::sqrt(square);
    }
    for (std::size_t l = 0; l < s.size(); ++l) {
      const Number g = normals(next++);
      z[l] += std::sqrt(s[l]) * g;
      zh[l] += std::sqrt(static_cast<Number>(chain(static_cast<Index>(l)))) * g;
    }
  }
  return 0.0L;
}

}  // namespace mixcert::testing
