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

/// A = M' Q M + diag_j(sum_i Q_ii V_ij), raised so that it is no less than the exact one (M.8).
Matrix second_moment(const OutputNorm& norm, const DenseLayer& layer) {
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
  return a;
}

/// The norms on the inputs of `layer` that a norm on its outputs becomes behind the activation.
void carry_back(const OutputNorm& norm, const DenseLayer& layer, const Activation& activation,
                const Vector& errors, const MetricForm& form, bool split, std::vector<OutputNorm>& norms) {
  const Matrix a = second_moment(norm, layer);
  Vector g = form.form(a, errors).array() + kUnderflowFloor;
  g *= feasibility_factor(g, a, 2 * a.rows()) * (1.0 + 4 * kUnitRoundoff);
  const auto [low, high] = activation.slope_range();
  const double centre = split ? 0.5 * (low + high) : 0.0;
  const double rest = std::max(high - centre, centre - low);
  if (centre != 0.0) norms.push_back({norm.factor * std::abs(centre) * kOutward, false, a});
  if (rest > 0.0) norms.push_back({norm.factor * rest * kOutward, true, Matrix(g.asDiagonal())});
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
        carry_back(norm, network.layer(k + 1), network.activation(k + 1), expected_errors(network, k), form,
                   split, before);
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
