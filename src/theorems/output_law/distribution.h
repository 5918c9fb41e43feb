// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The distribution function of one output against that of a Gaussian, docs/theory/stein.md (Y.2) - (Y.7):
// from the characteristic function to a series, a curve on a grid, its tails, and the distance.
#pragma once

#include <vector>

#include "activation/neuron/neuron_nodes.h"
#include "mixcert/core/rounding.h"
#include "mixcert/core/types.h"

namespace mixcert {

// The characteristic function of Y = sum_j ((M_j + noise_j g_j) a_j - M_j mu_j) + beta^{1/2} g, independent
// neurons and noise, at multiples of a frequency, and exponential bounds of its tails (Y.2) - (Y.4).

struct OutputLaw {
  std::vector<SummandNeuron> neurons;
  double bias_variance = 0.0;  ///< beta > 0
};

/// P(Y > x) <= exp(log_plus - order x), P(Y < -x) <= exp(log_minus - order x).
struct TailMoments {
  double order = 0.0;
  double log_plus = 0.0;
  double log_minus = 0.0;
};

/// F_Y - Phi = (1/pi) sum_k (real_k sin(k h y) - imaginary_k cos(k h y)) / k, up to `error`, for all |y| <=
/// `range`.
struct DistributionSeries {
  bool exists = false;
  double period = 0.0;  ///< 2 pi / h
  Vector real;          ///< f(kh) - exp(-(kh)^2/2), k = 1, 2, ..
  Vector imaginary;
  double error = 0.0;
  TailMoments tails;
};

/// The period is a multiple of `unit`.
DistributionSeries distribution_series(const OutputLaw& law, double range, double unit);

// F_Y - Phi as a piecewise cubic on a grid, from its series: docs/theory/stein.md (Y.5), (Y.6).

/// Grids reach from -kGridRange to kGridRange.
inline constexpr double kGridRange = 6.5;
/// Cells per unit of length of the two grids. Periods are multiples of the wider cell.
inline constexpr int kCoarseCells = 16;
inline constexpr int kFineCells = 32;

/// Cells of tails are cut into this many parts.
inline constexpr int kTailParts = 4;

/// N(0,1) at y_i = i cell, 0 <= y_i <= kGridRange.
struct NormalGrid {
  explicit NormalGrid(int cells_per_unit);

  double cell;
  std::size_t last;  ///< y_last = kGridRange
  std::vector<double> density, tail;
  std::vector<double> fine_tail;  ///< at i cell / kTailParts
};
/// `cells_per_unit` is one of the two above.
const NormalGrid& normal_grid(int cells_per_unit);

/// One side of the line, seen as the upper one: at y_i for Y, or for -Y.
struct DistributionSide {
  const NormalGrid* grid = nullptr;
  std::vector<double> value;  ///< P(Y > y_i) - P(Z > y_i)
  std::vector<double> slope;  ///< density of Y less that of Z

  /// The cubic of cell i at y_i + t cell, 0 <= t <= 1.
  [[nodiscard]] double between(std::size_t i, double t) const;
};

struct DistributionCurve {
  DistributionSide upper, lower;
  double error = 0.0;  ///< no less than |F_Y - Phi - cubics| on the whole range of the grid
};

DistributionCurve distribution_curve(const DistributionSeries& series);

// Tails of the comparison of Y with Z, node by node from the outside in: docs/theory/stein.md (Y.7).

/// What is known of P(Y > y) and of T(y) = PhiInv(F_Y(y)).
struct TailPoint {
  double y, lower, upper;
  double up, down;  ///< y - down <= T(y) <= y + up

  /// From P(Z > y), the change of it, and the error of that.
  TailPoint(double at, double normal, double change, double error);
  [[nodiscard]] bool is_known() const { return lower > 0.0 && upper < 0.5; }
};

class DistributionTail {
 public:
  /// At the outermost node where something is known. `log_moment` is that of exp(order Y).
  DistributionTail(const DistributionSide& side, double error, double order, double log_moment);

  [[nodiscard]] std::size_t node() const { return node_; }
  /// What p outside of F_Y(y_node) adds to W2^2 on this side; infinite where nothing is known.
  [[nodiscard]] double cost() const { return cost_; }
  /// Goes on to the next node; false where there is none, or nothing is known of it.
  bool step_inward();

 private:
  [[nodiscard]] TailPoint point(std::size_t i) const;

  const DistributionSide& side_;
  double error_;
  std::size_t node_;
  TailPoint at_;
  double cost_;
};

// W2 between the law of a sum of independent neurons and N(0,1), from its distribution function on a grid
// (Y.5) - (Y.7).

/// Infinite where the theorem does not apply: no noise of the bias, too little noise, tails too heavy.
UpperBound distance_to_normal(const OutputLaw& law);

}  // namespace mixcert
