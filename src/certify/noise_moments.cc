// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// docs/theory/stein.md (Y.12). Logarithms of Laplace transforms are convex, so chords between nodes are upper
// bounds; chords are integrated by five Gauss-Legendre nodes per cell, whose error is added. Tables of
// exponentials are made once: an integral for all times and outputs is a product of matrices.
#include "certify/noise_moments.h"

#include <array>
#include <cmath>

#include "mixcert/core/rounding.h"

namespace mixcert {
namespace {

constexpr int kRule = 5;
constexpr std::array<double, kRule> kRuleNodes = {0.046910077030668004, 0.23076534494715845, 0.5,
                                                  0.76923465505284155, 0.95308992296933200};
constexpr std::array<double, kRule> kRuleWeights = {
    0.11846344252809454, 0.23931433524968324, 0.28444444444444444, 0.23931433524968324, 0.11846344252809454};
// Columns of a cell: the rule's nodes, and one for its error.
constexpr int kColumns = kRule + 1;
constexpr int kTransformCells = kTransformNodes - 1;
// 8 r^-2K / (1 - 1/r) for the ellipse r = 4 on half a cell's width, and (r + 1/r)/2.
constexpr double kRuleError = 1.05e-5;
constexpr double kEllipseAxis = 2.125;
constexpr double kLeastFlow = 0.25;

/// theta^(power-1) exp(-kappa theta)/(Gamma(power) w^(2 power)) times the weights of the rule.
struct FlowTable {
  Matrix weights;  ///< rows: nodes of the flow
  Matrix decay;    ///< at the nodes of the transform, without theta^(power-1)
  Vector kappa;

  explicit FlowTable(int power) {
    const int first = first_transform_flow_node(), rows = kFlowCells - first + 1;
    weights.resize(rows, kTransformCells * kColumns);
    decay.resize(rows, kTransformNodes);
    kappa.resize(rows);
    for (int row = 0; row < rows; ++row) fill(row, flow_node(first + row), power);
  }

  void fill(int row, double w, int power) {
    const double k = kappa(row) = (1.0 - w * w) / (w * w);
    const double scale = std::pow(w, -2 * power) / (power == 3 ? 2.0 : 1.0);
    for (int cell = 0; cell < kTransformCells; ++cell) {
      const double left = transform_node(cell), width = transform_node(cell + 1) - left;
      for (int q = 0; q < kRule; ++q) {
        const double theta = left + kRuleNodes[static_cast<std::size_t>(q)] * width;
        weights(row, cell * kColumns + q) = scale * width * kRuleWeights[static_cast<std::size_t>(q)] *
                                            std::pow(theta, power - 1) * std::exp(-k * theta);
      }
      const double half = 0.5 * width, middle = left + half, axis = kEllipseAxis * half;
      weights(row, cell * kColumns + kRule) =
          scale * half * kRuleError * std::pow(middle + axis, power - 1) * std::exp(-k * (middle - axis));
    }
    for (int node = 0; node < kTransformNodes; ++node)
      decay(row, node) = scale * std::exp(-k * transform_node(node));
  }
};

const FlowTable& flow_table(int power) {
  static const FlowTable second(2), third(3);
  return power == 2 ? second : third;
}

/// The transform between its nodes, times the chords of 1, chi, chi^2 and rho: one column each.
Matrix chords(const OutputTransform& t) {
  Matrix values((t.count - 1) * kColumns, 4);
  for (int cell = 0; cell + 1 < t.count; ++cell) {
    const auto a = static_cast<std::size_t>(cell), b = a + 1;
    const double fall = t.logarithm[a] - t.logarithm[b];
    const Eigen::RowVector4d left{1.0, t.spread[a], t.spread[a] * t.spread[a], t.growth[a]};
    const Eigen::RowVector4d right{1.0, t.spread[b], t.spread[b] * t.spread[b], t.growth[b]};
    for (int q = 0; q < kRule; ++q) {
      const double x = kRuleNodes[static_cast<std::size_t>(q)];
      values.row(cell * kColumns + q) = std::exp(t.logarithm[a] - x * fall) * ((1.0 - x) * left + x * right);
    }
    // In the ellipse a chord is at most 1 + axis times the larger end.
    values.row(cell * kColumns + kRule) = std::exp(t.logarithm[a] + 0.5 * (kEllipseAxis - 1.0) * fall) *
                                          (1.0 + kEllipseAxis) * left.cwiseMax(right);
  }
  return values * kSafety;
}

/// int_t^inf theta^(power-1) exp(-b (theta - t)) dtheta.
double beyond(double t, double b, int power) {
  if (!(b > 0.0)) return INFINITY;
  if (power == 2) return t / b + 1.0 / (b * b);
  return t * t / b + 2.0 * t / (b * b) + 2.0 / (b * b * b);
}

}  // namespace

double flow_node(int i) {
  const double rest = 1.0 - static_cast<double>(i) / kFlowCells;
  return 1.0 - rest * rest;
}

int first_transform_flow_node() {
  int first = 1;
  while (flow_node(first) < kLeastFlow) ++first;
  return first;
}

NoiseMoments noise_moments(const NoiseTransform& transform, int power) {
  const FlowTable& table = flow_table(power);
  const auto count = static_cast<Index>(transform.outputs.size());
  const Index rows = table.weights.rows();
  NoiseMoments moments{Matrix::Ones(rows, count), Matrix::Zero(rows, count), Matrix::Zero(rows, count),
                       Matrix::Zero(rows, count)};
  for (Index l = 0; l < count; ++l) {
    const OutputTransform& t = transform.outputs[static_cast<std::size_t>(l)];
    if (t.count == 0) continue;
    const Matrix values = chords(t);
    Matrix integrals = table.weights.leftCols(values.rows()) * values;
    const auto last = static_cast<std::size_t>(t.count - 1);
    const double chi = t.spread[last];
    const Eigen::RowVector4d end{1.0, chi, chi * chi, t.growth[last]};
    for (Index row = 0; row < rows; ++row) {
      const double rest = table.decay(row, t.count - 1) * std::exp(t.logarithm[last]) *
                          beyond(transform_node(t.count - 1), table.kappa(row) + t.least, power);
      integrals.row(row) += rest * end;
    }
    moments.plain.col(l) = integrals.col(0) * kSafety;
    moments.cross.col(l) = integrals.col(1) * kSafety;
    moments.square.col(l) = integrals.col(2) * kSafety;
    moments.growth.col(l) = integrals.col(3) * kSafety;
  }
  return moments;
}

}  // namespace mixcert
