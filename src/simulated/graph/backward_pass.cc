// Licensed under the Apache License, Version 2.0; see LICENSE.
#include "simulated/graph/backward_pass.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/overloaded.h"
#include "network/graph/graph_paths.h"

namespace mixcert {
namespace {

/// Carries cotangents from windows to pixels, each by its share.
Matrix back_to_pixels(const MaximumNode& node, const Matrix& shares, const Matrix& cotangents, Index size) {
  Matrix before = Matrix::Zero(size, cotangents.cols());
  const auto windows = static_cast<Index>(node.windows.size());
  for (Index i = 0; i < cotangents.cols(); ++i) {
    for (Index at = 0; at < cotangents.rows(); ++at) {
      const std::vector<Index>& window = node.windows[static_cast<std::size_t>(at % windows)];
      for (std::size_t tap = 0; tap < window.size(); ++tap)
        before(at / windows * node.pixels + window[tap], i) +=
            shares(static_cast<Index>(tap), at) * cotangents(at, i);
    }
  }
  return before;
}

/// Rows of neurons that share a factor are added.
Matrix added_together(const Matrix& rows, Index together) {
  Matrix sums(rows.rows() / together, rows.cols());
  for (Index i = 0; i < rows.cols(); ++i)
    sums.col(i) =
        Eigen::Map<const Matrix>(rows.col(i).data(), together, sums.rows()).colwise().sum().transpose();
  return sums;
}

/// Cotangents of every node, added up from those that look at it.
class Cotangents {
 public:
  Cotangents(Index nodes, Index outputs) : of_(static_cast<std::size_t>(nodes)) {
    of_.back() = Matrix::Identity(outputs, outputs);
  }
  [[nodiscard]] Matrix take(Index node) { return std::move(of_[static_cast<std::size_t>(node)]); }
  void give(Index node, Matrix carried) {
    Matrix& own = of_[static_cast<std::size_t>(node)];
    if (node == 0) return;  // the input is fixed
    if (own.size() == 0) {
      own = std::move(carried);
    } else {
      own += carried;
    }
  }

 private:
  std::vector<Matrix> of_;
};

}  // namespace

void count_winners(const MaximumNode& node, const Matrix& x, Matrix& shares) {
  const auto windows = static_cast<Index>(node.windows.size());
  for (Index i = 0; i < x.cols(); ++i) {
    for (Index at = 0; at < shares.cols(); ++at) {
      const std::vector<Index>& window = node.windows[static_cast<std::size_t>(at % windows)];
      const Index best = winner(window, x.col(i).data() + at / windows * node.pixels);
      shares(std::find(window.begin(), window.end(), best) - window.begin(), at) += 1.0;
    }
  }
}

Matrix no_shares(const MaximumNode& node, Index size) {
  std::size_t taps = 0;
  for (const auto& window : node.windows) taps = std::max(taps, window.size());
  return Matrix::Zero(static_cast<Index>(taps), size);
}

std::vector<Matrix> carried_back(const LayerGraph& graph, const std::vector<LinearNode>& nodes) {
  std::vector<Matrix> factors(nodes.size());
  Cotangents cotangents(graph.size(), graph.outputs());
  for (Index k = graph.size() - 1; k > 0; --k) {
    const GraphNode& node = graph.node(k);
    const auto at = static_cast<std::size_t>(k);
    const Matrix own = cotangents.take(k);
    if (own.size() == 0) continue;
    const Index front = node.from.front();
    const LinearNode& here = nodes[at];
    const LinearNode& before = nodes[static_cast<std::size_t>(front)];
    std::visit(
        Overloaded{[&](const AffineNode& work) {
                     factors[at] = work.layer->carried_noise({before.values, before.squares}, own);
                     if (front == 0) return;
                     cotangents.give(front, here.normals.size() == 0 ? work.layer->transpose(own)
                                                                     : work.layer->slope_transpose(
                                                                           before.values, here.normals, own));
                   },
                   [&](const ActivationNode&) { cotangents.give(front, here.slope.asDiagonal() * own); },
                   [&](const MaximumNode& work) {
                     const Index size = graph.node(front).size;
                     cotangents.give(front, back_to_pixels(work, here.shares, own, size));
                   },
                   [&](const MaskNode& work) {
                     factors[at] = std::sqrt(work.mask.rate() / work.mask.keep()) *
                                   added_together(before.values.asDiagonal() * own, work.together);
                     cotangents.give(
                         front, here.factors.size() == 0 ? own : Matrix(here.factors.asDiagonal() * own));
                   },
                   [&](const OneOf<InputNode, SumNode> auto&) {
                     for (const Index one : node.from) cotangents.give(one, own);
                   },
                   [&](const ConcatNode&) {
                     Index first = 0;
                     for (const Index one : node.from) {
                       const Index size = graph.node(one).size;
                       cotangents.give(one, own.middleRows(first, size));
                       first += size;
                     }
                   }},
        node.work);
  }
  return factors;
}

}  // namespace mixcert
