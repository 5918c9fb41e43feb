// Licensed under the Apache License, Version 2.0; see LICENSE.
#include "support/random_graphs.h"

#include <cmath>
#include <string>
#include <utility>

#include "mixcert/core/rng.h"
#include "support/random_specs.h"

namespace mixcert::testing {
namespace {

class GraphMaker {
 public:
  GraphMaker(std::uint64_t seed, bool is_image, double noise)
      : generator_(make_generator(seed, Stream::Example, is_image ? 3001 : 3000)), noise_(noise) {
    input_ = is_image ? LayerShape{index(1, 2), {index(2, 4), index(2, 4)}, true}
                      : LayerShape{index(2, 4), {}, false};
    values_.push_back({"input", input_, true});
  }

  RandomGraph make() {
    add_affine(values_.front());  // tells the shape of the input
    for (Index i = index(3, 8); i > 0; --i) add_step();
    gather();
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
  LayerSpec activation() {
    static const std::vector<ActivationFunction> functions = {
        ActivationFunction::Relu, ActivationFunction::Tanh, ActivationFunction::LeakyRelu};
    return activation_spec(functions[static_cast<std::size_t>(index(0, 2))]);
  }

  Value any() { return values_[static_cast<std::size_t>(index(0, static_cast<Index>(values_.size()) - 1))]; }

  void add_step() {
    const Value one = any();
    switch (index(0, 6)) {
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
    const Value last = values_.back();
    add(dense(last.shape.size(), index(1, 2)), last);
  }

  Generator generator_;
  double noise_;
  LayerShape input_;
  std::vector<Value> values_;
  std::vector<LayerSpec> layers_;
};

}  // namespace

RandomGraph random_graph(std::uint64_t seed, bool is_image, double noise) {
  return GraphMaker(seed, is_image, noise).make();
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
