// Licensed under the Apache License, Version 2.0; see LICENSE.
#include "network/graph/graph_paths.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/normal.h"

namespace mixcert {
namespace {

/// Numbers of the widest layer that a block holds.
constexpr Index kBlockNumbers = Index{1} << 18U;
constexpr Index kMostDraws = 128, kFewestDraws = 4;

}  // namespace

Matrix mask_factors(const Mask& mask, const Matrix& normals) {
  if (mask.kind() == Mask::Kind::Gaussian)
    return (std::sqrt(mask.rate() / mask.keep()) * normals).array() + 1.0;
  const double threshold = normal_quantile(mask.rate()), kept = 1.0 / mask.keep();
  return normals.unaryExpr([=](double g) { return g < threshold ? 0.0 : kept; });
}

namespace {

/// No less than how far the threshold of mask_factors is from the exact quantile: its residual over the
/// density there, and what rounds in both (erfc and exp are off by about (1 + x^2) u of themselves). Twice,
/// because the density differs between the two: by less than that where |x| times their distance is below
/// 0.6.
double threshold_error(double rate) {
  const double tail = std::min(rate, 1.0 - rate), x = std::abs(normal_quantile(rate));
  const double rounding = 16.0 * kUnitRoundoff * (1.0 + x * x) * tail;
  return 2.0 * (std::abs(normal_tail(x) - tail) + rounding) / normal_density(x);
}

Matrix masked(const MaskNode& node, const Matrix& normals, const Matrix& values) {
  Matrix made = values;
  const Matrix own = mask_factors(node.mask, normals);
  for (Index i = 0; i < made.cols(); ++i) {
    Eigen::Map<Matrix> rows(made.col(i).data(), node.together, own.rows());
    rows.array().rowwise() *= own.col(i).transpose().array();
  }
  return made;
}

/// All of them, one below the other.
Matrix stacked(const std::vector<const Matrix*>& parts) {
  Index rows = 0;
  for (const Matrix* part : parts) rows += part->rows();
  Matrix all(rows, parts.front()->cols());
  Index first = 0;
  for (const Matrix* part : parts) {
    all.middleRows(first, part->rows()) = *part;
    first += part->rows();
  }
  return all;
}

Matrix maxima(const MaximumNode& node, Index size, const Matrix& values) {
  Matrix made(size, values.cols());
  const auto windows = static_cast<Index>(node.windows.size());
  for (Index i = 0; i < values.cols(); ++i) {
    for (Index channel = 0; channel * windows < size; ++channel) {
      const double* plane = values.col(i).data() + channel * node.pixels;
      for (Index at = 0; at < windows; ++at)
        made(channel * windows + at, i) = plane[winner(node.windows[static_cast<std::size_t>(at)], plane)];
    }
  }
  return made;
}

}  // namespace

Index winner(const std::vector<Index>& window, const double* plane) {
  Index best = window.front();
  for (const Index pixel : window) {
    if (plane[pixel] > plane[best]) best = pixel;
  }
  return best;
}

BlockRandomness::BlockRandomness(const LayerGraph& graph, Index draws, const NormalSource& source) {
  for (Index k = 0; k < graph.size(); ++k) {
    numbers.emplace_back(graph.node(k).random_count(), draws);
    if (numbers.back().rows() > 0) source(numbers.back());
  }
}

Index block_draws(const LayerGraph& graph) {
  Index widest = 1;
  for (Index k = 0; k < graph.size(); ++k)
    widest = std::max({widest, graph.node(k).size, graph.node(k).random_count()});
  return std::clamp(kBlockNumbers / widest, kFewestDraws, kMostDraws);
}

namespace {

/// What every node but those with random numbers makes of the values in front of it.
Matrix fixed_values(const GraphNode& node, const std::vector<const Matrix*>& in) {
  const Matrix& x = *in.front();
  if (const auto* own = std::get_if<ActivationNode>(&node.work))
    return ActivationMap(own->activation).apply(x);
  if (const auto* own = std::get_if<MaximumNode>(&node.work)) return maxima(*own, node.size, x);
  if (std::holds_alternative<ConcatNode>(node.work)) return stacked(in);
  Matrix sum = x;
  for (std::size_t i = 1; i < in.size(); ++i) sum += *in[i];
  return sum;
}

/// Values of all nodes in order, each kept as long as another looks at it; affine(k, layer, x) and
/// mask(k, node, x) are of nodes with random numbers.
template <class Affine, class MaskStep>
Matrix run_nodes(const LayerGraph& graph, Matrix inputs, const NodeVisitor& visit, const Affine& affine,
                 const MaskStep& mask) {
  std::vector<Matrix> values(static_cast<std::size_t>(graph.size()));
  values.front() = std::move(inputs);
  for (Index k = 1; k < graph.size(); ++k) {
    const GraphNode& node = graph.node(k);
    std::vector<const Matrix*> in;
    for (const Index before : node.from) in.push_back(&values[static_cast<std::size_t>(before)]);
    Matrix& out = values[static_cast<std::size_t>(k)];
    if (const auto* layer = std::get_if<AffineNode>(&node.work)) {
      out = affine(k, *layer->layer, *in.front());
    } else if (const auto* factors = std::get_if<MaskNode>(&node.work)) {
      out = mask(k, *factors, *in.front());
    } else {
      out = fixed_values(node, in);
    }
    if (visit) visit(k, in, out);
    for (const Index before : node.from) {
      if (graph.last_use(before) == k) values[static_cast<std::size_t>(before)].resize(0, 0);
    }
  }
  return std::move(values.back());
}

}  // namespace

Eigen::Array<bool, Eigen::Dynamic, 1> undecided_draws(const LayerGraph& graph,
                                                      const BlockRandomness& randomness,
                                                      double normal_error) {
  Eigen::Array<bool, Eigen::Dynamic, 1> undecided =
      Eigen::Array<bool, Eigen::Dynamic, 1>::Constant(randomness.numbers.front().cols(), false);
  for (Index k = 0; k < graph.size(); ++k) {
    const auto* node = std::get_if<MaskNode>(&graph.node(k).work);
    if (node == nullptr || !node->jumps()) continue;
    const double rate = node->mask.rate(), threshold = normal_quantile(rate);
    const double band = normal_error + threshold_error(rate);
    const Matrix& normals = randomness.numbers[static_cast<std::size_t>(k)];
    // Not "<=", so that a band that is no number leaves everything open.
    undecided = undecided || !((normals.array() - threshold).abs() > band).colwise().all().transpose();
  }
  return undecided;
}

Matrix run_means(const LayerGraph& graph, ConstVectorRef input, const NodeVisitor& visit) {
  return run_nodes(
      graph, input, visit,
      [](Index /*k*/, const AffineOperator& layer, const Matrix& x) { return layer.apply(x); },
      [](Index /*k*/, const MaskNode& /*node*/, const Matrix& x) { return x; });
}

Matrix run_block(const LayerGraph& graph, ConstVectorRef input, const BlockRandomness& randomness,
                 const NodeVisitor& visit) {
  const auto numbers = [&](Index k) -> const Matrix& {
    return randomness.numbers[static_cast<std::size_t>(k)];
  };
  return run_nodes(
      graph, Vector(input).replicate(1, randomness.numbers.front().cols()), visit,
      [&](Index k, const AffineOperator& layer, const Matrix& x) { return layer.draw(x, numbers(k)); },
      [&](Index k, const MaskNode& node, const Matrix& x) { return masked(node, numbers(k), x); });
}

Matrix run_jointly(const LayerGraph& graph, const Matrix& inputs, const NormalSource& source) {
  return run_nodes(
      graph, inputs, {},
      [&](Index /*k*/, const AffineOperator& layer, const Matrix& x) {
        return layer.draw_jointly(x, source);
      },
      [&](Index k, const MaskNode& node, const Matrix& x) {
        Matrix normals(graph.node(k).random_count(), x.cols());
        source(normals);
        return masked(node, normals, x);
      });
}

}  // namespace mixcert
