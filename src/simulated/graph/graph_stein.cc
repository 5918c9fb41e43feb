// Licensed under the Apache License, Version 2.0; see LICENSE.
#include "simulated/graph/graph_stein.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>

#include "simulated/box_muller.h"
#include "simulated/graph/backward_pass.h"

namespace mixcert {
namespace {

/// Draws of xi, and points xi_t in each of two independent groups.
constexpr Index kDraws = 96, kReplicas = 2;
/// Draws for E y - c.
constexpr Index kMeanDraws = 1024;

/// t xi + (1 - t^2)^{1/2} xi', the second overwritten.
BlockRandomness mixed(double t, const BlockRandomness& draw, BlockRandomness replica) {
  for (std::size_t k = 0; k < draw.numbers.size(); ++k)
    replica.numbers[k] = t * draw.numbers[k] + std::sqrt(1.0 - t * t) * replica.numbers[k];
  return replica;
}

/// Mean of numbers and its standard error.
struct Mean {
  double value, error;

  explicit Mean(const Eigen::ArrayXd& numbers)
      : value(numbers.mean()),
        error(std::sqrt((numbers - value).square().mean() / static_cast<double>(numbers.size() - 1))) {}
};

/// One draw of |(T - C) C^{-1/2}|_F^2 without bias: the product of two groups of replicas.
class SquareDraw {
 public:
  SquareDraw(const LayerGraph& graph, ConstVectorRef input, const Matrix& covariance)
      : graph_(graph), input_(input), covariance_(covariance), decomposition_(covariance) {}

  [[nodiscard]] bool is_regular() const { return decomposition_.info() == Eigen::Success; }

  [[nodiscard]] double operator()(RandomBits& bits) const {
    const NormalSource source = [&](Matrix& out) { fill_normals(bits, out); };
    const BlockRandomness draw(graph_, 1, source);
    const std::vector<Matrix> own = slopes_at(graph_, input_, draw);
    const auto group = [&] {
      Matrix mean = -covariance_;
      for (Index i = 0; i < kReplicas; ++i) {
        const double t = (static_cast<double>(i) + bits.uniform()) / static_cast<double>(kReplicas);
        const BlockRandomness at = mixed(t, draw, BlockRandomness(graph_, 1, source));
        mean += stein_kernel(slopes_at(graph_, input_, at), own) / static_cast<double>(kReplicas);
      }
      return mean;
    };
    const Matrix first = group(), second = group();
    // tr( (T_1 - C) C^{-1} (T_2 - C)' )
    return decomposition_.solve(first.transpose()).cwiseProduct(second.transpose()).sum();
  }

 private:
  const LayerGraph& graph_;
  Vector input_;
  Matrix covariance_;
  Eigen::LLT<Matrix> decomposition_;
};

}  // namespace

std::vector<Matrix> slopes_at(const LayerGraph& graph, ConstVectorRef input,
                              const BlockRandomness& randomness) {
  std::vector<LinearNode> nodes(static_cast<std::size_t>(graph.size()));
  nodes.front().values = input;
  const auto visit = [&](Index k, const std::vector<const Matrix*>& in, const Matrix& out) {
    LinearNode& own = nodes[static_cast<std::size_t>(k)];
    own.values = out.col(0);
    const Matrix& numbers = randomness.numbers[static_cast<std::size_t>(k)];
    const NodeWork& work = graph.node(k).work;
    if (std::holds_alternative<AffineNode>(work) && numbers.size() > 0) own.normals = numbers.col(0);
    if (const auto* activation = std::get_if<ActivationNode>(&work))
      own.slope =
          in.front()->col(0).unaryExpr([&](double z) { return activation->activation.derivative(z); });
    if (const auto* maximum = std::get_if<MaximumNode>(&work)) {
      own.shares = no_shares(*maximum, graph.node(k).size);
      count_winners(*maximum, *in.front(), own.shares);
    }
    if (const auto* mask = std::get_if<MaskNode>(&work))
      own.factors = mask_factors(mask->mask, numbers).replicate(1, mask->together).transpose().reshaped();
  };
  (void)run_block(graph, input, randomness, visit);
  for (LinearNode& node : nodes) node.squares = node.values.cwiseAbs2();
  return carried_back(graph, nodes);
}

Matrix stein_kernel(const std::vector<Matrix>& at_replica, const std::vector<Matrix>& at_draw) {
  Matrix sum;
  for (std::size_t k = 0; k < at_draw.size(); ++k) {
    if (at_draw[k].size() == 0) continue;
    const Matrix own = at_replica[k].transpose() * at_draw[k];
    sum = sum.size() == 0 ? own : Matrix(sum + own);
  }
  return sum;
}

std::optional<SteinEstimate> graph_stein_estimate(const LayerGraph& graph, const GraphCoupling& coupling,
                                                  const SimulationSettings& settings) {
  const SquareDraw draw(graph, coupling.input(), coupling.mixture().component(0).covariance.to_dense());
  if (!graph.is_random() || graph.has_jumps() || !draw.is_regular()) return std::nullopt;
  Eigen::ArrayXd squares(kDraws);
  parallel_for(
      kDraws, settings.threads,
      [&](Index i) {
        RandomBits bits(settings.seed, DrawUse::Stein, settings.input, static_cast<std::uint64_t>(i));
        squares(i) = draw(bits);
      },
      settings.cancel);
  const Mean square(squares);
  // |E y - c|^2 from y - c - (y^ - E y^), less what chance adds to it.
  const Matrix off = coupling.differences(DrawUse::SteinMean, kMeanDraws);
  const Vector mean = off.rowwise().mean();
  const double chance =
      (off.colwise() - mean).squaredNorm() / static_cast<double>(kMeanDraws * (kMeanDraws - 1));
  const double shift = positive_part(mean.squaredNorm() - chance);
  const double value = std::sqrt(positive_part(square.value) + shift);
  const double raised = std::sqrt(positive_part(square.value + square.error) + shift + chance);
  return SteinEstimate{value, raised - value, kDraws};
}

}  // namespace mixcert
