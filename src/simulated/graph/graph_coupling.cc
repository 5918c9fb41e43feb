// Licensed under the Apache License, Version 2.0; see LICENSE.
#include "simulated/graph/graph_coupling.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "mixcert/core/error.h"
#include "mixture/verified_norm.h"
#include "simulated/box_muller.h"
#include "simulated/coupling_limit.h"
#include "simulated/graph/draw_errors.h"
#include "simulated/graph/linear_masks.h"

namespace mixcert {
namespace {

/// Draws that choose the affine maps, and those that choose centre and clip.
constexpr Index kMapDraws = 256, kCentreDraws = 1024;
constexpr const char* kNotFinite = "simulation: a draw is not finite; numbers of the network are too large";

/// work(first draw, randomness) for blocks of this network's own size: the same numbers for every number of
/// threads.
void for_each_graph_block(const LayerGraph& graph, const DrawPlan& plan, int threads,
                          const CancelFlag* cancel,
                          const std::function<void(Index, const BlockRandomness&)>& work) {
  const Index size = block_draws(graph), blocks = (plan.draws + size - 1) / size;
  parallel_for(
      blocks, threads,
      [&](Index block) {
        RandomBits bits(plan.seed, plan.use, plan.input, static_cast<std::uint64_t>(block));
        const Index first = block * size, count = std::min(size, plan.draws - first);
        work(first, BlockRandomness(graph, count, [&](Matrix& out) { fill_normals(bits, out); }));
      },
      cancel);
}

LinearSurrogate surrogate_of(const LayerGraph& graph, ConstVectorRef input,
                             const SimulationSettings& settings) {
  GraphPilot pilot(graph, input);
  // One thread: sums must not depend on their number.
  for_each_graph_block(graph, settings.plan(DrawUse::Pilot, kMapDraws), 1, settings.cancel,
                       [&](Index /*first*/, const BlockRandomness& randomness) { pilot.add(randomness); });
  return {graph, input, pilot.nodes()};
}

GaussianMixture shifted(const GaussianMixture& mixture, const Vector& by) {
  std::vector<Gaussian> components = mixture.components();
  for (Gaussian& component : components) component.mean += by;
  return {mixture.weights(), std::move(components)};
}

}  // namespace

GraphCoupling::GraphCoupling(const LayerGraph& graph, GraphInput input, const SimulationSettings& settings,
                             Index components, bool for_bound)
    : graph_(graph),
      input_(std::move(input)),
      settings_(settings),
      surrogate_(surrogate_of(graph, input_.values, settings)),
      centre_(surrogate_.mean()) {
  for (Index k = 0; k < graph.size(); ++k) {
    factor_size_ = std::hypot(factor_size_, surrogate_.factor(k).norm());
    normals_ += graph.node(k).random_count();
  }
  factor_size_ = enlarged(factor_size_);
  // c = E(y - (y^ - E y^)): the surrogate is a control variate.
  const Matrix off = differences(DrawUse::Centre, kCentreDraws);
  const Vector moved = off.rowwise().mean();
  centre_ += moved;
  mixture_ = GaussianMixture(Gaussian{centre_, Covariance::dense(surrogate_.covariance())});
  if (graph.has_jumps()) choose_masks(components, for_bound);
}

void GraphCoupling::choose_masks(Index components, bool for_bound) {
  const auto cost = [&](const Matrix& off) {
    return std::sqrt((off.colwise() - off.rowwise().mean()).colwise().squaredNorm().mean());
  };
  const double of_normals = cost(differences(DrawUse::Centre, kCentreDraws));
  const MaskMixture linear = mask_mixture(graph_, surrogate_, components);
  form_ = MaskForm::Factor;
  const Matrix off = differences(DrawUse::Centre, kCentreDraws);
  if (!for_bound && !(cost(off) + linear.distance < of_normals)) {
    form_ = MaskForm::Normal;
    return;
  }
  centre_ += off.rowwise().mean();
  mixture_ = shifted(linear.mixture, centre_);
  // Means of several components are sums of two numbers.
  const double moved = linear.mixture.size() > 1 ? rounding_gamma(4) * enlarged(centre_.norm()) : 0.0;
  beyond_cost_ = enlarged(linear.distance + moved);
}

Matrix GraphCoupling::differences(DrawUse use, Index draws) const {
  Matrix off(graph_.outputs(), draws);
  for_each_graph_block(graph_, settings_.plan(use, draws), settings_.threads, settings_.cancel,
                       [&](Index first, const BlockRandomness& randomness) {
                         const Matrix y = run_block(graph_, input_.values, randomness);
                         off.middleCols(first, y.cols()) =
                             (y - surrogate_.centred(graph_, randomness, form_)).colwise() - centre_;
                       });
  return off;
}

DrawRow GraphCoupling::proven_costs(const BlockRandomness& randomness, const GraphNorms& norms) const {
  DrawErrors errors(norms, randomness, input_.error);
  const Matrix y = run_block(
      graph_, input_.values, randomness,
      [&](Index k, const std::vector<const Matrix*>& in, const Matrix& out) { errors.visit(k, in, out); });
  const Matrix surrogate = surrogate_.centred(graph_, randomness, MaskForm::Factor).colwise() + centre_;
  const double root = std::sqrt(static_cast<double>(normals_));
  const DrawRow rounding =
      kNormalError * root * factor_size_ +
      rounding_gamma(normals_ + 2 * graph_.size() + 24) *
          (factor_size_ * surrogate_numbers(graph_, randomness) + centre_.norm() + column_norms(y));
  return enlarged((column_norms(y - surrogate) + errors.of_outputs() + rounding).square());
}

Vector GraphCoupling::costs(DrawUse use, Index draws) const {
  Vector costs = differences(use, draws).colwise().squaredNorm();
  require(costs.allFinite(), kNotFinite);
  return costs;
}

Vector GraphCoupling::proven_costs(DrawUse use, Index draws, const GraphNorms& norms) const {
  Vector costs(draws);
  for_each_graph_block(graph_, settings_.plan(use, draws), settings_.threads, settings_.cancel,
                       [&](Index first, const BlockRandomness& randomness) {
                         const DrawRow own = proven_costs(randomness, norms);
                         costs.segment(first, own.size()) = own.matrix();
                       });
  require(!costs.hasNaN(), kNotFinite);
  return costs;
}

double GraphCoupling::jumps_of_surrogate() const {
  double sum = 0.0;
  for (Index k = 0; k < graph_.size(); ++k) {
    const auto* node = std::get_if<MaskNode>(&graph_.node(k).work);
    if (node != nullptr && node->jumps())
      sum += standardised_jump_weight(node->mask) * surrogate_.factor(k).squaredNorm();
  }
  return enlarged(sum);
}

SimulatedBound GraphCoupling::bound(const GraphNorms& norms) const {
  SimulatedBound result;
  result.failure_probability = settings_.failure_probability;
  require(!graph_.has_jumps() || form_ == MaskForm::Factor, "GraphCoupling::bound: masks are normals");
  if (!norms.is_ordinary()) result.gap = "numbers of the network are too large";
  if (!result.gap.empty()) return result;
  const double rounding = rounding_gamma(normals_ + 16) * factor_size_ * factor_size_;
  const double signal =
      enlarged(std::sqrt(spectral_norm(surrogate_.covariance()) + rounding + jumps_of_surrogate()));
  const GraphSlopes slopes(norms, input_);
  const SlopeTail tail([&](double q) { return enlarged(signal + slopes.of_outputs(q)); });
  const CouplingPlan plan(proven_costs(DrawUse::Centre, kCentreDraws, norms), tail, settings_.draws,
                          settings_.failure_probability);
  const double failure =
      failure_left(settings_, static_cast<double>(plan.draws) * static_cast<double>(normals_));
  if (!(failure > 0.0)) {
    result.gap = kNothingLeft;
    return result;
  }
  const ClippedCosts clipped(proven_costs(DrawUse::Main, plan.draws, norms), plan.clip);
  result.draws = plan.draws;
  result.coupled_cost = std::sqrt(clipped.mean) + beyond_cost_;
  // The stored covariance is off by rounding (Powers and Stormer); twice where its positive part is meant.
  const double stored = std::sqrt(2.0 * std::sqrt(static_cast<double>(graph_.outputs())) * rounding);
  result.w2 = enlarged(std::sqrt(mean_cost_bound(clipped, plan.clip, tail, failure)) + stored + beyond_cost_);
  if (std::isfinite(result.w2)) {
    result.theorem = graph_.has_masks() ? "O.22" : "O.7";
  } else {
    result.w2 = std::numeric_limits<double>::quiet_NaN();
    result.gap = "there are too few draws for the tail of this network";
  }
  return result;
}

}  // namespace mixcert
