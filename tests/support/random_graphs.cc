// Licensed under the Apache License, Version 2.0; see LICENSE.
#include "support/random_graphs.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "mixcert/core/rng.h"
#include "support/random_network.h"
#include "support/random_specs.h"

namespace mixcert::testing {
namespace {

class GraphMaker {
 public:
  GraphMaker(std::uint64_t seed, bool is_image, double noise, GraphParts parts)
      : generator_(make_generator(seed, Stream::Example, is_image ? 3001 : 3000)),
        noise_(noise),
        has_more_(parts != GraphParts::Plain),
        has_any_law_(parts == GraphParts::AnyLaw && noise > 0.0) {
    input_ = is_image ? LayerShape{index(1, 2), {index(2, 4), index(2, 4)}, true}
                      : LayerShape{index(2, 4), {}, false};
    values_.push_back({"input", input_, true});
  }

  RandomGraph make() {
    add_affine(values_.front());  // tells the shape of the input
    for (Index i = index(3, 8); i > 0; --i) add_step();
    gather();
    if (has_any_law_) add_tail();
    add_heads();
    return {std::move(layers_), input_};
  }

  RandomGraph make_chain() {
    is_chain_ = true;
    add_affine(values_.front());
    for (Index i = index(3, 6); i > 0; --i) add_step();
    if (values_.back().shape.is_image) add(FlattenSpec{}, values_.back());
    if (has_any_law_) add_tail();
    add(dense(values_.back().shape.size(), index(1, 2)), values_.back());
    for (LayerSpec& layer : layers_) {
      layer.node.clear();
      layer.inputs.clear();
    }
    return {std::move(layers_), input_};
  }

 private:
  struct Value {
    std::string name;
    LayerShape shape;
    bool is_seen = false;
  };

  Index index(Index low, Index high) { return random_index(generator_, low, high); }
  std::string fresh() { return "n" + std::to_string(layers_.size()); }

  void add(LayerSpec layer, const std::vector<Value>& seen, const LayerShape& shape) {
    const std::string name = fresh();
    std::vector<std::string> inputs;
    for (const Value& one : seen) inputs.push_back(one.name);
    for (Value& value : values_) {
      for (const Value& one : seen) value.is_seen = value.is_seen || value.name == one.name;
    }
    layers_.push_back(seeing(std::move(layer), name, std::move(inputs)));
    values_.push_back({name, shape, false});
  }
  void add(LayerSpec layer, const Value& seen) {
    const LayerShape shape = shape_after(layer, seen.shape);
    add(std::move(layer), {seen}, shape);
  }

  /// Of any family, and single weights of any shape.
  DenseSpec dense_of_any_law(Index inputs, Index outputs) {
    static const std::vector<EntryLaw> shapes = {EntryLaw(), EntryLaw(EntryLaw::Family::Laplace),
                                                 EntryLaw(EntryLaw::Family::Uniform),
                                                 EntryLaw(EntryLaw::Family::StudentT, 9.0)};
    const std::vector<WeightFamily>& families = all_weight_families();
    const auto pick = [this](const auto& all) {
      return all[static_cast<std::size_t>(index(0, static_cast<Index>(all.size()) - 1))];
    };
    const LayerRecipe recipe{pick(families), pick(all_bias_families()), inputs, outputs, 1.0, noise_};
    DenseLayer layer = random_layer(generator_, recipe, fresh());
    const auto* variances = std::get_if<MeanFieldWeights>(&layer.weights());
    if (variances == nullptr) return {std::move(layer)};
    return {DenseLayer(layer.name(), layer.weight_mean(), layer.bias_mean(),
                       MeanFieldWeights{variances->variance, pick(shapes)}, layer.bias())};
  }

  DenseSpec dense(Index inputs, Index outputs) {
    const double size = 1.0 / std::sqrt(static_cast<double>(inputs));
    const Matrix mean = size * random_matrix(generator_, outputs, inputs);
    const Vector bias = 0.3 * random_vector(generator_, outputs);
    if (noise_ == 0.0) return {DenseLayer(fresh(), mean, bias, DeterministicWeights{}, DeterministicBias{})};
    return {DenseLayer(fresh(), mean, bias,
                       MeanFieldWeights{Matrix::Constant(outputs, inputs, noise_ * noise_ * size * size)},
                       IndependentBias{Vector::Constant(outputs, 0.01 * noise_ * noise_)})};
  }
  Conv2dSpec convolution(const LayerShape& shape) {
    Conv2dSpec spec = same_convolution(generator_, shape, noise_ > 0.0, fresh());
    const double size = 1.0 / (3.0 * std::sqrt(static_cast<double>(shape.channels)));
    spec.kernel_mean *= size;
    spec.kernel_variance *= noise_ * noise_ * size * size;
    spec.bias_variance *= noise_ * noise_;
    return spec;
  }

  void add_affine(const Value& seen) {
    if (seen.shape.is_image) return add(convolution(seen.shape), seen);
    add(dense(seen.shape.size(), index(2, 4)), seen);
  }
  void add_scale(const Value& seen) {
    const Index count = index(0, 1) == 0 ? seen.shape.channels : seen.shape.size();
    Vector scale = random_vector(generator_, count);
    // Folded into a dense layer a negative factor changes the sign of its normals.
    if (!seen.shape.is_image) scale = scale.cwiseAbs();
    add(AffineSpec{fresh(), std::move(scale), random_vector(generator_, 1)}, seen);
  }
  /// Every function, its parameters too.
  LayerSpec any_activation() {
    const std::vector<ActivationFunction>& all = all_activation_functions();
    const ActivationFunction function =
        all[static_cast<std::size_t>(index(0, static_cast<Index>(all.size()) - 1))];
    const double lower = -2.0 * uniform(generator_);
    return ActivationSpec{Activation(function, {.slope = 2.0 * uniform(generator_) - 1.0,
                                                .lower = lower,
                                                .upper = lower + 0.1 + 3.0 * uniform(generator_),
                                                .alpha = std::pow(4.0, 2.0 * uniform(generator_) - 1.0)})};
  }
  LayerSpec activation() {
    if (has_more_) return any_activation();
    static const std::vector<ActivationFunction> functions = {
        ActivationFunction::Relu, ActivationFunction::Tanh, ActivationFunction::LeakyRelu};
    return activation_spec(functions[static_cast<std::size_t>(index(0, 2))]);
  }

  void add_pool(const Value& seen) {
    const Size2d kernel{std::min<Index>(2, seen.shape.image.height),
                        std::min<Index>(2, seen.shape.image.width)};
    const Window2d window{kernel, {index(1, 2), index(1, 2)}, {0, 0}, {}};
    index(0, 1) == 0 ? add(AvgPool2dSpec{window}, seen) : add(MaxPool2dSpec{window}, seen);
  }
  void add_norm(const Value& seen) {
    BatchNormSpec norm = random_batch_norm(generator_, seen.shape.channels, fresh());
    // Folded, as above; and nothing that blows a value up by a variance near zero.
    norm.weight = 0.5 * norm.weight.cwiseAbs();
    norm.running_variance.array() += 0.5;
    add(std::move(norm), seen);
  }
  /// Masks of values and of channels, Gaussian ones, and noise.
  void add_noise(const Value& seen) {
    if (noise_ == 0.0) return;
    const double rate = 0.5 * uniform(generator_);
    switch (index(0, 3)) {
      case 0:
        return add(DropoutSpec{rate}, seen);
      case 1:
        return seen.shape.is_image ? add(Dropout2dSpec{rate}, seen) : add(DropoutSpec{rate}, seen);
      case 2:
        return add(GaussianDropoutSpec{0.2 * rate}, seen);
      default:
        return add(GaussianNoiseSpec{noise_ * rate}, seen);
    }
  }
  /// A block with a layer and, for vectors, another one in its skip.
  void add_block(const Value& seen) {
    if (seen.shape.is_image) return add(ResidualSpec{{activation(), convolution(seen.shape)}}, seen);
    const Index size = seen.shape.size(), outputs = index(2, 4);
    const std::string name = fresh();
    DenseSpec inner = dense(size, outputs), skip = dense(size, outputs);
    const auto called = [](const DenseSpec& own, const std::string& as) {
      return DenseSpec{DenseLayer(as, own.layer.weight_mean(), own.layer.bias_mean(), own.layer.weights(),
                                  own.layer.bias())};
    };
    add(ResidualSpec{{called(inner, name + ".f"), activation()}, {called(skip, name + ".s")}}, seen);
  }
  void add_more(const Value& one) {
    switch (index(0, 3)) {
      case 0:
        return one.shape.is_image ? add_pool(one) : add_norm(one);
      case 1:
        return add_norm(one);
      case 2:
        return add_noise(one);
      default:
        return add_block(one);
    }
  }

  Value any() {
    if (is_chain_) return values_.back();
    return values_[static_cast<std::size_t>(index(0, static_cast<Index>(values_.size()) - 1))];
  }

  void add_step() {
    const Value one = any();
    switch (index(0, has_more_ ? 9 : 6)) {
      case 7:
      case 8:
      case 9:
        return add_more(one);
      case 0:
      case 1:
        return add_affine(one);
      case 2:
        return add_scale(one);
      case 3:
        return add(ResidualSpec{{activation(), AffineSpec{fresh(), Vector::Constant(1, 0.5), {}}}}, one);
      case 4:
        return join(one);
      default:
        return add(activation(), one);
    }
  }

  /// With another value of its shape as a sum or a concatenation, or with itself.
  void join(const Value& one) {
    std::vector<Value> alike;
    for (const Value& other : values_) {
      if (other.shape == one.shape) alike.push_back(other);
    }
    const Value other = alike[static_cast<std::size_t>(index(0, static_cast<Index>(alike.size()) - 1))];
    if (is_chain_) return add_affine(one);
    if (index(0, 1) == 0) return add(AddSpec{}, {one, other}, one.shape);
    LayerShape shape = one.shape;
    shape.channels *= 2;
    add(ConcatSpec{}, {one, other}, shape);
  }

  /// All that nobody has seen meets in one vector, in front of a last layer.
  void gather() {
    std::vector<Value> open;
    for (const Value& value : values_) {
      if (!value.is_seen) open.push_back(value);
    }
    std::vector<Value> vectors;
    for (const Value& value : open) {
      if (value.shape.is_image) {
        index(0, 1) == 0 ? add(FlattenSpec{}, value) : add(MeanSpec{}, value);
        vectors.push_back(values_.back());
      } else {
        vectors.push_back(value);
      }
    }
    if (vectors.size() > 1) {
      LayerShape shape{0, {}, false};
      for (const Value& value : vectors) shape.channels += value.shape.size();
      add(ConcatSpec{}, vectors, shape);
    } else {
      add(ReshapeSpec{vectors.front().shape}, vectors.front());
      add(AddSpec{}, {vectors.front(), values_.back()}, vectors.front().shape);
    }
  }

  /// Nothing passes here: laws without room are at home.
  void add_tail() {
    const Index width = index(2, 4);
    const Index inputs = values_.back().shape.size();
    if (index(0, 2) == 0) {
      DenseSpec one = dense_of_any_law(inputs, width);
      add(MixtureSpec{{0.375, 0.625}, {one, DenseSpec(dense(inputs, width))}}, values_.back());
    } else {
      add(dense_of_any_law(inputs, width), values_.back());
    }
    add(activation(), values_.back());
    if (index(0, 2) == 0) add(DropoutSpec{0.3}, values_.back());
  }

  void add_heads() {
    const Value last = values_.back();
    const Index size = last.shape.size();
    if (has_more_ && index(0, 2) == 0) {
      add(dense(size, index(1, 2)), last);
      const Value mean = values_.back();
      add(dense(size, 1), last);
      const Value variance = values_.back();
      return add(ConcatSpec{}, {mean, variance}, {mean.shape.size() + 1, {}, false});
    }
    add(has_any_law_ ? dense_of_any_law(size, index(1, 2)) : dense(size, index(1, 2)), last);
  }

  Generator generator_;
  double noise_;
  bool has_more_, has_any_law_, is_chain_ = false;
  LayerShape input_;
  std::vector<Value> values_;
  std::vector<LayerSpec> layers_;
};

}  // namespace

RandomGraph random_graph(std::uint64_t seed, bool is_image, double noise, GraphParts parts) {
  return GraphMaker(seed, is_image, noise, parts).make();
}

RandomGraph random_chain(std::uint64_t seed, bool is_image, double noise, GraphParts parts) {
  return GraphMaker(seed, is_image, noise, parts).make_chain();
}

std::vector<LayerSpec> written_as_graph(std::vector<LayerSpec> chain) {
  std::string before = "input";
  for (std::size_t k = 0; k < chain.size(); ++k) {
    chain[k] = seeing(chain[k], "entry" + std::to_string(k), {before});
    before = chain[k].node;
  }
  return chain;
}

}  // namespace mixcert::testing
