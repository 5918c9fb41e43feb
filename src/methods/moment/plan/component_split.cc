// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Greedy choice of splits. Predictions treat neurons as independent; the certificate does not.
#include <algorithm>
#include <cmath>
#include <utility>

#include "activation/gaussian_moments.h"
#include "methods/moment/plan/split_planner.h"
#include "methods/moment/split_pieces.h"

namespace mixcert {
namespace {

// Neurons looked at: those with the largest local errors. Every one costs a pass over the table of rules.
constexpr std::size_t kMostSplitNeurons = 16;

/// Takes the direction of coordinate j out of `rest` (P.3) and returns it; zero where nothing is left.
Vector take_direction(Matrix& rest, Index j) {
  const double variance = rest(j, j);
  if (!(variance > 0.0)) return Vector::Zero(rest.rows());
  Vector direction = rest.col(j) / std::sqrt(variance);
  rest -= direction * direction.transpose();
  return direction;
}

}  // namespace

/// A neuron's predicted costs without a split and with each rule of the table.
struct ComponentSplitter::Neuron {
  Index index = 0;
  double unsplit = 0.0;
  std::vector<double> split_cost;
  std::vector<double> local;
};

ComponentSplitter::ComponentSplitter(const Prepared& prepared, Index layer)
    : activation_(prepared.network.activation(layer)) {
  const auto k = static_cast<std::size_t>(layer - 1);
  const double l = prepared.sensitivity->lipschitz[k].upper;
  split_weight_ = l * l * prepared.sensitivity->reference_chain(layer).activation_weights[k];
  const auto& error_norms = (*prepared.error_norms)[k];
  const ErrorNorm& error_norm =
      *std::min_element(error_norms.begin(), error_norms.end(),
                        [](const auto& a, const auto& b) { return a.gain() < b.gain(); });
  // The largest norm stands for the sum.
  const NormTerm& norm =
      *std::max_element(error_norm.norms.begin(), error_norm.norms.end(), [](const auto& a, const auto& b) {
        return a.factor * a.gram_roots.norm() < b.factor * b.gram_roots.norm();
      });
  const double scale = norm.factor * norm.factor;
  signal_weight_ = scale * norm.gram.diagonal();
  noise_weight_ = Vector::Zero(signal_weight_.size());
  const DenseLayer& next = prepared.network.layer(layer);
  if (const Matrix* variances = independent_variances(next.weights())) {
    // Var S / (4 E S) with activations of size one: only the scale of E S matters here.
    const Vector noise = 4.0 * (variances->rowwise().sum() + next.bias_variances()).array().max(1e-300);
    noise_weight_ = scale * variances->cwiseAbs2().transpose() * norm.metric.cwiseQuotient(noise);
  }
}

double ComponentSplitter::local_error(double mean, double deviation, Index j) const {
  const GaussianMoments moments = gaussian_moments(activation_.at(j), mean, deviation);
  const double gap =
      std::hypot(moments.slope.value, std::sqrt(moments.residual.value)) - std::abs(moments.slope.value);
  return signal_weight_(j) * (moments.residual.value + gap * gap) +
         noise_weight_(j) * moments.square_variance.value;
}

ComponentSplitter::Neuron ComponentSplitter::describe(const Gaussian& component, Index j) const {
  const double deviation = std::sqrt(component.covariance.variances()(j));
  Neuron neuron{j, local_error(component.mean(j), deviation, j), {}, {}};
  Vector unit = Vector::Zero(component.dimension());
  unit(j) = 1.0 / std::max(deviation, 1e-300);
  const Vector direction = component.covariance.times(unit);
  const double reach = split_weight_.dot(direction.cwiseAbs2());
  for (const SplitRule& rule : split_rules()) {
    neuron.split_cost.push_back(reach * rule.error * rule.error);
    double local = 0.0;
    for (Index c = 0; c < rule.size(); ++c) {
      local += rule.weights(c) *
               local_error(component.mean(j) + rule.centers(c) * deviation, rule.width * deviation, j);
    }
    neuron.local.push_back(local);
  }
  return neuron;
}

/// Rules chosen so far and the two parts of the predicted bound sqrt(split) + sqrt(local).
class ComponentSplitter::Choice {
 public:
  Choice(std::vector<Neuron> neurons, double local)
      : neurons_(std::move(neurons)), chosen_(neurons_.size(), kUnsplit), local_(local) {}

  /// Takes the change with the largest predicted fall per factor of pieces; false when none helps.
  bool improve(Index budget) {
    double best_rate = 0.0;
    std::size_t best_neuron = 0;
    std::size_t best_rule = 0;
    for (std::size_t i = 0; i < neurons_.size(); ++i) {
      for (std::size_t r = 0; r < split_rules().size(); ++r) {
        const double rate = fall_per_factor(i, r, budget);
        if (rate <= best_rate) continue;
        best_rate = rate;
        best_neuron = i;
        best_rule = r;
      }
    }
    if (!(best_rate > 0.0)) return false;
    pieces_ = pieces_ / size_of(chosen_[best_neuron]) * size_of(best_rule);
    split_ += split_cost(best_neuron, best_rule) - split_cost(best_neuron, chosen_[best_neuron]);
    local_ += local_cost(best_neuron, best_rule) - local_cost(best_neuron, chosen_[best_neuron]);
    chosen_[best_neuron] = best_rule;
    return true;
  }

  /// (neuron, rule) of every split.
  [[nodiscard]] std::vector<std::pair<Index, const SplitRule*>> splits() const {
    std::vector<std::pair<Index, const SplitRule*>> result;
    for (std::size_t i = 0; i < neurons_.size(); ++i) {
      if (chosen_[i] != kUnsplit) result.emplace_back(neurons_[i].index, &split_rules()[chosen_[i]]);
    }
    return result;
  }

 private:
  static constexpr std::size_t kUnsplit = static_cast<std::size_t>(-1);

  static Index size_of(std::size_t rule) { return rule == kUnsplit ? 1 : split_rules()[rule].size(); }
  [[nodiscard]] double split_cost(std::size_t i, std::size_t rule) const {
    return rule == kUnsplit ? 0.0 : neurons_[i].split_cost[rule];
  }
  [[nodiscard]] double local_cost(std::size_t i, std::size_t rule) const {
    return rule == kUnsplit ? neurons_[i].unsplit : neurons_[i].local[rule];
  }
  [[nodiscard]] double fall_per_factor(std::size_t i, std::size_t rule, Index budget) const {
    const Index had = size_of(chosen_[i]);
    const Index gets = size_of(rule);
    if (gets <= had || pieces_ / had * gets > budget) return 0.0;
    const double split = split_ - split_cost(i, chosen_[i]) + split_cost(i, rule);
    const double local = local_ - local_cost(i, chosen_[i]) + local_cost(i, rule);
    const double fall = std::sqrt(split_) + std::sqrt(local_) - std::sqrt(positive_part(split)) -
                        std::sqrt(positive_part(local));
    return fall / std::log(static_cast<double>(gets) / static_cast<double>(had));
  }

  std::vector<Neuron> neurons_;
  std::vector<std::size_t> chosen_;
  double split_ = 0.0;
  double local_ = 0.0;
  Index pieces_ = 1;
};

std::vector<SplitDirection> ComponentSplitter::choose(const Gaussian& component, Index budget) const {
  const Vector deviations = component.covariance.variances().cwiseSqrt();
  std::vector<std::pair<double, Index>> errors;
  double local = 0.0;
  for (Index j = 0; j < component.dimension(); ++j) {
    errors.emplace_back(-local_error(component.mean(j), deviations(j), j), j);
    local -= errors.back().first;
  }
  std::sort(errors.begin(), errors.end());
  std::vector<Neuron> neurons;
  for (const auto& [error, j] : errors) {
    if (neurons.size() < kMostSplitNeurons && error < 0.0) neurons.push_back(describe(component, j));
  }
  Choice choice(std::move(neurons), local);
  while (choice.improve(budget)) {
  }
  std::vector<SplitDirection> splits;
  const bool diagonal = component.covariance.is_diagonal();
  Matrix rest = diagonal ? Matrix() : component.covariance.to_dense();
  for (const auto& [j, rule] : choice.splits()) {
    Vector direction = Vector::Zero(component.dimension());
    direction(j) = deviations(j) * (1.0 - 16 * kUnitRoundoff);
    splits.push_back({diagonal ? std::move(direction) : take_direction(rest, j), rule});
    // What is left of a singular covariance may be rounding: such a direction is no part of it.
    if (!splits_fit(component.covariance, splits)) {
      splits.pop_back();
      if (!diagonal) break;
    }
  }
  return splits;
}

}  // namespace mixcert
