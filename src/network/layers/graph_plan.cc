// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Nodes of a list, residual blocks written out: S first, then F, then their sum.
#include "network/layers/graph_plan.h"

#include <algorithm>
#include <utility>

#include "mixcert/core/error.h"
#include "network/layers/layer_kind.h"

namespace mixcert {
namespace {

/// What a residual block ends with.
const LayerSpec& block_sum() {
  static const LayerSpec sum = AddSpec{};
  return sum;
}

}  // namespace

std::vector<LayerShape> entry_shapes(const std::vector<LayerSpec>& layers, const LayerShape& input) {
  const std::vector<std::vector<Index>> links = linked_entries(layers);
  std::vector<LayerShape> shapes;
  for (std::size_t k = 0; k < layers.size(); ++k) {
    std::vector<LayerShape> before;
    for (const Index from : links[k])
      before.push_back(from == kListInput ? input : shapes[static_cast<std::size_t>(from)]);
    shapes.push_back(layer_kind(layers[k])->shape_after(before));
  }
  return shapes;
}

GraphPlan::GraphPlan(const std::vector<LayerSpec>& layers, const LayerShape& input) : input_(input) {
  require(!layers.empty(), "network: expected at least one layer, got none");
  (void)add_list(layers, kListInput, &ends_);
  for (Index k = 0; k < size(); ++k) {
    for (const Index from : node(k).inputs)
      (from == kListInput ? input_last_use_ : nodes_[static_cast<std::size_t>(from)].last_use) = k;
  }
  nodes_.back().last_use = size();
}

Index GraphPlan::add_list(const std::vector<LayerSpec>& layers, Index input, std::vector<Index>* ends) {
  const std::vector<std::vector<Index>> links = linked_entries(layers);
  std::vector<Index> places;
  for (std::size_t k = 0; k < layers.size(); ++k) {
    std::vector<Index> inputs;
    for (const Index from : links[k])
      inputs.push_back(from == kListInput ? input : places[static_cast<std::size_t>(from)]);
    places.push_back(add_entry(layers[k], std::move(inputs)));
    if (ends != nullptr) ends->push_back(size());
  }
  return places.empty() ? input : places.back();
}

Index GraphPlan::add_entry(const LayerSpec& layer, std::vector<Index> inputs) {
  const auto* block = std::get_if<ResidualSpec>(&layer.variant());
  if (block == nullptr) return add_node(layer, title(layer), std::move(inputs));
  const Index before = inputs.front();
  (void)mixcert::shape_after(layer, shape(before));
  const Index skip = add_list(block->skip.layers, before);
  const Index inner = add_list(block->layers, before);
  return add_node(block_sum(), title(layer), {inner, skip});
}

Index GraphPlan::add_node(const LayerSpec& layer, std::string title, std::vector<Index> inputs) {
  PlanNode node{&layer, std::move(title), std::move(inputs), {}, 0};
  std::vector<LayerShape> before;
  for (const Index from : node.inputs) before.push_back(shape(from));
  node.shape = layer_kind(layer)->shape_after(before);
  nodes_.push_back(std::move(node));
  return size() - 1;
}

std::vector<LayerShape> GraphPlan::shapes_before(Index k) const {
  std::vector<LayerShape> shapes;
  for (const Index from : node(k).inputs) shapes.push_back(shape(from));
  return shapes;
}

Index GraphPlan::nodes_of(std::size_t entries) const { return entries == 0 ? 0 : ends_[entries - 1]; }

std::vector<Index> GraphPlan::live_at(Index cut) const {
  std::vector<Index> live;
  for (Index k = kListInput; k < cut; ++k) {
    if (last_use(k) >= cut) live.push_back(k);
  }
  return live;
}

double GraphPlan::most_passing(Index last) const {
  double live = static_cast<double>(input_.size()), most = 0.0;
  for (Index k = 0; k < last; ++k) {
    const std::vector<Index>& all = node(k).inputs;
    for (auto from = all.begin(); from != all.end(); ++from) {
      const bool is_first_look = std::find(all.begin(), from, *from) == from;
      if (is_first_look && last_use(*from) == k) live -= static_cast<double>(shape(*from).size());
    }
    most = std::max(most, live);
    live += static_cast<double>(node(k).shape.size());
  }
  return most;
}

}  // namespace mixcert
