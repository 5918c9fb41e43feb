// Licensed under the Apache License, Version 2.0; see LICENSE.
#include "simulated/graph/graph_slopes.h"

#include <algorithm>
#include <cmath>

#include "core/overloaded.h"
#include "network/graph/graph_paths.h"
#include "simulated/network_paths.h"

namespace mixcert {
namespace {

/// With larger ones underflow of squares could hide more than kUnderflow.
constexpr double kLargestNorm = 1e30;

/// A maximum moves by no more than the largest move of its window, and a pixel is in several.
double stretch_of(const MaximumNode& node) {
  std::vector<double> counts(static_cast<std::size_t>(node.pixels));
  for (const auto& window : node.windows) {
    for (const Index pixel : window) ++counts[static_cast<std::size_t>(pixel)];
  }
  return std::sqrt(*std::max_element(counts.begin(), counts.end()));
}

/// Of all that a node sees, from norms of order q >= 2 of its parts: they add, or where parts lie one after
/// the other their squares do (Minkowski's inequality of order q/2).
double norm_before(const GraphNode& node, const std::vector<double>& norms) {
  const bool is_concat = std::holds_alternative<ConcatNode>(node.work);
  double sum = 0.0;
  for (const Index from : node.from) {
    const double own = norms[static_cast<std::size_t>(from)];
    sum = is_concat ? enlarged(std::hypot(sum, own)) : sum + own;
  }
  return sum;
}

/// How much the random factors of a mask move the values behind it, as normals do or by jumps, where those in
/// front are off the path by `before`.
double mask_source(const MaskNode& node, const MaskedValues& path, double before) {
  if (!node.jumps()) return std::sqrt(node.mask.variance().upper) * (path.largest + before);
  return std::sqrt(jump_weight(node.mask)) / node.mask.keep() * (path.total + before);
}

}  // namespace

GraphNorms::GraphNorms(const LayerGraph& graph) : graph_(graph) {
  for (Index k = 0; k < graph.size(); ++k) {
    nodes_.push_back(
        std::visit(Overloaded{[](const AffineNode& node) -> Node {
                                return {node.layer->norms(), 0.0};
                              },
                              [](const ActivationNode& node) -> Node {
                                return {{}, node.activation.lipschitz().upper};
                              },
                              [](const MaximumNode& node) -> Node {
                                return {{}, enlarged(stretch_of(node))};
                              },
                              [](const OneOf<InputNode, MaskNode, SumNode, ConcatNode> auto&) -> Node {
                                return {{}, 1.0};
                              }},
                   graph.node(k).work));
  }
}

bool GraphNorms::is_ordinary() const {
  return std::all_of(nodes_.begin(), nodes_.end(), [](const Node& node) {
    return node.affine.mean <= kLargestNorm && node.affine.noise <= kLargestNorm;
  });
}

double GraphNorms::stretch(Index node, double q) const {
  if (const auto* mask = std::get_if<MaskNode>(&graph_.node(node).work))
    return mask_stretch(*mask, graph_.node(node).random_count(), q);
  if (!std::holds_alternative<AffineNode>(graph_.node(node).work)) return at(node).stretch;
  const AffineOperator::Norms& own = at(node).affine;
  return enlarged(own.mean + std::sqrt(own.noise + (q - 2.0) * own.noise_largest));
}

GraphSlopes::GraphSlopes(const GraphNorms& norms, const GraphInput& input)
    : norms_(norms), nodes_(static_cast<std::size_t>(norms.graph().size())) {
  const LayerGraph& graph = norms.graph();
  const auto visit = [&](Index k, const std::vector<const Matrix*>& in, const Matrix& out) {
    Node& own = nodes_[static_cast<std::size_t>(k)];
    const Vector x = in.front()->col(0);
    std::visit(Overloaded{[&](const AffineNode& node) {
                            own.noise = node.layer->noise_at(x);
                            own.error = node.layer->apply_error(x.norm());
                          },
                          [&](const ActivationNode& node) {
                            own.error = enlarged(std::sqrt(static_cast<double>(x.size())) *
                                                 node.activation.value_error(x.cwiseAbs().maxCoeff()));
                          },
                          [&](const SumNode&) {
                            own.error = rounding_gamma(static_cast<Index>(in.size())) * enlarged(out.norm());
                            for (const Matrix* one : in)
                              own.error += rounding_gamma(static_cast<Index>(in.size())) * one->norm();
                          },
                          [&](const MaskNode& node) { own.masked = masked_values(node, x); },
                          [](const OneOf<InputNode, MaximumNode, ConcatNode> auto&) {}},
               graph.node(k).work);
  };
  nodes_.front().error = input.error;
  (void)run_means(graph, input.values, visit);
}

double GraphSlopes::of_outputs(double q) const {
  const LayerGraph& graph = norms_.graph();
  const auto count = nodes_.size();
  // phi: norms of how far values are from the path.
  std::vector<double> phi(count, 0.0), source(count, 0.0), reach(count, 0.0);
  phi.front() = nodes_.front().error;
  for (std::size_t k = 1; k < count; ++k) {
    const Node& own = nodes_[k];
    const double before = norm_before(graph.node(static_cast<Index>(k)), phi);
    const auto* mask = std::get_if<MaskNode>(&graph.node(static_cast<Index>(k)).work);
    const double noise = mask != nullptr
                             ? mask_noise(*mask, own.masked, q)
                             : std::sqrt(own.noise.total + (q - 2.0) * own.noise.largest * own.noise.largest);
    phi[k] = enlarged(norms_.stretch(static_cast<Index>(k), q) * before + noise + own.error + kUnderflow);
    source[k] = enlarged(mask != nullptr ? mask_source(*mask, own.masked, before)
                                         : own.noise.largest + own.noise.change * before) +
                kUnderflow;
  }
  // reach: how a source at a node reaches the outputs; later nodes are independent of it.
  reach.back() = 1.0;
  double squares = 0.0;
  for (std::size_t k = count - 1; k > 0; --k) {
    squares += std::pow(reach[k] * source[k], 2);
    const double carried = enlarged(reach[k] * norms_.stretch(static_cast<Index>(k), q));
    for (const Index from : graph.node(static_cast<Index>(k)).from)
      reach[static_cast<std::size_t>(from)] += carried;
  }
  return enlarged(std::sqrt(enlarged(squares)));
}

}  // namespace mixcert
