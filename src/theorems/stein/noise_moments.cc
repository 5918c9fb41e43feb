// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// docs/theory/stein.md (Y.12). Logarithms of Laplace transforms are convex, so chords between nodes are upper
// bounds; chords are integrated by five Gauss-Legendre nodes per cell, whose error is added. Tables of
// exponentials are made once: an integral for all times and outputs is a product of matrices.
#include <algorithm>
#include <cmath>

#include "core/elementary.h"
#include "mixcert/core/rounding.h"
#include "theorems/stein/noise_transform.h"

namespace mixcert {
namespace {

constexpr int kRule = 5;
// Columns of a cell: the rule's nodes, and one for its error.
constexpr int kColumns = kRule + 1;
constexpr int kTransformCells = kTransformNodes - 1;
// 8 r^-2K / (1 - 1/r) for the ellipse r = 4 on half a cell's width, and (r + 1/r)/2.
constexpr double kRuleError = 1.05e-5;
constexpr double kEllipseAxis = 2.125;
constexpr double kLeastFlow = 0.25;

/// theta^(power-1) exp(-kappa theta)/(Gamma(power) w^(2 power)) times the weights of the rule: rows are nodes
/// of the flow, first for power 2, then for power 3.
struct FlowTable {
  Index rows;
  Matrix weights;
  Matrix decay;  ///< at the nodes of the transform, without theta^(power-1)
  Vector kappa;

  FlowTable() : rows(kFlowCells - first_transform_flow_node() + 1) {
    weights.resize(2 * rows, kTransformCells * kColumns);
    decay.resize(2 * rows, kTransformNodes);
    kappa.resize(rows);
    for (Index row = 0; row < rows; ++row) {
      const double w = flow_node(first_transform_flow_node() + static_cast<int>(row));
      kappa(row) = (1.0 - w * w) / (w * w);
      fill(row, std::pow(w, -4.0), kappa(row), 2);
      fill(rows + row, 0.5 * std::pow(w, -6.0), kappa(row), 3);
    }
  }

  void fill(Index row, double scale, double k, int power) {
    for (int cell = 0; cell < kTransformCells; ++cell) {
      const double left = transform_node(cell), width = transform_node(cell + 1) - left;
      for (int q = 0; q < kRule; ++q) {
        const double theta = left + kFiveNodes[static_cast<std::size_t>(q)] * width;
        weights(row, cell * kColumns + q) = scale * width * kFiveWeights[static_cast<std::size_t>(q)] *
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

/// The transform between its nodes, times the chords of 1, chi, chi^2 and rho: one column each, first zero.
void fill_chords(const OutputTransform& t, Eigen::Ref<Matrix> values) {
  for (int cell = 0; cell + 1 < t.count; ++cell) {
    const auto a = static_cast<std::size_t>(cell), b = a + 1;
    const double fall = t.logarithm[a] - t.logarithm[b];
    const Eigen::RowVector4d left{1.0, t.spread[a], t.spread[a] * t.spread[a], t.growth[a]};
    const Eigen::RowVector4d right{1.0, t.spread[b], t.spread[b] * t.spread[b], t.growth[b]};
    for (int q = 0; q < kRule; ++q) {
      const double x = kFiveNodes[static_cast<std::size_t>(q)];
      values.row(cell * kColumns + q) = std::exp(t.logarithm[a] - x * fall) * ((1.0 - x) * left + x * right);
    }
    // In the ellipse a chord is at most 1 + axis times the larger end.
    values.row(cell * kColumns + kRule) = std::exp(t.logarithm[a] + 0.5 * (kEllipseAxis - 1.0) * fall) *
                                          (1.0 + kEllipseAxis) * larger_or_nan(left, right);
  }
  values = enlarged(values);
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
  return 1.0 - rest * rest * std::sqrt(rest);
}

int first_transform_flow_node() {
  int first = 1;
  while (flow_node(first) < kLeastFlow) ++first;
  return first;
}

NoisePowers noise_moments(const NoiseTransform& transform) {
  static const FlowTable table;
  const auto count = static_cast<Index>(transform.outputs.size());
  Index used = 0;
  for (const OutputTransform& t : transform.outputs) used = std::max<Index>(used, (t.count - 1) * kColumns);
  Matrix values = Matrix::Zero(used, 4 * count);
  for (Index l = 0; l < count; ++l) {
    const OutputTransform& t = transform.outputs[static_cast<std::size_t>(l)];
    if (t.count > 0) fill_chords(t, values.middleCols(4 * l, 4));
  }
  Matrix integrals = table.weights.leftCols(used) * values;
  const Index rows = table.rows;
  for (Index l = 0; l < count; ++l) {
    const OutputTransform& t = transform.outputs[static_cast<std::size_t>(l)];
    if (t.count == 0) {
      integrals.col(4 * l).setOnes();
      continue;
    }
    const int last = t.count - 1;
    const auto at = static_cast<std::size_t>(last);
    const Eigen::RowVector4d end{1.0, t.spread[at], t.spread[at] * t.spread[at], t.growth[at]};
    const double transformed = std::exp(t.logarithm[at]);
    for (Index row = 0; row < 2 * rows; ++row) {
      const double rest = table.decay(row, last) * transformed *
                          beyond(transform_node(last), table.kappa(row % rows) + t.least, row < rows ? 2 : 3);
      integrals.row(row).segment(4 * l, 4) += rest * end;
    }
  }
  integrals = enlarged(integrals);
  const auto moments = [&](Index first) {
    const auto part = [&](Index kind) -> Matrix {
      return integrals(Eigen::seqN(first, rows), Eigen::seqN(kind, count, 4));
    };
    return NoiseMoments{part(0), part(1), part(2), part(3)};
  };
  return {moments(0), moments(rows)};
}

}  // namespace mixcert
