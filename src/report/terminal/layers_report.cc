// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The table of layers as a model file lists them: types, shapes, geometry, laws.
#include <fmt/format.h>

#include "core/text_table.h"
#include "mixcert/network/layer_spec.h"
#include "report/terminal/text_report.h"

namespace mixcert {
namespace {

/// "3" or "3 x 5".
std::string size_text(const Size2d& size) {
  return size.height == size.width ? std::to_string(size.height)
                                   : fmt::format("{} x {}", size.height, size.width);
}

/// What differs from the usual stride, padding and dilation.
std::string window_text(const Window2d& window, const Size2d& usual_stride) {
  std::string text = "kernel " + size_text(window.kernel);
  if (window.stride != usual_stride) text += ", stride " + size_text(window.stride);
  if (window.padding != Size2d{0, 0}) text += ", padding " + size_text(window.padding);
  if (window.dilation != Size2d{1, 1}) text += ", dilation " + size_text(window.dilation);
  return text;
}

/// What is particular to a layer.
class DetailWriter {
 public:
  std::string operator()(const DenseSpec& spec) const {
    const auto* law = std::get_if<MeanFieldWeights>(&spec.layer.weights());
    const std::string family(family_name(spec.layer.weights()));
    return law == nullptr || law->law.is_normal() ? family : family + ", " + law->law.name();
  }
  std::string operator()(const Conv2dSpec& spec) const {
    const std::string groups = spec.groups == 1 ? "" : ", groups " + std::to_string(spec.groups);
    const std::string law = is_deterministic(spec) ? "deterministic" : "mean-field";
    return law + ", " + window_text(spec.window, {1, 1}) + groups;
  }
  std::string operator()(const AvgPool2dSpec& spec) const {
    return window_text(spec.window, spec.window.kernel);
  }
  std::string operator()(const MaxPool2dSpec& spec) const {
    return window_text(spec.window, spec.window.kernel);
  }
  std::string operator()(const BatchNormSpec& spec) const { return "epsilon " + short_number(spec.epsilon); }
  std::string operator()(const ActivationSpec& spec) const {
    return std::string(to_string(spec.activation.function()));
  }
  std::string operator()(const DropoutSpec& spec) const { return "rate " + short_number(spec.rate); }
  std::string operator()(const GaussianDropoutSpec& spec) const { return "rate " + short_number(spec.rate); }
  std::string operator()(const GaussianNoiseSpec& spec) const {
    return "std " + short_number(spec.deviation);
  }
  std::string operator()(const ResidualSpec& spec) const {
    return counted(static_cast<Index>(spec.layers.size()), "layer");
  }
  std::string operator()(const MixtureSpec& spec) const {
    return counted(static_cast<Index>(spec.alternatives.size()), "alternative");
  }
  std::string operator()(const FlattenSpec& /*spec*/) const { return ""; }
};

/// Numbers that the file holds for a layer.
class ParameterCounter {
 public:
  Index operator()(const DenseSpec& spec) const { return spec.layer.parameter_count(); }
  Index operator()(const Conv2dSpec& spec) const {
    return spec.kernel_mean.size() + spec.kernel_variance.size() + spec.bias_mean.size() +
           spec.bias_variance.size();
  }
  Index operator()(const BatchNormSpec& spec) const { return 4 * spec.weight.size(); }
  Index operator()(const auto& /*inner layers have their own rows*/) const { return 0; }
};

class LayerRows {
 public:
  void add(const std::vector<LayerSpec>& layers, LayerShape shape, const std::string& prefix) {
    for (std::size_t i = 0; i < layers.size(); ++i) {
      const LayerSpec& spec = layers[i];
      const std::string position = prefix + std::to_string(i);
      const LayerShape after = shape_after(spec, shape);
      const Index parameters = std::visit(ParameterCounter(), spec.variant());
      text_ +=
          table_.row({position, title(spec), to_string(after), std::visit(DetailWriter(), spec.variant()),
                      parameters > 0 ? std::to_string(parameters) : "-"});
      if (const auto* residual = std::get_if<ResidualSpec>(&spec.variant())) {
        add(residual->layers, shape, position + ".");
      }
      if (const auto* mixture = std::get_if<MixtureSpec>(&spec.variant())) {
        add_alternatives(*mixture, shape, position + ".");
      }
      shape = after;
    }
  }
  [[nodiscard]] std::string text() const { return table_.header() + text_; }

 private:
  /// Each has the input of the mixture, unlike layers that follow each other.
  void add_alternatives(const MixtureSpec& mixture, const LayerShape& shape, const std::string& prefix) {
    for (std::size_t i = 0; i < mixture.alternatives.size(); ++i) {
      const DenseSpec& choice = mixture.alternatives[i];
      text_ += table_.row({prefix + std::to_string(i), title(choice), to_string(shape_after(choice, shape)),
                           DetailWriter()(choice) + ", weight " + short_number(mixture.weights[i]),
                           std::to_string(choice.layer.parameter_count())});
    }
  }

  TextTable table_{{{"position", 8}, {"type", 24}, {"output", 14}, {"details", 44}, {"numbers", 10}}};
  std::string text_;
};

}  // namespace

std::string layers_text(const std::vector<LayerSpec>& layers) {
  const LayerShape input = input_shape(layers);
  LayerRows rows;
  rows.add(layers, input, "");
  return "layers of the file, on an input of " + to_string(input) + "\n" + rows.text();
}

}  // namespace mixcert
