// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Norms carried backwards, and the error norms of every layer, docs/theory/metrics.md (M.7), (M.8).
#include "sensitivity/error_norm.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/stop.h"
#include "sensitivity/stoppable_norms.h"

namespace mixcert {
namespace {

// Norms double with every layer on the way; from here on one diagonal metric replaces both.
constexpr std::size_t kMostNorms = 8;
// As in (M.4): what underflow can hide in a computed A is far below this.
constexpr double kUnderflowFloor = 1e-290;
// Covers the roundings of a product of three numbers.
constexpr double kOutward = 1.0 + 8 * kUnitRoundoff;

/// M' Q M. Mean weights of zero, those of most priors, cost nothing.
Matrix mean_gram(const OutputNorm& norm, const Matrix& m) {
  if (m.isZero(0.0)) return Matrix::Zero(m.cols(), m.cols());
  Matrix weighted;
  if (norm.diagonal) {
    weighted = norm.q.diagonal().asDiagonal() * m;
  } else {
    weighted = norm.q * m;
  }
  return m.transpose() * weighted;
}

/// sum_l |M_lj| sqrt(Q_ll), no less than sqrt((M'QM)_jj) whatever Q.
Vector absolute_roots(const OutputNorm& norm, const Matrix& m) {
  return m.cwiseAbs().transpose() * norm.q.diagonal().cwiseSqrt();
}

/// The centre of an activation's slopes and how far they stray from it; without `split` the centre is 0.
struct SlopeSplit {
  double centre = 0.0;
  double rest = 0.0;
};

SlopeSplit split_slopes(const Activation& activation, bool split) {
  const auto [low, high] = activation.slope_range();
  const double centre = split ? 0.5 * (low + high) : 0.0;
  return {centre, larger_or_nan(high - centre, centre - low)};
}

/// One step of the recursion: the norms that one norm on the next layer's outputs becomes.
class Step {
 public:
  Step(const ActivationMap& activation, const MetricForm& form, Vector errors, bool split)
      : activation_(activation), form_(form), errors_(std::move(errors)), split_(split) {}

  void carry(double factor, std::size_t parent, const Matrix& a, std::vector<OutputNorm>& norms) const {
    if (!activation_.is_uniform()) {
      carry_mixed(factor, parent, a, norms);
      return;
    }
    const SlopeSplit slopes = split_slopes(activation_.common(), split_);
    if (slopes.centre != 0.0) {
      norms.push_back({factor * std::abs(slopes.centre) * kOutward, false, a, parent, {}});
    }
    if (slopes.rest > 0.0) add_diagonal(factor * slopes.rest, parent, a, {}, norms);
  }

 private:
  /// Some neurons pass unchanged: centres C = diag(c) and strays R = diag(rho) differ, |e|_A <= |d|_CAC +
  /// |d|_diag(g) with diag(g) >= R A R.
  void carry_mixed(double factor, std::size_t parent, const Matrix& a, std::vector<OutputNorm>& norms) const {
    Vector centres(a.rows());
    Vector rests(a.rows());
    for (Index j = 0; j < a.rows(); ++j) {
      const SlopeSplit slopes = split_slopes(activation_.at(j), split_);
      centres(j) = slopes.centre;
      rests(j) = slopes.rest;
    }
    if (split_) norms.push_back({factor * kOutward, false, scaled_both_sides(a, centres), parent, centres});
    add_diagonal(factor, parent, a, rests, norms);
  }

  void add_diagonal(double factor, std::size_t parent, const Matrix& a, const Vector& scale,
                    std::vector<OutputNorm>& norms) const {
    const Vector g = feasible_diagonal(scaled_both_sides(a, scale), errors_, form_);
    norms.push_back({factor * kOutward, true, Matrix(g.asDiagonal()), parent, scale});
  }

  const ActivationMap& activation_;
  const MetricForm& form_;
  Vector errors_;
  bool split_;
};

}  // namespace

Vector feasible_diagonal(const Matrix& a, const Vector& errors, const MetricForm& form) {
  Vector g = raised_form(form, a, errors).array() + kUnderflowFloor;
  g *= feasibility_factor(g, a, 2 * a.rows()) * (1.0 + 4 * kUnitRoundoff);
  return g;
}

OutputNorm identity_norm(Index outputs) { return {1.0, true, Matrix::Identity(outputs, outputs), 0, {}}; }

NormTerm pull_back(const OutputNorm& norm, const DenseLayer& layer) {
  const Matrix& m = layer.weight_mean();
  NormTerm carried;
  carried.factor = norm.factor;
  carried.diagonal = norm.diagonal;
  carried.metric = norm.q.diagonal();
  carried.gram = mean_gram(norm, m);
  carried.gram_roots =
      norm.diagonal ? Vector(positive_part(carried.gram.diagonal()).cwiseSqrt()) : absolute_roots(norm, m);
  carried.gram_roots *= 1.0 + 1e-12;
  if (!layer.has_independent_outputs()) carried.noise_gram = layer.centred_gram(carried.metric);
  return carried;
}

Matrix second_moment(const OutputNorm& norm, const DenseLayer& layer, const Mask& mask) {
  const Matrix& m = layer.weight_mean();
  Matrix a = layer.centred_gram(norm.q.diagonal()) + mean_gram(norm, m);
  const Index operations = 2 * (layer.outputs() + layer.inputs()) + 32;
  Vector majorant = a.diagonal();
  if (!norm.diagonal) majorant += absolute_roots(norm, m).cwiseAbs2();
  a = 0.5 * (a + a.transpose()).eval();
  const double relative = 2.0 * static_cast<double>(a.rows()) * rounding_gamma(operations);
  a.diagonal() += relative * majorant + Vector::Constant(a.rows(), kUnderflowFloor);
  if (!mask.is_none()) a.diagonal() *= (UpperBound::exact(1.0) + mask.variance()).upper * kOutward;
  return a;
}

Matrix scaled_both_sides(const Matrix& a, const Vector& scale) {
  if (scale.size() == 0) return a;
  Matrix scaled = scale.asDiagonal() * a * scale.asDiagonal();
  scaled.diagonal() *= 1.0 + 8.0 * static_cast<double>(a.rows()) * kUnitRoundoff;
  return scaled;
}

Vector expected_errors(const Network& network, Index k) {
  const DenseLayer& layer = network.layer(k);
  Vector spread = Vector::Ones(layer.inputs());
  if (k > 0) {
    const DenseLayer& before = network.layer(k - 1);
    spread = before.row_variances() + before.bias_variances() + before.row_norms().cwiseAbs2();
  }
  const Vector errors = layer.weight_mean().cwiseAbs2() * spread + layer.row_variances();
  return errors.array() + 1e-12 * errors.maxCoeff() + 1e-300;
}

namespace {

std::vector<OutputNorm> carried_back(const std::vector<OutputNorm>& norms, const Network& network, Index k,
                                     const MetricForm& form, const CancelFlag* cancel) {
  const bool split = 2 * norms.size() <= kMostNorms && network.layer(k).has_independent_outputs();
  const Step step(network.activation(k + 1), form, expected_errors(network, k), split);
  std::vector<OutputNorm> before;
  for (std::size_t i = 0; i < norms.size(); ++i) {
    stop_where_set(cancel);
    const Matrix a = second_moment(norms[i], network.layer(k + 1), network.mask(k + 1));
    step.carry(norms[i].factor, i, a, before);
  }
  return before;
}

}  // namespace

std::vector<OutputNorm> carry_back(const std::vector<OutputNorm>& norms, const Network& network, Index k,
                                   const MetricForm& form) {
  return carried_back(norms, network, k, form, nullptr);
}

double ErrorNorm::gain() const {
  double sum = 0.0;
  for (const NormTerm& norm : norms)
    sum += norm.factor * std::sqrt(norm.metric.maxCoeff<Eigen::PropagateNaN>());
  return sum;
}

ErrorNorms make_error_norms(const Network& network, SensitivityMode mode, const CancelFlag* cancel) {
  const Index hidden = network.hidden_count();
  ErrorNorms error_norms(static_cast<std::size_t>(hidden));
  if (hidden == 0) return error_norms;
  const OutputNorm identity = identity_norm(network.outputs());
  error_norms.back().push_back({"output", {pull_back(identity, network.layer(hidden))}});
  std::vector<MetricForm> forms = closed_forms();
  if (mode == SensitivityMode::Sdp) forms.push_back(semidefinite_form());
  for (const MetricForm& form : forms) {
    std::vector<OutputNorm> norms{identity};
    for (Index k = hidden - 1; k >= 1; --k) {
      stop_where_set(cancel);
      norms = carried_back(norms, network, k, form, cancel);
      ErrorNorm error_norm{form.name, {}};
      for (const OutputNorm& norm : norms) {
        stop_where_set(cancel);
        error_norm.norms.push_back(pull_back(norm, network.layer(k)));
      }
      error_norms[static_cast<std::size_t>(k - 1)].push_back(std::move(error_norm));
    }
  }
  return error_norms;
}

ErrorNorms make_error_norms(const Network& network, SensitivityMode mode) {
  return make_error_norms(network, mode, nullptr);
}

}  // namespace mixcert
