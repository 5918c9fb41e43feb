// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Quadrature nodes of one neuron's activation a = f(m + s x), x ~ N(0,1), for expectations of exp(i alpha (a
// - mu) - beta a^2) and of exp(lambda (a - mu) + kappa a^2), with the errors of (Y.3).
#pragma once

#include <algorithm>
#include <array>
#include <cmath>

#include "activation/gaussian_moments.h"
#include "activation/quadrature_rules.h"
#include "mixcert/core/rounding.h"

namespace mixcert {

struct Analytic;  // activation/activation_traits.h

/// One neuron in front of one output. Lengths are in units of the output's deviation.
struct SummandNeuron {
  const Activation* activation = nullptr;
  double mean = 0.0;               ///< m
  double deviation = 0.0;          ///< s
  double center = 0.0;             ///< mu, any number near E a; exact
  double center_error = 0.0;       ///< no less than |E a - mu|
  double weight = 0.0;             ///< M
  double noise = 0.0;              ///< standard deviation of the weight
  double second = 0.0;             ///< E a^2, about; says which frequencies matter
  double second_error = INFINITY;  ///< no less than what that may be too small by
};

/// Are the facts of (Y.3), (Y.11) and (Y.24) known of this function? They are where it has one kink at zero
/// or is smooth, and not of functions made of pieces; NeuronNodes and SlopeTraits refuse these.
bool has_neuron_nodes(const Activation& activation);

/// What nodes are to be good for.
struct NodeDemand {
  double frequency = 0.0;  ///< t up to about this
  double order = 0.0;      ///< exponential moments of this order; 0: none
  /// The rest of the sum damps errors by exp(-decay t^2/2), about; 0: every frequency counts the same.
  double decay = 0.0;
  double exponent = 0.0;  ///< where errors are damped: e^-exponent is small enough
};

/// |g(x + iy)| <= exp(constant + linear |x| + square x^2) where g is analytic.
struct GrowthExponent {
  double constant = 0.0;
  double linear = 0.0;
  double square = 0.0;

  /// log of sup_x exp(-x^2/2 + linear |x| + square x^2), plus the constant; infinite unless 2 square < 1.
  [[nodiscard]] double peak() const;
};

/// How far a moves where |x| is at most `radius`.
struct NeuronReach {
  double slope = 0.0;      ///< no less than |a'| on the line
  double imaginary = 0.0;  ///< no less than |Im a| where the rule is analytic
  double excursion = 0.0;  ///< no less than |a(x + iy) - a(x)| there
  double radius = INFINITY;
};

/// From the inside out, the last one without end.
class NeuronReaches {
 public:
  static constexpr std::size_t kMost = 5;

  NeuronReaches() = default;
  explicit NeuronReaches(const NeuronReach& reach) { items_[0] = reach; }
  void push_front(const NeuronReach& reach) {
    std::copy_backward(items_.begin(), items_.end() - 1, items_.end());
    items_[0] = reach;
    ++count_;
  }
  [[nodiscard]] std::size_t size() const { return count_; }
  [[nodiscard]] const NeuronReach& front() const { return items_[0]; }
  [[nodiscard]] const NeuronReach* begin() const { return items_.data(); }
  [[nodiscard]] const NeuronReach* end() const { return items_.data() + count_; }

 private:
  std::array<NeuronReach, kMost> items_;
  std::size_t count_ = 1;
};

class NeuronNodes {
 public:
  static constexpr double kCutMass = 3e-19;  ///< P(|Z| > kCut)

  NeuronNodes(const SummandNeuron& neuron, const NodeDemand& demand);
  /// Nodes fit for frequencies up to about `frequency` and for exponential moments of order `order`.
  NeuronNodes(const SummandNeuron& neuron, double frequency, double order)
      : NeuronNodes(neuron, NodeDemand{frequency, order}) {}

  /// Weights, differences a - mu and values a of the nodes.
  using Column = Eigen::Map<const Eigen::ArrayXd>;
  [[nodiscard]] Column weights() const { return column(0); }
  [[nodiscard]] Column differences() const { return column(1); }
  [[nodiscard]] Column values() const { return column(2); }
  /// Mean over the nodes of the error of both, and the largest.
  [[nodiscard]] double value_error() const { return value_error_; }
  [[nodiscard]] double largest_error() const { return largest_error_; }
  /// Quadrature error of E exp(i alpha (a - mu) - beta a^2), |alpha| and beta at most these.
  [[nodiscard]] double transform_error(double alpha, double beta) const;
  /// The same as a sum of at most NeuronReaches::kMost terms exp(constant + linear t + square t^2), t the
  /// frequency, and of what lies beyond the cut.
  struct ErrorTerms {
    std::array<GrowthExponent, NeuronReaches::kMost> terms;
    std::size_t count = 0;
    double beyond = 0.0;
  };
  [[nodiscard]] ErrorTerms transform_errors() const;
  /// No less than the logarithms of E exp(t M (a - mu) + (t noise a)^2/2), t = order and t = -order; infinite
  /// where nothing is known.
  struct LogMoments {
    double plus, minus;
  };
  [[nodiscard]] LogMoments log_moments(double order) const;
  /// E (a - mu)^power by the nodes, power <= 4, with all errors; of use if the weight is about one over the
  /// deviation of a.
  [[nodiscard]] Enclosed power_moment(int power) const;
  /// E exp(-(t noise a)^2/2), rounded up.
  [[nodiscard]] double damping(double t) const;

 private:
  [[nodiscard]] Column column(Eigen::Index i) const {
    return {table_.data() + i * table_.rows(), table_.rows()};
  }
  void place_constant();
  void place_linear(double left, double right, const NodeDemand& demand);
  void place_smooth(const NodeDemand& demand);
  void place_smooth_panels(const NodeDemand& demand);
  void set_values(const NodeArray& nodes, const NodeArray& weights);
  void charge_trapezoid(const Analytic& function, double half_width, double step, const NodeDemand& demand);
  [[nodiscard]] GrowthExponent growth(double order, const NeuronReach& reach) const;
  /// A radius beyond which this reach counts e^-30 at most.
  [[nodiscard]] double radius_for(const NeuronReach& reach, const NodeDemand& demand) const;
  /// How far below one the rule's error must be, as a logarithm, apart from the density's growth.
  [[nodiscard]] double wanted_exponent(const NeuronReach& reach, const NodeDemand& demand) const;
  /// By how much the demand lets errors in this reach grow, as a logarithm.
  [[nodiscard]] double growth_for(const NeuronReach& reach, const NodeDemand& demand) const;
  /// Fills reaches_ from the outside in; `reach_of` gives the reach within a distance of the mean.
  template <class ReachOf>
  void shrink(const ReachOf& reach_of, const NodeDemand& demand);
  /// No less than what the nodes miss of E exp(|order M (a - mu)| + (order noise a)^2/2).
  [[nodiscard]] double missing(double order) const;

  SummandNeuron neuron_;
  Eigen::Array<double, Eigen::Dynamic, 3> table_;  ///< weights, differences, values
  double value_error_ = 0.0;
  double largest_error_ = 0.0;   ///< of one node
  double log_rule_error_ = 0.0;  ///< log of the rule's error for a function bounded by 1 off the line
  /// The same in a narrower strip, and no less than |Im a| there; for the damping.
  double log_narrow_error_ = 0.0, narrow_imaginary_ = INFINITY;
  NeuronReaches reaches_;
  double bound_ = 0.0;                               ///< no less than |a| there; infinite if unbounded
  double at_mean_ = 0.0, difference_at_mean_ = 0.0;  ///< no less than |f(m)|, |f(m) - mu|
  bool is_constant_ = false;
};

}  // namespace mixcert
