// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The table of layers as a model file lists them: types, shapes, geometry, laws.
#include <algorithm>

#include "core/text_table.h"
#include "network/layers/graph_plan.h"
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

/// Does an entry, or one inside it, name what it sees?
bool names_inputs(const std::vector<LayerSpec>& layers) {
  return std::any_of(layers.begin(), layers.end(), [](const LayerSpec& layer) {
    const LayerKindPointer kind = layer_kind(layer);
    const InnerLayers inner = kind->inner();
    return !layer.inputs.empty() || std::any_of(inner.lists.begin(), inner.lists.end(),
                                                [](const auto* list) { return names_inputs(*list); });
  });
}

std::string joined_names(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text.empty() ? "-" : text;
}

class LayerRows {
 public:
  explicit LayerRows(bool has_inputs) : has_inputs_(has_inputs), table_(columns(has_inputs)) {}

  /// The entries of a list that sees `input`, counted from `first`; returns how many there are.
  std::size_t add(const std::vector<LayerSpec>& layers, const LayerShape& input, const std::string& prefix,
                  std::size_t first) {
    const std::vector<std::vector<Index>> links = linked_entries(layers);
    const std::vector<LayerShape> shapes =
        layers.empty() ? std::vector<LayerShape>() : entry_shapes(layers, input);
    for (std::size_t i = 0; i < layers.size(); ++i) {
      const LayerKindPointer layer = layer_kind(layers[i]);
      const Index from = links[i].front();
      const LayerShape& before = from == kListInput ? input : shapes[static_cast<std::size_t>(from)];
      const std::string place = prefix + std::to_string(first + i);
      add_row(*layer, shapes[i], place, joined_names(layers[i].inputs), {});
      add_inner(layer->inner(), before, place + ".");
    }
    return layers.size();
  }
  [[nodiscard]] std::string text() const { return table_.header() + text_; }

 private:
  static std::vector<Column> columns(bool has_inputs) {
    std::vector<Column> all = {
        {"position", 8}, {"type", 24}, {"output", 14}, {"details", 44}, {"numbers", 10}};
    if (has_inputs) all.insert(all.begin() + 2, {"inputs", 20});
    return all;
  }

  void add_inner(const InnerLayers& inner, const LayerShape& before, const std::string& prefix) {
    std::size_t count = 0;
    for (const auto* list : inner.lists) count += add(*list, before, prefix, count);
    for (std::size_t i = 0; i < inner.weights.size(); ++i) {
      const LayerKind& one = *inner.layers[i];
      add_row(one, one.shape_after({before}), prefix + std::to_string(i), "-",
              {{"weight", inner.weights[i]}});
    }
  }

  void add_row(const LayerKind& layer, const LayerShape& after, const std::string& position,
               const std::string& inputs, const std::vector<LayerDetail>& more) {
    const Index numbers = layer.tensors().count();
    std::vector<std::string> cells = {position, layer.title(), to_string(after), details_text(layer, more),
                                      numbers > 0 ? std::to_string(numbers) : "-"};
    if (has_inputs_) cells.insert(cells.begin() + 2, inputs);
    text_ += table_.row(cells);
  }

  bool has_inputs_;
  TextTable table_;
  std::string text_;
};

}  // namespace

std::string layers_text(const std::vector<LayerSpec>& layers) {
  const LayerShape input = input_shape(layers);
  LayerRows rows(names_inputs(layers));
  rows.add(layers, input, "", 0);
  return "layers of the file, on an input of " + to_string(input) + "\n" + rows.text();
}

}  // namespace mixcert
