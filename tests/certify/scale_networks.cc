// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Layers are built at ordinary scale and multiplied by ldexp, which is exact where nothing becomes subnormal.
#include "certify/scale_networks.h"

#include <algorithm>
#include <cmath>
#include <sstream>
#include <utility>
#include <variant>

#include "support/random_network.h"

namespace mixcert::testing {
namespace {

template <typename T>
T pick(Generator& generator, const std::vector<T>& choices) {
  return choices[static_cast<std::size_t>(generator() % choices.size())];
}

Index up_to(Generator& generator, Index most) {
  return 1 + static_cast<Index>(generator() % static_cast<std::uint64_t>(most));
}

/// Networks whose moments are known exactly are drawn more often than chance would have it.
enum class Kind { Any, Linear, Deterministic };

EntryLaw random_entry_law(Generator& generator) {
  using F = EntryLaw::Family;
  const F family = pick<F>(generator, {F::Normal, F::Normal, F::Normal, F::Laplace, F::Uniform, F::StudentT});
  return family == F::StudentT ? EntryLaw(family, 5.0) : EntryLaw(family);
}

DenseLayer random_scale_layer(Generator& generator, bool fixed, Index inputs, Index outputs) {
  LayerRecipe recipe;
  recipe.inputs = inputs;
  recipe.outputs = outputs;
  recipe.weights = generator() % 2 == 0   ? WeightFamily::MeanField
                   : generator() % 2 == 0 ? WeightFamily::Deterministic
                                          : pick(generator, all_weight_families());
  recipe.bias = pick(generator, all_bias_families());
  recipe.mean_scale = pick<double>(generator, {0.0, 0.5, 1.0, 2.0});
  recipe.deviation = pick<double>(generator, {0.1, 0.5, 1.0});
  if (fixed) {
    recipe.weights = WeightFamily::Deterministic;
    recipe.bias = BiasFamily::Deterministic;
    recipe.mean_scale = 1.0;
  }
  DenseLayer layer = random_layer(generator, recipe);
  if (const auto* m = std::get_if<MeanFieldWeights>(&layer.weights())) {
    const MeanFieldWeights weights{m->variance, random_entry_law(generator)};
    layer = DenseLayer(layer.name(), layer.weight_mean(), layer.bias_mean(), weights, layer.bias());
  }
  if (generator() % 3 != 0 || recipe.weights == WeightFamily::Joint) return layer;
  return {layer.name(), layer.weight_mean(), Vector::Zero(outputs), layer.weights(), DeterministicBias{}};
}

Mask random_scale_mask(Generator& generator) {
  const double rate = pick<double>(generator, {0.1, 0.5});
  if (generator() % 6 != 0) return {};
  return generator() % 2 == 0 ? Mask::bernoulli(rate) : Mask::gaussian(rate);
}

Options random_options(Generator& generator) {
  Options options;
  options.threads = 1;
  options.method = pick<Method>(generator, {Method::Auto, Method::Auto, Method::Moment, Method::Signature});
  options.joint = generator() % 4 == 0;
  if (options.method == Method::Signature) {
    options.certificate = pick<CertificateMode>(
        generator,
        {CertificateMode::Best, CertificateMode::Metric, CertificateMode::Expected, CertificateMode::Paper});
  } else if (!options.joint && generator() % 3 == 0) {
    options.pieces = 4;
  }
  return options;
}

Activation random_activation(Generator& generator, bool homogeneous) {
  using F = ActivationFunction;
  if (homogeneous)
    return Activation(pick<F>(generator, {F::Relu, F::Relu, F::Identity, F::LeakyRelu}), 0.125);
  return Activation(pick(generator, all_activation_functions()), 0.125);
}

WeightCovariance shifted_weights(const WeightCovariance& weights, int exponent, Generator& generator) {
  WeightCovariance result = weights;
  const int twice = 2 * exponent;
  if (auto* m = std::get_if<MeanFieldWeights>(&result)) m->variance = shifted(m->variance, twice);
  if (auto* k = std::get_if<KroneckerWeights>(&result)) {
    const int rows = std::clamp(twice + random_between(generator, -300, 300), -900, 900);
    k->row_covariance = shifted(k->row_covariance, rows);
    k->column_covariance = shifted(k->column_covariance, twice - rows);
  }
  if (auto* e = std::get_if<KroneckerEigenbasisWeights>(&result)) e->variance = shifted(e->variance, twice);
  if (auto* l = std::get_if<LowRankWeights>(&result)) {
    l->variance = shifted(l->variance, twice);
    for (Matrix& factor : l->factor) factor = shifted(factor, exponent);
  }
  if (auto* f = std::get_if<FullWeights>(&result)) f->covariance = shifted(f->covariance, twice);
  return result;
}

/// [W, b] with one exponent for the weights and one for the bias.
Matrix shifted_joint(const Matrix& covariance, Index inputs, int weights, int bias) {
  return Matrix::NullaryExpr(covariance.rows(), covariance.cols(), [&](Index a, Index b) {
    const auto exponent = [&](Index i) { return i % (inputs + 1) == inputs ? bias : weights; };
    return std::ldexp(covariance(a, b), exponent(a) + exponent(b));
  });
}

}  // namespace

int random_between(Generator& generator, int low, int high) {
  return low + static_cast<int>(generator() % static_cast<std::uint64_t>(high - low + 1));
}

Matrix shifted(const Matrix& matrix, int exponent) {
  return matrix.unaryExpr([exponent](double x) { return std::ldexp(x, exponent); });
}

DenseLayer scaled_layer(const DenseLayer& layer, int weight_exponent, int bias_exponent,
                        Generator& generator) {
  WeightCovariance weights = shifted_weights(layer.weights(), weight_exponent, generator);
  if (auto* joint = std::get_if<JointWeights>(&weights)) {
    joint->covariance = shifted_joint(joint->covariance, layer.inputs(), weight_exponent, bias_exponent);
  }
  BiasCovariance bias = layer.bias();
  if (auto* b = std::get_if<IndependentBias>(&bias)) b->variance = shifted(b->variance, 2 * bias_exponent);
  if (auto* c = std::get_if<CorrelatedBias>(&bias)) c->covariance = shifted(c->covariance, 2 * bias_exponent);
  return {layer.name(), shifted(layer.weight_mean(), weight_exponent),
          shifted(layer.bias_mean(), bias_exponent), std::move(weights), std::move(bias)};
}

ScaleCase scale_case(std::uint64_t index, bool homogeneous) {
  Generator generator = make_generator(index, Stream::Example, homogeneous ? 7007 : 7008);
  const Index hidden = generator() % 8 == 0 ? 0 : up_to(generator, 3);
  std::vector<DenseLayer> layers;
  std::vector<ActivationMap> activations;
  std::vector<Mask> masks;
  const Kind kind = index % 7 == 1 ? Kind::Linear : index % 7 == 3 ? Kind::Deterministic : Kind::Any;
  Index inputs = up_to(generator, 3);
  const Index features = inputs;
  for (Index k = 0; k <= hidden; ++k) {
    const Index outputs = k == hidden ? up_to(generator, 3) : up_to(generator, 6);
    // Errors of hidden layers show best behind a last layer that adds none.
    const bool fixed = kind == Kind::Deterministic || (k == hidden && generator() % 2 == 0);
    layers.push_back(random_scale_layer(generator, fixed, inputs, outputs));
    const bool plain = k == 0 || kind == Kind::Linear;
    activations.emplace_back(plain ? Activation() : random_activation(generator, homogeneous));
    masks.push_back(k == 0 || kind == Kind::Deterministic ? Mask() : random_scale_mask(generator));
    inputs = outputs;
  }
  Options options = random_options(generator);
  Matrix points = random_matrix(generator, features, options.joint ? 2 : 1);
  return {{std::move(layers), std::move(activations), std::move(masks)}, std::move(points), options};
}

std::string describe(const ScaleCase& tested) {
  std::ostringstream text;
  text << to_string(tested.options.method) << ", " << to_string(tested.options.certificate)
       << (tested.options.joint ? ", joint" : "") << ", pieces " << tested.options.pieces << ";";
  for (Index k = 0; k < tested.network.layer_count(); ++k) {
    const DenseLayer& layer = tested.network.layer(k);
    text << " [" << to_string(tested.network.activation(k).common().function()) << " " << layer.inputs()
         << "-" << layer.outputs() << " " << family_name(layer.weights())
         << (tested.network.mask(k).is_none() ? "" : " masked") << " max "
         << layer.weight_mean().cwiseAbs().maxCoeff() << " var " << layer.row_variances().maxCoeff() << "]";
  }
  return text.str();
}

std::vector<int> random_exponents(Generator& generator, Index layers, ScaleRange range) {
  std::vector<int> exponents(static_cast<std::size_t>(layers), 0);
  if (range == ScaleRange::Squares) {
    // Some neighbours, where squares of variances vanish or overflow; the layers before and after stay.
    const int size = random_between(generator, 260, 285);
    const int first = random_between(generator, 0, static_cast<int>(layers) - 1);
    const int last = random_between(generator, first, static_cast<int>(layers) - 1);
    const int exponent = generator() % 4 == 0 ? size : -size;
    std::fill(exponents.begin() + first, exponents.begin() + last + 1, exponent);
    return exponents;
  }
  // Twice an exponent is that of a variance, which must be a double without loss.
  const int most = range == ScaleRange::Moderate ? 75 : 490;
  int before = 0;
  for (int& exponent : exponents) {
    exponent = std::clamp(random_between(generator, -most, most), before - 490, before + 490);
    before = exponent;
  }
  return exponents;
}

Network scaled_network(const Network& network, const std::vector<int>& exponents, Generator& generator) {
  std::vector<DenseLayer> layers;
  std::vector<ActivationMap> activations;
  std::vector<Mask> masks;
  int before = 0;
  for (Index k = 0; k < network.layer_count(); ++k) {
    const int here = exponents[static_cast<std::size_t>(k)];
    layers.push_back(scaled_layer(network.layer(k), here - before, here, generator));
    activations.push_back(network.activation(k));
    masks.push_back(network.mask(k));
    before = here;
  }
  return {std::move(layers), std::move(activations), std::move(masks)};
}

}  // namespace mixcert::testing
