// Licensed under the Apache License, Version 2.0; see LICENSE.
#include "simulated/graph/linear_surrogate.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/overloaded.h"
#include "simulated/graph/backward_pass.h"

namespace mixcert {

GraphPilot::GraphPilot(const LayerGraph& graph, ConstVectorRef input)
    : graph_(graph), input_(input), sums_(static_cast<std::size_t>(graph.size())) {
  for (Index k = 0; k < graph.size(); ++k) {
    Node& sum = sums_[static_cast<std::size_t>(k)];
    const GraphNode& node = graph.node(k);
    sum.mean = sum.square = Vector::Zero(node.size);
    if (std::holds_alternative<ActivationNode>(node.work)) sum.slope = Vector::Zero(node.size);
    if (const auto* maximum = std::get_if<MaximumNode>(&node.work))
      sum.shares = no_shares(*maximum, node.size);
  }
}

void GraphPilot::add(const BlockRandomness& randomness) {
  const auto visit = [&](Index k, const std::vector<const Matrix*>& in, const Matrix& out) {
    Node& sum = sums_[static_cast<std::size_t>(k)];
    sum.mean += out.rowwise().sum();
    sum.square += out.rowwise().squaredNorm();
    if (const auto* own = std::get_if<ActivationNode>(&graph_.node(k).work)) {
      sum.slope +=
          in.front()->unaryExpr([&](double z) { return own->activation.derivative(z); }).rowwise().sum();
    }
    if (const auto* own = std::get_if<MaximumNode>(&graph_.node(k).work))
      count_winners(*own, *in.front(), sum.shares);
  };
  (void)run_block(graph_, input_, randomness, visit);
  draws_ += randomness.numbers.front().cols();
}

std::vector<GraphPilot::Node> GraphPilot::nodes() const {
  std::vector<Node> nodes = sums_;
  const double share = 1.0 / static_cast<double>(std::max<Index>(1, draws_));
  for (Node& node : nodes) {
    node.mean *= share;
    node.square *= share;
    node.slope *= share;
    node.shares *= share;
  }
  nodes.front().mean = input_;
  nodes.front().square = input_.cwiseAbs2();
  return nodes;
}

LinearSurrogate::LinearSurrogate(const LayerGraph& graph, ConstVectorRef input,
                                 const std::vector<GraphPilot::Node>& pilot) {
  // Means: those of nonlinear layers are the pilot's, the others follow.
  std::vector<LinearNode> nodes(pilot.size());
  for (std::size_t k = 0; k < nodes.size(); ++k) {
    nodes[k].squares = pilot[k].square;
    nodes[k].slope = pilot[k].slope;
    nodes[k].shares = pilot[k].shares;
  }
  nodes.front().values = input;
  for (Index k = 1; k < graph.size(); ++k) {
    const GraphNode& node = graph.node(k);
    const Vector& before = nodes[static_cast<std::size_t>(node.from.front())].values;
    nodes[static_cast<std::size_t>(k)].values =
        std::visit(Overloaded{[&](const AffineNode& own) -> Vector { return own.layer->apply(before); },
                              [&](const OneOf<InputNode, MaskNode> auto&) -> Vector { return before; },
                              [&](const OneOf<ActivationNode, MaximumNode> auto&) -> Vector {
                                return pilot[static_cast<std::size_t>(k)].mean;
                              },
                              [&](const SumNode&) -> Vector {
                                Vector sum = Vector::Zero(node.size);
                                for (const Index one : node.from)
                                  sum += nodes[static_cast<std::size_t>(one)].values;
                                return sum;
                              },
                              [&](const ConcatNode&) -> Vector {
                                Vector all(node.size);
                                Index first = 0;
                                for (const Index one : node.from) {
                                  const Vector& part = nodes[static_cast<std::size_t>(one)].values;
                                  all.segment(first, part.size()) = part;
                                  first += part.size();
                                }
                                return all;
                              }},
                   node.work);
  }
  mean_ = nodes.back().values;
  factors_ = carried_back(graph, nodes);
}

Matrix LinearSurrogate::covariance() const {
  Matrix sum = Matrix::Zero(mean_.size(), mean_.size());
  for (const Matrix& factor : factors_) {
    if (factor.size() > 0) sum += factor.transpose() * factor;
  }
  return sum;
}

Matrix LinearSurrogate::centred(const LayerGraph& graph, const BlockRandomness& randomness,
                                MaskForm form) const {
  Matrix sum = Matrix::Zero(mean_.size(), randomness.numbers.front().cols());
  for (std::size_t k = 0; k < factors_.size(); ++k) {
    if (factors_[k].size() == 0) continue;
    const auto* node = std::get_if<MaskNode>(&graph.node(static_cast<Index>(k)).work);
    if (form == MaskForm::Normal || node == nullptr || !node->jumps()) {
      sum += factors_[k].transpose() * randomness.numbers[k];
      continue;
    }
    const double deviation = std::sqrt(node->mask.rate() / node->mask.keep());
    const Matrix standardised = (mask_factors(node->mask, randomness.numbers[k]).array() - 1.0) / deviation;
    sum += factors_[k].transpose() * standardised;
  }
  return sum;
}

}  // namespace mixcert
