// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Quadrature nodes of one neuron's activation a = f(m + s x), x ~ N(0,1), for expectations of exp(i alpha (a
// - mu) - beta a^2) and of exp(lambda (a - mu) + kappa a^2), with the errors of (Y.3).
#pragma once

#include <cmath>
#include <vector>

#include "activation/quadrature_rules.h"
#include "mixcert/activation/gaussian_moments.h"
#include "mixcert/core/rounding.h"

namespace mixcert {

/// One neuron in front of one output. Lengths are in units of the output's deviation.
struct LineNeuron {
  const Activation* activation = nullptr;
  double mean = 0.0;          ///< m
  double deviation = 0.0;     ///< s
  double center = 0.0;        ///< mu, any number near E a; exact
  double center_error = 0.0;  ///< no less than |E a - mu|
  double weight = 0.0;        ///< M
  double noise = 0.0;         ///< standard deviation of the weight
  double second = 0.0;        ///< E a^2, about; says which frequencies matter
};

/// |g(x + iy)| <= exp(constant + linear |x| + square x^2) where g is analytic.
struct GrowthExponent {
  double constant = 0.0;
  double linear = 0.0;
  double square = 0.0;

  /// log of sup_x exp(-x^2/2 + linear |x| + square x^2), plus the constant; infinite unless 2 square < 1.
  [[nodiscard]] double peak() const;
};

class LineNodes {
 public:
  /// Nodes fit for frequencies up to about `frequency` and for exponential moments of order `order`.
  LineNodes(const LineNeuron& neuron, double frequency, double order);

  [[nodiscard]] const Eigen::ArrayXd& weights() const { return weights_; }
  /// a - mu.
  [[nodiscard]] const Eigen::ArrayXd& differences() const { return differences_; }
  [[nodiscard]] const Eigen::ArrayXd& values() const { return values_; }
  /// Mean over the nodes of the error of both.
  [[nodiscard]] double value_error() const { return value_error_; }
  /// Quadrature error of E exp(i alpha (a - mu) - beta a^2), |alpha| and beta at most these.
  [[nodiscard]] double transform_error(double alpha, double beta) const;
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
  /// How far a moves where |x| is at most `radius`.
  struct Reach {
    double slope = 0.0;      ///< no less than |a'| on the line
    double imaginary = 0.0;  ///< no less than |Im a| where the rule is analytic
    double excursion = 0.0;  ///< no less than |a(x + iy) - a(x)| there
    double radius = INFINITY;
  };

  void place_constant();
  void place_linear(double left, double right, double frequency);
  void place_smooth(double frequency, double order);
  void place_smooth_panels(double frequency, double order);
  void set_values(const NodeArray& nodes);
  [[nodiscard]] GrowthExponent growth(double order, const Reach& reach) const;
  /// A radius beyond which this reach counts e^-30 at most.
  [[nodiscard]] double radius_for(const Reach& reach, double frequency, double order) const;
  /// Fills reaches_ from the outside in; `reach_of` gives the reach within a distance of the mean.
  template <class ReachOf>
  void shrink(const ReachOf& reach_of, double frequency, double order);
  /// No less than what the nodes miss of E exp(|order M (a - mu)| + (order noise a)^2/2).
  [[nodiscard]] double missing(double order) const;

  LineNeuron neuron_;
  Eigen::ArrayXd weights_, differences_, values_;
  double value_error_ = 0.0;
  double largest_error_ = 0.0;   ///< of one node
  double log_rule_error_ = 0.0;  ///< log of the rule's error for a function bounded by 1 off the line
  std::vector<Reach> reaches_;   ///< from the inside out, the last one without end
  double bound_ = 0.0;           ///< no less than |a| there; infinite if unbounded
  double at_mean_ = 0.0, difference_at_mean_ = 0.0;  ///< no less than |f(m)|, |f(m) - mu|
  bool is_constant_ = false;
};

}  // namespace mixcert
