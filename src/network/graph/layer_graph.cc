// Licensed under the Apache License, Version 2.0; see LICENSE.
#include "network/graph/layer_graph.h"

#include <algorithm>
#include <utility>

#include "core/overloaded.h"
#include "mixcert/core/error.h"
#include "network/layers/layer_kind.h"
#include "network/layers/window_taps.h"

namespace mixcert {
namespace {

/// A file of a few numbers may name layers of any size.
constexpr double kMostDrawBytes = 0x1.0p31, kDrawsAtOnce = 4.0;

}  // namespace

Index GraphNode::random_count() const {
  return std::visit(
      Overloaded{[](const AffineNode& node) { return node.layer->normals(); },
                 [&](const MaskNode& node) { return size / node.together; },
                 [](const OneOf<InputNode, ActivationNode, MaximumNode, SumNode, ConcatNode> auto&) {
                   return Index{0};
                 }},
      work);
}

LayerGraph::LayerGraph(std::vector<GraphNode> nodes) : nodes_(std::move(nodes)), last_use_(nodes_.size()) {
  for (std::size_t k = 0; k < nodes_.size(); ++k) {
    for (const Index before : nodes_[k].from)
      last_use_[static_cast<std::size_t>(before)] = static_cast<Index>(k);
  }
  last_use_.back() = size();  // the output is kept
}

bool LayerGraph::is_random() const {
  return std::any_of(nodes_.begin(), nodes_.end(),
                     [](const GraphNode& node) { return node.random_count() > 0; });
}

bool LayerGraph::has_masks() const {
  return std::any_of(nodes_.begin(), nodes_.end(),
                     [](const GraphNode& node) { return std::holds_alternative<MaskNode>(node.work); });
}

bool LayerGraph::has_jumps() const {
  return std::any_of(nodes_.begin(), nodes_.end(), [](const GraphNode& node) {
    const auto* own = std::get_if<MaskNode>(&node.work);
    return own != nullptr && own->jumps();
  });
}

bool LayerGraph::has_own_noise() const {
  return std::any_of(nodes_.begin(), nodes_.end(), [](const GraphNode& node) {
    const auto* affine = std::get_if<AffineNode>(&node.work);
    return affine != nullptr && affine->layer->is_noise();
  });
}

bool LayerGraph::has_canonical_form() const {
  Index needed = 0;  // the last node that looks at those met so far
  for (Index k = 0; k < size(); ++k) {
    const auto* mask = std::get_if<MaskNode>(&node(k).work);
    if (mask != nullptr && (mask->together > 1 || needed > k)) return false;
    needed = std::max(needed, last_use(k));
  }
  return true;
}

double LayerGraph::written_out() const {
  double sum = 0.0;
  double live = 0.0;  // values of nodes met so far that this one or a later one looks at
  for (Index k = 0; k < size(); ++k) {
    const GraphNode& own = node(k);
    for (auto j = own.from.begin(); j != own.from.end(); ++j) {
      const bool is_first_look = std::find(own.from.begin(), j, *j) == j;
      if (is_first_look && last_use(*j) == k) live -= static_cast<double>(node(*j).size);
    }
    if (const auto* affine = std::get_if<AffineNode>(&own.work)) {
      const auto inputs = static_cast<double>(affine->layer->inputs());
      const bool is_seen_again = last_use(own.from.front()) > k;
      // Rows and columns of what passes; the input's own columns are there once.
      sum += (static_cast<double>(affine->layer->outputs()) + live) * (is_seen_again ? live : inputs + live);
    }
    live += static_cast<double>(own.size);
  }
  return sum;
}

Index LayerGraph::nonlinear_count() const {
  return std::count_if(nodes_.begin(), nodes_.end(), [](const GraphNode& node) {
    return std::holds_alternative<ActivationNode>(node.work) ||
           std::holds_alternative<MaximumNode>(node.work);
  });
}

bool LayerGraph::has_shared_noise() const {
  return std::any_of(nodes_.begin(), nodes_.end(), [](const GraphNode& node) {
    if (const auto* affine = std::get_if<AffineNode>(&node.work)) return affine->layer->has_shared_weights();
    const auto* mask = std::get_if<MaskNode>(&node.work);
    return mask != nullptr && mask->together > 1;
  });
}

void check_draw_bytes(const std::string& who, double numbers) {
  const double bytes = kDrawsAtOnce * sizeof(double) * numbers;
  if (bytes <= kMostDrawBytes) return;
  throw ResourceError(who + ": draws of it need " + std::to_string(static_cast<long long>(bytes / 0x1.0p20)) +
                      " MiB, more than " + std::to_string(static_cast<long long>(kMostDrawBytes / 0x1.0p20)));
}

GraphBuilder::GraphBuilder(const LayerShape& input) : shape_(input) {
  check_draw_bytes("network", static_cast<double>(input.size()));
  nodes_.push_back({"input", {}, input.size(), InputNode{}});
}

void GraphBuilder::see(std::string title, std::vector<Index> nodes, const LayerShape& shape) {
  title_ = std::move(title);
  seen_ = std::move(nodes);
  current_ = seen_.front();
  shape_ = shape;
}

void GraphBuilder::append(GraphNode node) {
  check_draw_bytes(node.title, static_cast<double>(node.size));
  nodes_.push_back(std::move(node));
  current_ = static_cast<Index>(nodes_.size()) - 1;
}

void GraphBuilder::affine(const std::string& title, OperatorPointer layer) {
  const Index size = layer->outputs();
  append({title, {current_}, size, AffineNode{std::move(layer)}});
}

void GraphBuilder::activation(const std::string& title, const Activation& activation) {
  append({title, {current_}, shape_.size(), ActivationNode{activation}});
}

void GraphBuilder::maximum(const std::string& title, const Window2d& window) {
  MaximumNode node{window_pixels(window, shape_.image), shape_.positions()};
  const Index size = shape_.channels * static_cast<Index>(node.windows.size());
  append({title, {current_}, size, std::move(node)});
}

void GraphBuilder::mask(const std::string& title, const Mask& mask, Index together) {
  if (mask.is_none()) return;
  append({title, {current_}, shape_.size(), MaskNode{mask, together}});
}

void GraphBuilder::sum() { append({title_, seen_, shape_.size(), SumNode{}}); }

void GraphBuilder::concat() {
  Index size = 0;
  for (const Index node : seen_) size += nodes_[static_cast<std::size_t>(node)].size;
  append({title_, seen_, size, ConcatNode{}});
}

LayerGraph GraphBuilder::finish() && {
  // Values that are seen twice at the end of a network would be no output of their own.
  require(current_ == static_cast<Index>(nodes_.size()) - 1, "network: expected the last layer at the end");
  return LayerGraph(std::move(nodes_));
}

std::string graph_refusal(const std::vector<LayerSpec>& layers) {
  for (const LayerSpec& layer : layers) {
    const LayerKindPointer own = layer_kind(layer);
    if (const auto* dense = std::get_if<DenseSpec>(&layer.variant());
        dense != nullptr && !has_operator(dense->layer))
      return own->title() + " has weights that are not independent and Gaussian";
    if (const auto* block = std::get_if<ResidualSpec>(&layer.variant())) {
      for (const auto* list : {&block->layers, &block->skip.layers}) {
        if (std::string inner = graph_refusal(*list); !inner.empty()) return inner;
      }
    }
    if (std::holds_alternative<MixtureSpec>(layer.variant())) return own->title() + " is not chosen yet";
  }
  return "";
}

LayerGraph build_graph(const GraphPlan& plan, Index first, const InputNoise::Component* noise) {
  const std::vector<Index> live = plan.live_at(first);
  Index total = 0;
  for (const Index k : live) total += plan.shape(k).size();
  const LayerShape input = live.size() == 1 ? plan.shape(live.front()) : LayerShape{total, {}, false};
  check_draw_bytes("values that pass other layers", plan.most_passing(plan.size()));
  GraphBuilder builder(input);
  if (noise != nullptr) {
    const auto& law = std::get<IndependentBias>(noise->law);
    const Vector none = Vector::Zero(input.size());
    builder.affine("input noise",
                   noise_operator(law.variance.cwiseSqrt(), noise->offset.size() > 0 ? noise->offset : none));
  }
  std::vector<Index> places(static_cast<std::size_t>(plan.size()) + 1);  // of kListInput, then of nodes
  const auto place = [&](Index k) -> Index& { return places[static_cast<std::size_t>(k + 1)]; };
  Index begin = 0;
  for (const Index k : live) {
    const Index size = plan.shape(k).size();
    if (live.size() > 1) {
      builder.see("features", {0}, input);
      builder.affine("features", slice_operator(total, begin, size));
    }
    place(k) = builder.current();
    begin += size;
  }
  for (Index k = first; k < plan.size(); ++k) {
    const PlanNode& node = plan.node(k);
    std::vector<Index> nodes;
    for (const Index from : node.inputs) nodes.push_back(place(from));
    check_draw_bytes(node.title, static_cast<double>(node.shape.size()));
    builder.see(node.title, std::move(nodes), plan.shape(node.inputs.front()));
    layer_kind(*node.layer)->add_to(builder);
    place(k) = builder.current();
  }
  return std::move(builder).finish();
}

LayerGraph build_graph(const std::vector<LayerSpec>& layers) {
  require(!layers.empty(), "network: expected at least one layer, got none");
  return build_graph(GraphPlan(layers, input_shape(layers)), 0);
}

LayerGraph with_combined_output(const LayerGraph& graph, const Vector& weights) {
  std::vector<GraphNode> nodes;
  for (Index k = 0; k < graph.size(); ++k) nodes.push_back(graph.node(k));
  const DenseLayer row("functional", weights.transpose(), Vector::Zero(1), DeterministicWeights{},
                       DeterministicBias{});
  nodes.push_back({"functional", {graph.size() - 1}, 1, AffineNode{dense_operator(row)}});
  return LayerGraph(std::move(nodes));
}

}  // namespace mixcert
