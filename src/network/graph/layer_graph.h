// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// A network as a graph of layers that keep their structure, docs/theory/graphs.md: affine operators,
// activations, maxima, masks, sums and concatenations of branches. Nothing is written out as a matrix, so
// that convolutional networks of real size fit; what propagates laws through every layer needs the canonical
// network (network.h).
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "mixcert/network/input_noise.h"
#include "mixcert/network/layer_spec.h"
#include "mixcert/network/network.h"
#include "network/graph/affine_operator.h"
#include "network/layers/graph_plan.h"

namespace mixcert {

// What a node does with the values of those in front of it.

struct InputNode {};
struct AffineNode {
  OperatorPointer layer;
};
struct ActivationNode {
  Activation activation;
};
/// The largest of the pixels of each window, in every channel.
struct MaximumNode {
  std::vector<std::vector<Index>> windows;
  Index pixels = 0;  ///< of a channel in front
};
/// Factors of mean one; neurons [i n, (i+1) n) have one in common, n = `together`.
struct MaskNode {
  Mask mask;
  Index together = 1;

  /// A mask that drops: its factors jump where normals change.
  [[nodiscard]] bool jumps() const { return mask.kind() != Mask::Kind::Gaussian; }
};
/// Of two nodes or more.
struct SumNode {};
/// Two nodes or more, one after the other.
struct ConcatNode {};

using NodeWork =
    std::variant<InputNode, AffineNode, ActivationNode, MaximumNode, MaskNode, SumNode, ConcatNode>;

struct GraphNode {
  std::string title;        ///< of the layer that it stands for
  std::vector<Index> from;  ///< earlier nodes
  Index size = 0;           ///< of its values
  NodeWork work;

  /// Random numbers of one draw: normals of an affine layer, factors of a mask.
  [[nodiscard]] Index random_count() const;
};

/// In topological order; the first node is the input, the last one the output.
class LayerGraph {
 public:
  explicit LayerGraph(std::vector<GraphNode> nodes);

  [[nodiscard]] Index size() const { return static_cast<Index>(nodes_.size()); }
  [[nodiscard]] const GraphNode& node(Index k) const { return nodes_[static_cast<std::size_t>(k)]; }
  [[nodiscard]] Index inputs() const { return nodes_.front().size; }
  [[nodiscard]] Index outputs() const { return nodes_.back().size; }
  /// The last node that looks at node k: its values may go then.
  [[nodiscard]] Index last_use(Index k) const { return last_use_[static_cast<std::size_t>(k)]; }
  /// Does anything behind the input draw random numbers?
  [[nodiscard]] bool is_random() const;
  [[nodiscard]] bool has_masks() const;
  [[nodiscard]] bool has_jumps() const;
  /// Noise that every input draws for itself.
  [[nodiscard]] bool has_own_noise() const;
  /// Can it be written as a canonical network (network.h)? Masks of whole channels, and masks beside which
  /// other values pass, cannot (O.19).
  [[nodiscard]] bool has_canonical_form() const;
  /// Entries of all affine layers written out as matrices, rows and columns of values that pass them too
  /// (O.19).
  [[nodiscard]] double written_out() const;
  /// Activations and maxima.
  [[nodiscard]] Index nonlinear_count() const;
  /// Random convolutions, or masks of whole channels: what the canonical form has no independent noise for.
  [[nodiscard]] bool has_shared_noise() const;

 private:
  std::vector<GraphNode> nodes_;
  std::vector<Index> last_use_;
};

/// Adds node after node; layers of every kind know what to add (layer_kind.h).
class GraphBuilder {
 public:
  explicit GraphBuilder(const LayerShape& input);

  /// The next layer, called `title`, sees these nodes, the first of which has this shape.
  void see(std::string title, std::vector<Index> nodes, const LayerShape& shape);
  /// In front of the layer that is being added: of its first input.
  [[nodiscard]] const LayerShape& shape() const { return shape_; }
  /// The node whose values the layers so far give.
  [[nodiscard]] Index current() const { return current_; }

  void affine(const std::string& title, OperatorPointer layer);
  void activation(const std::string& title, const Activation& activation);
  void maximum(const std::string& title, const Window2d& window);
  void mask(const std::string& title, const Mask& mask, Index together);
  /// Of all nodes that the layer sees.
  void sum();
  void concat();

  [[nodiscard]] LayerGraph finish() &&;

 private:
  void append(GraphNode node);

  std::string title_;
  LayerShape shape_;
  Index current_ = 0;
  std::vector<Index> seen_ = {0};
  std::vector<GraphNode> nodes_;
};

/// Why layers have no operators, in a sentence; empty: they have.
std::string graph_refusal(const std::vector<LayerSpec>& layers);
/// The nodes of the plan from `first` on; the graph's input are the values plan.live_at(first), one after the
/// other, with noise added to it or null. Throws InvalidArgument for layers that have no operator.
LayerGraph build_graph(const GraphPlan& plan, Index first, const InputNoise::Component* noise = nullptr);
LayerGraph build_graph(const std::vector<LayerSpec>& layers);
/// One output w'y in place of all.
LayerGraph with_combined_output(const LayerGraph& graph, const Vector& weights);

}  // namespace mixcert
