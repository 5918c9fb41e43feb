// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Carriers of every layer, docs/theory/metrics.md (M.7), (M.8).
#include "mixcert/certify/carrier.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "certify/metric_forms.h"
#include "certify/moment_error.h"

namespace mixcert {
namespace {

// Norms double with every layer on the way; from here on one diagonal metric replaces both.
constexpr std::size_t kMostNorms = 8;
// As in (M.4): what underflow can hide in a computed A is far below this.
constexpr double kUnderflowFloor = 1e-290;
// Covers the roundings of a product of three numbers.
constexpr double kOutward = 1.0 + 8 * kUnitRoundoff;

/// factor |d|_Q on the outputs of a layer.
struct OutputNorm {
  double factor = 1.0;
  bool diagonal = true;
  Matrix q;  ///< only its diagonal matters when `diagonal`
};

CarriedNorm pull_back(const OutputNorm& norm, const DenseLayer& layer) {
  const Matrix& m = layer.weight_mean();
  CarriedNorm carried;
  carried.factor = norm.factor;
  carried.diagonal = norm.diagonal;
  carried.metric = norm.q.diagonal();
  if (norm.diagonal) {
    const Matrix weighted = carried.metric.asDiagonal() * m;
    carried.gram = m.transpose() * weighted;
    carried.gram_roots = carried.gram.diagonal().cwiseMax(0.0).cwiseSqrt();
  } else {
    const Matrix weighted = norm.q * m;
    carried.gram = m.transpose() * weighted;
    carried.gram_roots = m.cwiseAbs().transpose() * carried.metric.cwiseSqrt();
  }
  carried.gram_roots *= 1.0 + 1e-12;
  if (!has_independent_outputs(layer)) carried.noise_gram = layer.centred_gram(carried.metric);
  return carried;
}

/// A = M' Q M + diag_j(sum_i Q_ii V_ij), raised so that it is no less than the exact one (M.8); behind a mask
/// its diagonal is multiplied by E m^2 (D.1).
Matrix second_moment(const OutputNorm& norm, const DenseLayer& layer, const Mask& mask) {
  const Matrix& m = layer.weight_mean();
  const Vector metric = norm.q.diagonal();
  Matrix a = layer.centred_gram(metric);
  const Index operations = 2 * (layer.outputs() + layer.inputs()) + 32;
  Vector majorant;
  if (norm.diagonal) {
    const Matrix weighted = metric.asDiagonal() * m;
    a += m.transpose() * weighted;
    majorant = a.diagonal();
  } else {
    const Matrix weighted = norm.q * m;
    a += m.transpose() * weighted;
    majorant = a.diagonal() + Vector(m.cwiseAbs().transpose() * metric.cwiseSqrt()).cwiseAbs2();
  }
  a = 0.5 * (a + a.transpose()).eval();
  const double relative = 2.0 * static_cast<double>(a.rows()) * rounding_gamma(operations);
  a.diagonal() += relative * majorant + Vector::Constant(a.rows(), kUnderflowFloor);
  if (!mask.is_none()) a.diagonal() *= (Upper::exact(1.0) + mask.variance()).upper * kOutward;
  return a;
}

/// diag(scale) A diag(scale), no less than the exact one.
Matrix scaled_both_sides(const Matrix& a, const Vector& scale) {
  Matrix scaled = scale.asDiagonal() * a * scale.asDiagonal();
  scaled.diagonal() *= 1.0 + 8.0 * static_cast<double>(a.rows()) * kUnitRoundoff;
  return scaled;
}

/// A feasible diag(g) >= A.
Vector feasible_diagonal(const Matrix& a, const Vector& errors, const MetricForm& form) {
  Vector g = form.form(a, errors).array() + kUnderflowFloor;
  g *= feasibility_factor(g, a, 2 * a.rows()) * (1.0 + 4 * kUnitRoundoff);
  return g;
}

/// The centre of an activation's slopes and how far they stray from it; without `split` the centre is 0.
struct SlopeSplit {
  double centre = 0.0;
  double rest = 0.0;
};

SlopeSplit split_slopes(const Activation& activation, bool split) {
  const auto [low, high] = activation.slope_range();
  const double centre = split ? 0.5 * (low + high) : 0.0;
  return {centre, std::max(high - centre, centre - low)};
}

/// Some neurons pass unchanged: centres C = diag(c) and strays R = diag(rho) differ, |e|_A <= |d|_CAC +
/// |d|_diag(g) with diag(g) >= R A R.
void carry_mixed(const OutputNorm& norm, const Matrix& a, const ActivationMap& activation,
                 const Vector& errors, const MetricForm& form, bool split, std::vector<OutputNorm>& norms) {
  Vector centres(a.rows());
  Vector rests(a.rows());
  for (Index j = 0; j < a.rows(); ++j) {
    const SlopeSplit slopes = split_slopes(activation.at(j), split);
    centres(j) = slopes.centre;
    rests(j) = slopes.rest;
  }
  if (split) norms.push_back({norm.factor * kOutward, false, scaled_both_sides(a, centres)});
  const Vector g = feasible_diagonal(scaled_both_sides(a, rests), errors, form);
  norms.push_back({norm.factor * kOutward, true, Matrix(g.asDiagonal())});
}

/// The norms on the inputs of `layer` that a norm on its outputs becomes behind activation and mask.
void carry_back(const OutputNorm& norm, const Network& network, Index k, const Vector& errors,
                const MetricForm& form, bool split, std::vector<OutputNorm>& norms) {
  const ActivationMap& activation = network.activation(k);
  const Matrix a = second_moment(norm, network.layer(k), network.mask(k));
  if (!activation.is_uniform()) {
    carry_mixed(norm, a, activation, errors, form, split, norms);
    return;
  }
  const SlopeSplit slopes = split_slopes(activation.common(), split);
  if (slopes.centre != 0.0) norms.push_back({norm.factor * std::abs(slopes.centre) * kOutward, false, a});
  if (slopes.rest > 0.0) {
    const Vector g = feasible_diagonal(a, errors, form);
    norms.push_back({norm.factor * slopes.rest * kOutward, true, Matrix(g.asDiagonal())});
  }
}

/// A guess of the mean-square errors of z_{k+1}: the spread that layer k - 1 puts on layer k's inputs,
/// through the mean weights. Any positive vector is valid.
Vector expected_errors(const Network& network, Index k) {
  const DenseLayer& before = network.layer(k - 1);
  const Vector spread = before.row_variances() + before.bias_variances() + before.row_norms().cwiseAbs2();
  const DenseLayer& layer = network.layer(k);
  const Vector errors = layer.weight_mean().cwiseAbs2() * spread + layer.row_variances();
  return errors.array() + 1e-12 * errors.maxCoeff() + 1e-300;
}

}  // namespace

double Carrier::gain() const {
  double sum = 0.0;
  for (const CarriedNorm& norm : norms) sum += norm.factor * std::sqrt(norm.metric.maxCoeff());
  return sum;
}

Carriers make_carriers(const Network& network, SensitivityMode mode) {
  const Index hidden = network.hidden_count();
  Carriers carriers(static_cast<std::size_t>(hidden));
  if (hidden == 0) return carriers;
  const OutputNorm identity{1.0, true, Matrix::Identity(network.outputs(), network.outputs())};
  carriers.back().push_back({"output", {pull_back(identity, network.layer(hidden))}});
  std::vector<MetricForm> forms = closed_forms();
  if (mode == SensitivityMode::Sdp) forms.push_back(semidefinite_form());
  for (const MetricForm& form : forms) {
    std::vector<OutputNorm> norms{identity};
    for (Index k = hidden - 1; k >= 1; --k) {
      std::vector<OutputNorm> before;
      const bool split = 2 * norms.size() <= kMostNorms && has_independent_outputs(network.layer(k));
      for (const OutputNorm& norm : norms) {
        carry_back(norm, network, k + 1, expected_errors(network, k), form, split, before);
      }
      norms = std::move(before);
      Carrier carrier{form.name, {}};
      for (const OutputNorm& norm : norms) {
        carrier.norms.push_back(pull_back(norm, network.layer(k)));
      }
      carriers[static_cast<std::size_t>(k - 1)].push_back(std::move(carrier));
    }
  }
  return carriers;
}

}  // namespace mixcert
