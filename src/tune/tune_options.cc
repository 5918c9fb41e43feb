// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// A prior as one vector, and the table of options of prior selection.
#include "mixcert/tune/tune_options.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "core/normal.h"
#include "mixcert/core/error.h"
#include "mixcert/core/option_table.h"
#include "mixcert/core/rng.h"
#include "quantize/signature.h"

namespace mixcert {

// Layout of the vector, layer by layer: weight variances, bias variances, weight means, bias means. A change
// of a logarithm by dt changes the variance v by v dt.

namespace {

constexpr std::size_t kMostLayers = 64;
constexpr Index kWidest = 65536;

}  // namespace

std::vector<Index> parse_architecture(const std::string& text) {
  std::vector<Index> widths;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find('-', begin), text.size());
    const auto width = parse_number<Index>(std::string_view(text).substr(begin, end - begin));
    require(width.has_value() && *width >= 1 && *width <= kWidest,
            "architecture: expected sizes from input to output such as 1-128-128-1, got '" + text + "'");
    widths.push_back(*width);
    require(widths.size() <= kMostLayers, "architecture: expected at most " + std::to_string(kMostLayers) +
                                              " sizes, got more in '" + text + "'");
    begin = end + 1;
  }
  require(widths.size() >= 2, "architecture: expected at least inputs and outputs, got '" + text + "'");
  return widths;
}

PriorParameters::PriorParameters(std::vector<Index> widths, Activation activation, PriorForm form,
                                 TunedMeans means)
    : widths_(std::move(widths)), activation_(activation), form_(form), means_(means) {
  for (std::size_t k = 0; k + 1 < widths_.size(); ++k) {
    const Index out = widths_[k + 1];
    Place place;
    const auto take = [this](Index count) { return std::exchange(size_, size_ + count); };
    place.weight_variance = take(variance_groups(static_cast<Index>(k)));
    place.bias_variance = take(form_ == PriorForm::PerLayer ? 1 : out);
    place.weight_mean = take(means_ == TunedMeans::All ? out * widths_[k] : 0);
    place.bias_mean = take(means_ == TunedMeans::None ? 0 : out);
    places_.push_back(place);
  }
}

Index PriorParameters::variance_groups(Index k) const {
  const auto at = static_cast<std::size_t>(k);
  if (form_ == PriorForm::PerLayer) return 1;
  return form_ == PriorForm::PerNeuron ? widths_[at + 1] : widths_[at + 1] * widths_[at];
}

Index PriorParameters::group_of(Index k, Index row, Index column) const {
  if (form_ == PriorForm::PerLayer) return 0;
  return form_ == PriorForm::PerNeuron ? row : row * widths_[static_cast<std::size_t>(k)] + column;
}

Vector PriorParameters::isotropic(double variance, bool by_fan_in) const {
  Vector parameters = Vector::Zero(size_);
  for (std::size_t k = 0; k < places_.size(); ++k) {
    const double fan_in = by_fan_in ? static_cast<double>(widths_[k]) : 1.0;
    const Index groups = variance_groups(static_cast<Index>(k));
    parameters.segment(places_[k].weight_variance, groups).setConstant(std::log(variance / fan_in));
    const Index biases = form_ == PriorForm::PerLayer ? 1 : widths_[k + 1];
    parameters.segment(places_[k].bias_variance, biases).setConstant(std::log(variance));
  }
  return parameters;
}

Vector PriorParameters::start(double jitter, std::uint64_t seed) const {
  Vector parameters = isotropic(1.0, true);
  Generator generator = make_generator(seed, Stream::Tuning);
  for (std::size_t k = 0; k < places_.size(); ++k) {
    const Index first = places_[k].weight_variance;
    const Index last = places_[k].bias_variance + (form_ == PriorForm::PerLayer ? 1 : widths_[k + 1]);
    for (Index i = first; i < last; ++i) {
      // By its quantile: the standard library's normal numbers differ between libraries.
      parameters(i) += jitter * normal_quantile(std::max(uniform(generator), 0x1.0p-53));
    }
  }
  return parameters;
}

Network PriorParameters::network(ConstVectorRef parameters) const {
  require(parameters.size() == size_, "prior: expected " + std::to_string(size_) + " parameters, got " +
                                          std::to_string(parameters.size()));
  std::vector<DenseLayer> layers;
  std::vector<ActivationMap> activations;
  for (std::size_t k = 0; k < places_.size(); ++k) {
    const Place& place = places_[k];
    const Index out = widths_[k + 1];
    const Index in = widths_[k];
    const Matrix variance = Matrix::NullaryExpr(out, in, [&](Index i, Index j) {
      return std::exp(parameters(place.weight_variance + group_of(static_cast<Index>(k), i, j)));
    });
    const Vector bias_variance = Vector::NullaryExpr(
        out, [&](Index i) { return std::exp(parameters(place.bias_variance + bias_group_of(i))); });
    Matrix mean = Matrix::Zero(out, in);
    if (means_ == TunedMeans::All) mean = parameters.segment(place.weight_mean, out * in).reshaped(out, in);
    Vector bias_mean = Vector::Zero(out);
    if (means_ != TunedMeans::None) bias_mean = parameters.segment(place.bias_mean, out);
    layers.emplace_back("layer" + std::to_string(k), std::move(mean), std::move(bias_mean),
                        MeanFieldWeights{variance}, IndependentBias{bias_variance});
    activations.emplace_back(k == 0 ? Activation() : activation_);
  }
  return {std::move(layers), std::move(activations)};
}

Vector PriorParameters::gradient(ConstVectorRef parameters, const NetworkGradient& gradient) const {
  Vector result = Vector::Zero(size_);
  for (std::size_t k = 0; k < places_.size(); ++k) {
    const Place& place = places_[k];
    const LayerGradient& layer = gradient[k];
    for (Index j = 0; j < layer.weight_variance.cols(); ++j) {
      for (Index i = 0; i < layer.weight_variance.rows(); ++i) {
        const Index at = place.weight_variance + group_of(static_cast<Index>(k), i, j);
        result(at) += layer.weight_variance(i, j) * std::exp(parameters(at));
      }
    }
    for (Index i = 0; i < layer.bias_variance.size(); ++i) {
      const Index at = place.bias_variance + bias_group_of(i);
      result(at) += layer.bias_variance(i) * std::exp(parameters(at));
    }
    if (means_ == TunedMeans::All) {
      result.segment(place.weight_mean, layer.weight_mean.size()) = layer.weight_mean.reshaped();
    }
    if (means_ != TunedMeans::None) result.segment(place.bias_mean, layer.bias_mean.size()) = layer.bias_mean;
  }
  return result;
}

namespace {

using O = TuneOptions;

std::vector<std::pair<ActivationFunction, std::string>> activation_names() {
  std::vector<std::pair<ActivationFunction, std::string>> names;
  for (const ActivationFunction function : all_activation_functions()) {
    names.emplace_back(function, to_string(function));
  }
  return names;
}

OptionTable<O> make_table() {
  return {
      text_option("arch", &O::arch, "N-N-...", "sizes of layers, inputs first",
                  "sizes from inputs to outputs", [](const std::string& text) { parse_architecture(text); }),
      choice_option("activation", &O::activation, activation_names(), "of the hidden layers"),
      choice_option("prior", &O::prior,
                    {{PriorForm::PerLayer, "per-layer"},
                     {PriorForm::PerNeuron, "per-neuron"},
                     {PriorForm::PerWeight, "per-weight"}},
                    "which weights share a variance"),
      choice_option("means", &O::means,
                    {{TunedMeans::None, "none"}, {TunedMeans::Biases, "biases"}, {TunedMeans::All, "all"}},
                    "which means are tuned; the others are 0"),
      choice_option("method", &O::method, {{Method::Moment, "moment"}, {Method::Signature, "signature"}},
                    "how the network's law is approximated and bounded"),
      range_option("beta", &O::beta, 0.0, 1.0, "weight of the certified bound; the distance has the rest",
                   true),
      integer_option<O, Index>("batch", &O::batch, 1, 10000, "inputs of a step"),
      integer_option<O, Index>("steps", &O::steps, 1, 1'000'000, "steps of Adam"),
      real_option("learning-rate", &O::learning_rate, 0.0, "of Adam at the start; falls to 0 along a cosine"),
      range_option("jitter", &O::jitter, 0.0, 10.0, "deviation of the logarithms of variances at the start"),
      integer_option<O, Index>("signature-size", &O::signature_size, 1, kMaxGridSize,
                               "grid points per component (method signature)"),
      integer_option<O, Index>("components", &O::components, 0, kMaxGridSize,
                               "components kept by compression (method signature); 0: all"),
      integer_option<O, Index>("held-out", &O::held_out, 1, 1000,
                               "inputs left out of the steps, to judge by"),
      integer_option<O, std::uint64_t>("seed", &O::seed, 0, std::numeric_limits<std::uint64_t>::max(),
                                       "of start, batches and estimates"),
  };
}

}  // namespace

const OptionTable<TuneOptions>& tune_option_table() {
  static const OptionTable<TuneOptions> table = make_table();
  return table;
}

void TuneOptions::validate() const {
  TuneOptions copy = *this;
  for (const auto& field : tune_option_table()) field.set(copy, field.get(*this));
  require(parse_architecture(arch).size() >= 3, "option --arch: expected a hidden layer, got '" + arch + "'");
}

ObjectiveOptions TuneOptions::objective() const { return {method, beta, signature_size, components, seed}; }

PriorParameters TuneOptions::parameters() const {
  return {parse_architecture(arch), Activation(activation), prior, means};
}

}  // namespace mixcert
