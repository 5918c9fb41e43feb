// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Forms carried backwards: affine layers by second moments of their weights (O.12), activations by the centre
// of their slopes and the rest (O.13), maxima of pairs likewise (O.17). Sums: joined_forms.cc.
#include "methods/graph/graph_forms.h"

#include <algorithm>
#include <cmath>

#include "core/overloaded.h"
#include "core/stop.h"
#include "methods/graph/form_steps.h"
#include "mixcert/core/rng.h"
#include "mixcert/core/rounding.h"

namespace mixcert {
namespace {

/// Vectors that stand for errors where something is chosen.
constexpr Index kProbes = 16;
bool is_nonlinear(const GraphNode& node) {
  return std::holds_alternative<ActivationNode>(node.work) || std::holds_alternative<MaximumNode>(node.work);
}

bool is_random_layer(const GraphNode& node) {
  return std::holds_alternative<AffineNode>(node.work) && node.random_count() > 0;
}

/// Can values of a node differ from their surrogates: is there, at it or in front of it, an activation, a
/// maximum or a random layer of random values?
std::vector<bool> reached_nodes(const LayerGraph& graph) {
  const auto count = static_cast<std::size_t>(graph.size());
  std::vector<bool> is_random(count), reached(count);
  for (std::size_t k = 1; k < count; ++k) {
    const GraphNode& node = graph.node(static_cast<Index>(k));
    bool before = false;
    for (const Index j : node.from) {
      before = before || is_random[static_cast<std::size_t>(j)];
      reached[k] = reached[k] || reached[static_cast<std::size_t>(j)];
    }
    is_random[k] = before || is_random_layer(node);
    reached[k] = reached[k] || (before && (is_nonlinear(node) || is_random_layer(node)));
  }
  return reached;
}

}  // namespace

GraphForms::GraphForms(const LayerGraph& graph, Index most_dense, const CancelFlag* cancel)
    : graph_(graph),
      most_dense_(most_dense),
      norms_(static_cast<std::size_t>(graph.size())),
      reached_(reached_nodes(graph)),
      forms_(norms_.size()),
      noises_(norms_.size()),
      multiples_(norms_.size()),
      probes_(norms_.size()) {
  make_probes();
  const Index outputs = graph.outputs();
  add(graph.size() - 1,
      may_be_dense(graph.size() - 1) ? Matrix(Matrix::Identity(outputs, outputs)) : Matrix(), 1.0);
  for (Index k = graph.size() - 1; k > 0; --k) {
    stop_where_set(cancel);
    carry_back(k);
  }
  probes_.clear();
}

bool GraphForms::may_be_dense(Index j) const { return is_reached(j) && graph_.node(j).size <= most_dense_; }

void GraphForms::make_probes() {
  Generator generator = make_generator(0, Stream::Example, 0);
  const auto white = [&](Index size) -> Matrix {
    return Matrix::NullaryExpr(size, kProbes, [&] { return (generator() & 1U) != 0 ? 1.0 : -1.0; });
  };
  for (Index k = 0; k < graph_.size(); ++k) {
    const GraphNode& node = graph_.node(k);
    Matrix& own = probes_[static_cast<std::size_t>(k)];
    const auto before = [&](Index j) -> const Matrix& { return probes_[static_cast<std::size_t>(j)]; };
    if (const auto* affine = std::get_if<AffineNode>(&node.work)) {
      own = affine->layer->linear(before(node.from.front()));
    } else if (std::holds_alternative<SumNode>(node.work)) {
      own = Matrix::Zero(node.size, kProbes);
      for (const Index j : node.from) own += before(j);
    } else if (std::holds_alternative<ConcatNode>(node.work)) {
      own.resize(node.size, kProbes);
      Index first = 0;
      for (const Index j : node.from) {
        own.middleRows(first, before(j).rows()) = before(j);
        first += before(j).rows();
      }
    } else {
      own = white(node.size);
    }
  }
}

void GraphForms::add(Index j, const Matrix& matrix, double largest) {
  const auto at = static_cast<std::size_t>(j);
  NodeForm& form = forms_[at];
  form.largest = enlarged(form.largest + largest) + kFormFloor;
  if (matrix.size() == 0 || !may_be_dense(j)) {
    multiples_[at] = enlarged(multiples_[at] + largest) + kFormFloor;
  } else if (form.matrix.size() == 0) {
    form.matrix = matrix;
  } else {
    form.matrix += matrix;
  }
}

void GraphForms::carry_back(Index k) {
  const auto at = static_cast<std::size_t>(k);
  NodeForm& form = forms_[at];
  if (form.matrix.size() > 0) {
    form.matrix.diagonal().array() += multiples_[at];
    raise(form.matrix, rounding_gamma(graph_.size() + 16) * form.matrix.trace());
  }
  const GraphNode& node = graph_.node(k);
  std::visit(
      Overloaded{
          [&](const OneOf<AffineNode, ActivationNode, MaximumNode> auto& own) { carry_through(own, k); },
          [&](const SumNode&) { carry_to_terms(k); }, [&](const ConcatNode&) { carry_to_parts(k); },
          [](const OneOf<InputNode, MaskNode> auto&) {}},
      node.work);
  // What for_each_block() asks for stays.
  const bool is_behind_large = std::holds_alternative<AffineNode>(node.work) && node.random_count() == 0 &&
                               graph_.node(node.from.front()).size > most_dense_;
  if (!is_nonlinear(node) && !is_behind_large) form.matrix.resize(0, 0);
}

void GraphForms::carry_through(const AffineNode& node, Index k) {
  const auto at = static_cast<std::size_t>(k);
  const Index before = graph_.node(k).from.front();
  const NodeForm& form = forms_[at];
  const AffineOperator::Sizes sizes = node.layer->sizes();
  norms_[at] = node.layer->norms().mean;
  // A sum of subnormal variances may have lost all of its digits, and |M|^2 may be no double.
  const double gram = sizes.noise_gram > 0.0 ? sizes.noise_gram + kLostVariance : 0.0;
  const double noise = gram > 0.0 ? enlarged(gram * form.largest) + kFormFloor : 0.0;
  noises_[at].largest = noise;
  const double largest = enlarged(norms_[at] * (norms_[at] * form.largest) + noise);
  const bool has_matrix = form.matrix.size() > 0 && graph_.node(before).size <= most_dense_;
  if (has_matrix && noise > 0.0) {
    Matrix& own = noises_[at].matrix;
    own = node.layer->noise_gram(form.matrix);
    raise(own, rounding_gamma(sizes.roundings + 16) * own.trace() + kLostVariance * form.matrix.trace());
  }
  add(before, has_matrix && may_be_dense(before) ? pulled_back(*node.layer, form.matrix) : Matrix(), largest);
}

void GraphForms::carry_through(const ActivationNode& node, Index k) {
  const Index before = graph_.node(k).from.front();
  NodeForm& form = forms_[static_cast<std::size_t>(k)];
  const double l = node.activation.lipschitz().upper;
  if (form.matrix.size() == 0 || !may_be_dense(before)) {
    add(before, {}, enlarged(l * l * form.largest));
    return;
  }
  const double lambda = verified_largest(form.matrix);
  form.largest = std::min(form.largest, lambda);
  const auto [low, high] = node.activation.slope_range();
  const double centre = 0.5 * (low + high);
  const double rest = enlarged(larger_or_nan(high - centre, centre - low));
  const Matrix& probe = probes_[static_cast<std::size_t>(before)];
  const Split split = split_of(centre * centre * probe.cwiseProduct(form.matrix * probe).sum(),
                               rest * rest * lambda * probe.squaredNorm(), enlarged(rest * rest * lambda));
  Matrix carried = enlarged(split.share * centre * centre) * form.matrix;
  carried.diagonal().array() += split.multiple;
  add(before, carried, enlarged(l * l * form.largest));
}

void GraphForms::carry_through(const MaximumNode& node, Index k) {
  const Index before = graph_.node(k).from.front();
  NodeForm& form = forms_[static_cast<std::size_t>(k)];
  const double readers = most_readers(node);
  if (form.matrix.size() == 0 || !may_be_dense(before)) {
    add(before, {}, enlarged(readers * form.largest));
    return;
  }
  const double lambda = verified_largest(form.matrix);
  form.largest = std::min(form.largest, lambda);
  const double whole = enlarged(readers * form.largest);
  const std::vector<ValuePair> pairs = value_pairs(node, graph_.node(k).size);
  Matrix carried = halves_of(form.matrix, pairs, graph_.node(before).size);
  const Matrix& probe = probes_[static_cast<std::size_t>(before)];
  const double by_matrix = probe.cwiseProduct(carried * probe).sum(), size = probe.squaredNorm();
  const Split split = split_of(by_matrix, 0.5 * lambda * size, enlarged(0.5 * readers * lambda));
  // Where A is far from its largest eigenvalue in most directions the split pays, elsewhere it does not.
  if (split.share * by_matrix + split.multiple * size < whole * size) {
    carried *= split.share;
    carried.diagonal().array() += split.multiple;
  } else {
    carried = whole * Matrix::Identity(carried.rows(), carried.cols());
  }
  add(before, carried, whole);
}

Index GraphForms::only_reader(Index k) const {
  Index found = 0;
  for (Index reader = k + 1; reader < graph_.size(); ++reader) {
    for (const Index from : graph_.node(reader).from) {
      if (from != k) continue;
      if (found > 0) return 0;
      found = reader;
    }
  }
  return found;
}

bool GraphForms::for_each_block(Index k, const std::vector<RowRange>& ranges,
                                const BlockVisitor& visit) const {
  const auto length = [](const RowRange& range) { return range.last - range.first; };
  if (const Matrix& own = forms_[static_cast<std::size_t>(k)].matrix; own.size() > 0) {
    for (const RowRange& range : ranges)
      visit(range, own.block(range.first, range.first, length(range), length(range)));
    return true;
  }
  const Index reader = only_reader(k);
  const Matrix& behind = forms_[static_cast<std::size_t>(reader)].matrix;
  const auto* affine = std::get_if<AffineNode>(&graph_.node(reader).work);
  if (affine == nullptr || affine->layer->normals() > 0 || behind.size() == 0) return false;
  if (std::any_of(ranges.begin(), ranges.end(),
                  [&](const RowRange& range) { return length(range) > most_dense_; }))
    return false;
  const AffineOperator& layer = *affine->layer;
  const AffineOperator::Sizes sizes = layer.sizes();
  const Matrix half = layer.transpose(behind);
  for (const RowRange& range : ranges) {
    const Matrix rows = half.middleRows(range.first, length(range)).transpose();
    Matrix block = layer.transpose(rows).middleRows(range.first, length(range));
    block = 0.5 * (block + block.transpose()).eval();
    raise(block,
          sizes.mean_square * (rounding_gamma(2 * sizes.roundings + 16) * behind.trace() + kFormFloor));
    visit(range, block);
  }
  return true;
}

double GraphForms::most_stretch() const {
  double product = 1.0;
  for (Index k = 0; k < graph_.size(); ++k) {
    if (const auto* affine = std::get_if<AffineNode>(&graph_.node(k).work))
      product *= std::max(1.0, enlarged(norm(k) + std::sqrt(affine->layer->sizes().noise_gram)));
    if (const auto* own = std::get_if<ActivationNode>(&graph_.node(k).work))
      product *= std::max(1.0, own->activation.lipschitz().upper);
    if (const auto* own = std::get_if<MaximumNode>(&graph_.node(k).work))
      product *= std::max(1.0, std::sqrt(most_readers(*own)));
    product *= static_cast<double>(std::max<std::size_t>(1, graph_.node(k).from.size()));
  }
  return product;
}

}  // namespace mixcert
