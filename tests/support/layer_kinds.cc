// Licensed under the Apache License, Version 2.0; see LICENSE.
#include "support/layer_kinds.h"

#include <functional>
#include <string>
#include <utility>

#include "mixcert/network/network_builder.h"
#include "support/random_network.h"
#include "support/random_specs.h"

namespace mixcert::testing {
namespace {

/// Layers one after the other, from an image of 6 x 6 or from 6 features.
class Stack {
 public:
  Stack(std::uint64_t seed, bool is_image) : generator_(make_generator(seed, Stream::Example, 270)) {
    shape_.channels = is_image ? 1 : 6;
    if (is_image) shape_.image = {6, 6};
    shape_.is_image = is_image;
    input_ = random_vector(generator_, shape_.size());
  }

  Stack& add(LayerSpec spec) {
    shape_ = shape_after(spec, shape_);
    layers_.push_back(std::move(spec));
    return *this;
  }
  Stack& dense(Index outputs, double deviation, WeightFamily family = WeightFamily::MeanField) {
    return add(DenseSpec{layer(outputs, deviation, family)});
  }
  Stack& mixture(Index outputs, double deviation) {
    const DenseLayer one = layer(outputs, deviation, WeightFamily::MeanField);
    const DenseLayer other = layer(outputs, deviation, WeightFamily::MeanField);
    return add(MixtureSpec{{0.25, 0.75}, {{one}, {other}}});
  }
  Stack& convolution(bool stochastic) {
    return add(same_convolution(generator_, shape_, stochastic, name()));
  }
  Stack& batch_norm() { return add(random_batch_norm(generator_, shape_.channels, name())); }
  Stack& residual(bool stochastic) {
    return add(ResidualSpec{{activation_spec(ActivationFunction::Relu),
                             same_convolution(generator_, shape_, stochastic, name())}});
  }
  Stack& relu() { return add(activation_spec(ActivationFunction::Relu)); }
  Stack& gelu() { return add(activation_spec(ActivationFunction::Gelu)); }

  [[nodiscard]] Ensemble ensemble() const { return build_ensemble(layers_); }
  [[nodiscard]] const Vector& input() const { return input_; }

 private:
  std::string name() { return "layer" + std::to_string(count_++); }
  DenseLayer layer(Index outputs, double deviation, WeightFamily family) {
    return random_layer(generator_,
                        {deviation > 0.0 ? family : WeightFamily::Deterministic,
                         deviation > 0.0 ? BiasFamily::Independent : BiasFamily::Deterministic, shape_.size(),
                         outputs, 1.0, deviation},
                        name());
  }

  Generator generator_;
  LayerShape shape_;
  Vector input_;
  std::vector<LayerSpec> layers_;
  int count_ = 0;
};

/// 2 x 2, side by side.
Window2d halving() {
  Window2d window;
  window.kernel = window.stride = {2, 2};
  return window;
}

struct Case {
  const char* name;
  bool is_image;
  std::function<void(Stack&)> build;
  bool has_density = true;
  double tolerance = 0.02;
};

const std::vector<Case>& cases() {
  static const std::vector<Case> all = {
      {"dense", false, [](Stack& s) { s.dense(40, 0.2).relu().dense(3, 0.2); }},
      {"dense, two hidden layers", false,
       [](Stack& s) { s.dense(40, 0.2).relu().dense(40, 0.2).relu().dense(3, 0.2); }},
      {"dropout, weights fixed", false,
       [](Stack& s) { s.dense(50, 0.0).gelu().add(DropoutSpec{0.5}).dense(3, 0.0); }, false},
      {"dropout, random weights", false,
       [](Stack& s) { s.dense(50, 0.2).gelu().add(DropoutSpec{0.5}).dense(3, 0.2); }},
      {"dropout at two hidden layers, weights fixed", false,
       [](Stack& s) {
         s.dense(50, 0.0).gelu().add(DropoutSpec{0.25}).dense(50, 0.0).gelu().add(DropoutSpec{0.25});
         s.dense(3, 0.0);
       },
       false},
      {"dropout at two hidden layers, random weights", false,
       [](Stack& s) {
         s.dense(50, 0.2).relu().add(DropoutSpec{0.25}).dense(50, 0.2).relu().add(DropoutSpec{0.25});
         s.dense(3, 0.2);
       }},
      {"convolutions in front of a dropout head", true,
       [](Stack& s) {
         s.convolution(false).relu().add(MaxPool2dSpec{halving()}).add(FlattenSpec{});
         s.dense(40, 0.0).relu().add(DropoutSpec{0.5}).dense(3, 0.0);
       },
       false},
      {"Gaussian dropout", false,
       [](Stack& s) { s.dense(40, 0.2).relu().add(GaussianDropoutSpec{0.3}).dense(3, 0.2); }},
      {"Gaussian noise", false,
       [](Stack& s) { s.dense(40, 0.2).relu().add(GaussianNoiseSpec{0.3}).dense(3, 0.2); }},
      {"random convolution and average pool", true,
       [](Stack& s) {
         s.convolution(true).relu().add(AvgPool2dSpec{halving()}).add(FlattenSpec{});
         s.dense(3, 0.2);
       }},
      {"batch norm behind a random convolution", true,
       [](Stack& s) { s.convolution(true).batch_norm().relu().add(FlattenSpec{}).dense(3, 0.2); }},
      // All neurons of two layers are functions of ten random numbers: far from jointly Gaussian.
      {"residual block", true,
       [](Stack& s) { s.convolution(true).residual(false).relu().add(FlattenSpec{}).dense(3, 0.2); }},
      {"residual block, two random convolutions", true,
       [](Stack& s) { s.convolution(true).residual(true).relu().add(FlattenSpec{}).dense(3, 0.2); }},
      {"one of two layers", false, [](Stack& s) { s.dense(40, 0.2).relu().mixture(3, 0.2); }},
      {"Kronecker", false,
       [](Stack& s) {
         s.dense(40, 0.2, WeightFamily::Kronecker).relu().dense(3, 0.2, WeightFamily::Kronecker);
       }},
      {"full covariance", false,
       [](Stack& s) { s.dense(20, 0.2, WeightFamily::Full).relu().dense(3, 0.2, WeightFamily::Full); }},
  };
  return all;
}

}  // namespace

std::vector<LayerKindCase> layer_kind_cases(std::uint64_t seed) {
  std::vector<LayerKindCase> made;
  for (const Case& one : cases()) {
    Stack stack(seed, one.is_image);
    one.build(stack);
    made.push_back({one.name, stack.ensemble(), stack.input(), one.has_density, one.tolerance});
  }
  return made;
}

}  // namespace mixcert::testing
