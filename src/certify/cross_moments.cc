// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Covariances by the Mehler series, docs/theory/joint-moments.md (J.2); sizes of activations by Gaussian
// concentration (J.4).
#include "certify/cross_moments.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "activation/hermite_coefficients.h"

namespace mixcert {
namespace {

// Covers the last few roundings of a bound that is itself a sum of positive terms.
constexpr double kSafety = 1.0 + 1e-9;

double square(double x) { return x * x; }

/// One neuron at all inputs.
class NeuronMoments {
 public:
  NeuronMoments(const Activation& activation, const Vector& mean, const Matrix& covariance, Index rank)
      : activation_(activation),
        mean_(mean),
        covariance_(covariance),
        deviation_(covariance.diagonal().cwiseMax(0.0).cwiseSqrt()),
        lipschitz_(activation.lipschitz().upper),
        relative_(rounding_gamma(rank + 8)) {
    for (Index d = 0; d < mean.size(); ++d) {
      expansions_.push_back(hermite_expansion(activation, mean(d), deviation_(d)));
      order_ = std::min(order_, expansions_.back().order);
    }
    if (order_ < kHermiteOrder) {
      for (HermiteExpansion& e : expansions_) e.value.tail(kHermiteOrder - order_).setZero();
    }
    sum_series();
  }

  void write(Index j, CrossMoments& moments) const {
    const Index inputs = mean_.size();
    double mean_error = 0.0;
    double error = 0.0;
    for (Index d = 0; d < inputs; ++d) {
      const HermiteExpansion& at = expansions_[static_cast<std::size_t>(d)];
      moments.mean(d, j) = at.mean.value;
      mean_error += square(at.mean.error + shift(d));
      error += square(at.variance.error + (2.0 * size(d) + shift(d)) * shift(d));
      for (Index e = 0; e < d; ++e) error += 2.0 * square(pair_error(d, e));
    }
    moments.mean_error(j) = kSafety * std::sqrt(mean_error);
    moments.error(j) = kSafety * std::sqrt(error);
    moments.covariance.middleRows(j * inputs, inputs) = result_;
    write_size(j, moments);
  }

 private:
  /// f moves by at most this in L2 when the deviation is rounded (H.5).
  [[nodiscard]] double shift(Index d) const { return lipschitz_ * relative_ * deviation_(d); }
  /// No less than the standard deviation of the activation.
  [[nodiscard]] double size(Index d) const {
    return kSafety * std::sqrt(std::max(0.0, expansions_[static_cast<std::size_t>(d)].variance.upper()));
  }

  /// K_de = sum_{1 <= p <= P} c_pd c_pe r^p + t_d t_e r^{P+1}; the diagonal is the variance.
  void sum_series() {
    const Index inputs = mean_.size();
    const Vector scale = deviation_.unaryExpr([](double s) { return s > 0.0 ? 1.0 / s : 0.0; });
    correlation_ = scale.asDiagonal() * covariance_ * scale.asDiagonal();
    correlation_ = correlation_.cwiseMin(1.0).cwiseMax(-1.0);
    leftover_.resize(inputs);
    Vector coefficients(inputs);
    result_ = Matrix::Zero(inputs, inputs);
    Matrix power = Matrix::Ones(inputs, inputs);
    for (Index p = 1; p <= order_; ++p) {
      for (Index d = 0; d < inputs; ++d) coefficients(d) = expansions_[static_cast<std::size_t>(d)].value(p);
      power = power.cwiseProduct(correlation_);
      result_ += (coefficients * coefficients.transpose()).cwiseProduct(power);
    }
    for (Index d = 0; d < inputs; ++d) {
      const HermiteExpansion& at = expansions_[static_cast<std::size_t>(d)];
      leftover_(d) = std::sqrt(std::max(0.0, at.variance.value - at.value.segment(1, order_).squaredNorm()));
    }
    power = power.cwiseProduct(correlation_);
    result_ += (leftover_ * leftover_.transpose()).cwiseProduct(power);
    result_ = 0.5 * (result_ + result_.transpose()).eval();
    for (Index d = 0; d < inputs; ++d) {
      result_(d, d) = expansions_[static_cast<std::size_t>(d)].variance.value;
    }
  }

  /// What the leftover norm may be off by: its square is, by the errors of variance and coefficients.
  [[nodiscard]] double leftover_error(Index d) const {
    const HermiteExpansion& at = expansions_[static_cast<std::size_t>(d)];
    const double slack = at.variance.error + (2.0 * size(d) + at.error) * at.error +
                         rounding_gamma(2 * kHermiteOrder + 8) * square(size(d));
    const double root = std::sqrt(slack);
    return kSafety * (leftover_(d) > root ? slack / leftover_(d) : root);
  }

  /// What K_de may be off by (J.2): series tail, coefficients, correlation, deviation.
  [[nodiscard]] double pair_error(Index d, Index e) const {
    const double r = correlation_(d, e);
    const double reach = std::pow(std::abs(r), static_cast<double>(order_ + 1)) * kSafety;
    const double used = leftover_(d) * leftover_(e);
    const double inexact = (leftover_(d) + leftover_error(d)) * leftover_error(e) +
                           leftover_(e) * leftover_error(d);
    double tail = 2.0 * used + inexact;
    if (r > 0.0) {
      const double ss = deviation_(d) * deviation_(e);
      const double apart = square(mean_(d) - mean_(e)) + square(deviation_(d) - deviation_(e));
      const double near = square(lipschitz_) * ((1.0 - r + 2.0 * relative_) * ss + 0.5 * apart) + inexact;
      tail = std::min(tail, near * kSafety + 8 * kUnitRoundoff * used);
    }
    const double error_d = expansions_[static_cast<std::size_t>(d)].error + shift(d);
    const double error_e = expansions_[static_cast<std::size_t>(e)].error + shift(e);
    const double coefficients = size(d) * error_e + size(e) * error_d + error_d * error_e;
    const double roundings = 4.0 * (static_cast<double>(order_) + 2.0) * relative_ + rounding_gamma(6 * order_ + 32);
    return (reach * tail + coefficients + roundings * size(d) * size(e)) * kSafety;
  }

  /// R and the tail beyond it (J.4).
  void write_size(Index j, CrossMoments& moments) const {
    const Index inputs = mean_.size();
    double apart = 0.0;
    double sure = 0.0;
    for (Index d = 0; d < inputs; ++d) {
      const Enclosed& mean = expansions_[static_cast<std::size_t>(d)].mean;
      const double value = activation_(mean_(d));
      apart += square(std::abs(value - mean.value) + mean.error + shift(d) + 64 * kUnitRoundoff * (1.0 + std::abs(value)));
      sure += square(supremum() + mean.magnitude());
    }
    const double trace = covariance_.trace() * kSafety;
    const double base = (std::sqrt(apart) + lipschitz_ * std::sqrt(trace)) * kSafety;
    const double slope = lipschitz_ * std::sqrt(covariance_.norm()) * kSafety;
    const double spread = result_.trace() + 1e-300;
    double best = sure * kSafety;
    moments.largest(j) = std::sqrt(best) * kSafety;
    moments.tail(j) = 0.0;
    for (double t = 9.0; t >= 3.0; t -= 0.5) {
      const double reach = base + slope * t;
      const double more = reach > 0.0 ? 4.0 * slope / reach * (t * t + 2.0) / (t * t * t) : 0.0;
      const double tail = square(square(reach)) * std::exp(-0.5 * t * t) * (1.0 + more) * kSafety;
      // The tail meets an inverse of up to some 1e4 times that of the trace.
      const double judged = square(reach) + 1e4 * static_cast<double>(inputs) * tail / spread;
      if (std::isfinite(moments.largest(j)) && !(judged < best)) continue;
      best = judged;
      moments.largest(j) = reach * kSafety;
      moments.tail(j) = tail;
    }
  }

  /// sup |f|, infinite if f is unbounded.
  [[nodiscard]] double supremum() const {
    using F = ActivationFunction;
    const F f = activation_.function();
    return f == F::Tanh || f == F::Sigmoid || f == F::Erf ? 1.0 : INFINITY;
  }

  const Activation& activation_;
  const Vector& mean_;
  const Matrix& covariance_;
  Vector deviation_;
  double lipschitz_, relative_;
  Index order_ = kHermiteOrder;
  std::vector<HermiteExpansion> expansions_;
  Matrix correlation_, result_;
  Vector leftover_;
};

}  // namespace

Matrix neuron_block(const Covariance& covariance, Index neuron, Index input_count) {
  if (covariance.block_size() == input_count && covariance.rank() == 0) return covariance.block(neuron);
  std::vector<Index> indices;
  for (Index d = 0; d < input_count; ++d) indices.push_back(neuron * input_count + d);
  return covariance.submatrix(indices);
}

CrossMoments cross_moments(const Activation& activation, const Gaussian& law, Index input_count) {
  const Index neurons = law.dimension() / input_count;
  CrossMoments moments;
  moments.mean.resize(input_count, neurons);
  moments.covariance.resize(neurons * input_count, input_count);
  for (Vector* field : {&moments.mean_error, &moments.error, &moments.largest, &moments.tail}) {
    field->resize(neurons);
  }
  Vector last_mean;
  Matrix last_block;
  for (Index j = 0; j < neurons; ++j) {
    const Vector mean = law.mean.segment(j * input_count, input_count);
    const Matrix block = neuron_block(law.covariance, j, input_count);
    // All neurons of a prior are alike.
    if (j > 0 && mean == last_mean && block == last_block) {
      moments.mean.col(j) = moments.mean.col(j - 1);
      moments.covariance.middleRows(j * input_count, input_count) =
          moments.covariance.middleRows((j - 1) * input_count, input_count).eval();
      for (Vector* field : {&moments.mean_error, &moments.error, &moments.largest, &moments.tail}) {
        (*field)(j) = (*field)(j - 1);
      }
      continue;
    }
    NeuronMoments(activation, mean, block, law.covariance.rank()).write(j, moments);
    last_mean = mean;
    last_block = block;
  }
  return moments;
}

}  // namespace mixcert
