// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The table of layers as a model file lists them: types, shapes, geometry, laws.
#include "core/text_table.h"
#include "network/layers/layer_kind.h"
#include "report/terminal/text_report.h"

namespace mixcert {
namespace {

/// What is particular to a layer; `more` is appended.
std::string details_text(const LayerKind& layer, const std::vector<LayerDetail>& more) {
  std::vector<LayerDetail> details = layer.details();
  details.insert(details.end(), more.begin(), more.end());
  std::string text;
  for (const LayerDetail& detail : details) {
    if (!text.empty()) text += ", ";
    text += detail.number ? detail.words + " " + short_number(*detail.number) : detail.words;
  }
  return text;
}

class LayerRows {
 public:
  void add(const std::vector<LayerSpec>& layers, LayerShape shape) {
    for (std::size_t i = 0; i < layers.size(); ++i) {
      shape = add(*layer_kind(layers[i]), shape, std::to_string(i), {});
    }
  }
  [[nodiscard]] std::string text() const { return table_.header() + text_; }

 private:
  /// The layer and those inside it; returns the shape behind it.
  LayerShape add(const LayerKind& layer, const LayerShape& before, const std::string& position,
                 const std::vector<LayerDetail>& more) {
    const LayerShape after = layer.shape_after(before);
    const Index numbers = layer.tensors().count();
    text_ += table_.row({position, layer.title(), to_string(after), details_text(layer, more),
                         numbers > 0 ? std::to_string(numbers) : "-"});
    const InnerLayers inner = layer.inner();
    LayerShape shape = before;
    for (std::size_t i = 0; i < inner.layers.size(); ++i) {
      const std::string place = position + "." + std::to_string(i);
      // Each alternative has the input of the whole, unlike layers that follow each other.
      if (inner.weights.empty()) {
        shape = add(*inner.layers[i], shape, place, {});
      } else {
        add(*inner.layers[i], before, place, {{"weight", inner.weights[i]}});
      }
    }
    return after;
  }

  TextTable table_{{{"position", 8}, {"type", 24}, {"output", 14}, {"details", 44}, {"numbers", 10}}};
  std::string text_;
};

}  // namespace

std::string layers_text(const std::vector<LayerSpec>& layers) {
  const LayerShape input = input_shape(layers);
  LayerRows rows;
  rows.add(layers, input);
  return "layers of the file, on an input of " + to_string(input) + "\n" + rows.text();
}

}  // namespace mixcert
