// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The distribution function of one output against that of a Gaussian or of a mixture, docs/theory/stein.md
// (Y.2) - (Y.7), (Y.40): from the characteristic function to a series, a curve on a grid, its tails, and the
// distance.
#pragma once

#include <array>
#include <cmath>
#include <vector>

#include "activation/neuron/neuron_nodes.h"
#include "mixcert/core/rounding.h"
#include "mixcert/core/types.h"

namespace mixcert {

// The characteristic function of Y = sum_j ((M_j + noise_j g_j) a_j - M_j mu_j) + beta^{1/2} g, independent
// neurons and noise, at multiples of a frequency, and exponential bounds of its tails (Y.2) - (Y.4). Behind
// dropout of rate p neurons are kept with probability kappa = 1 - p, M_j and noise_j are those of kept
// neurons, and Y has kappa M_j mu_j in place of M_j mu_j: docs/theory/dropout-laws.md (D.8).

struct OutputLaw {
  std::vector<SummandNeuron> neurons;
  double bias_variance = 0.0;  ///< beta > 0
  double rate = 0.0;           ///< of dropout; 0: none
};

/// P(Y > x) <= exp(log_plus - order x), P(Y < -x) <= exp(log_minus - order x).
struct TailMoments {
  double order = 0.0;
  double log_plus = 0.0;
  double log_minus = 0.0;
};

/// One side: P(Y > x) <= exp(log - order x) for each of them.
struct SideMoment {
  double order = 0.0, log = 0.0;
};
using SideMoments = std::vector<SideMoment>;

/// F_Y - Phi = (1/pi) sum_k (real_k sin(k h y) - imaginary_k cos(k h y)) / k, up to `error`, for all |y| <=
/// `range`.
struct DistributionSeries {
  bool exists = false;
  double period = 0.0;  ///< 2 pi / h
  Vector real;          ///< f(kh) - exp(-(kh)^2/2), k = 1, 2, ..
  Vector imaginary;
  double error = 0.0;
  double range = 0.0;
  std::vector<TailMoments> tails;  ///< of all orders that were computed
};

/// The range is that of the grids, the wide one where tails are heavy; the period is a multiple of `unit`.
DistributionSeries distribution_series(const OutputLaw& law, double unit);

// F_Y - Phi as a piecewise cubic on a grid, from its series: docs/theory/stein.md (Y.5), (Y.6).

/// Grids reach as far on both sides; the second one is for heavy tails.
inline constexpr double kGridRange = 6.5;
inline constexpr double kWideRange = 10.0;
/// Cells per unit of length of the grids: the first that is fine enough. Periods are multiples of the widest
/// cell. The last one is for laws with narrow parts, as where dropout leaves the noise of the bias alone.
inline constexpr int kCoarseCells = 16;
inline constexpr std::array<int, 3> kCells = {kCoarseCells, 32, 128};

/// sup |(x^3 - 3x) phi(x)|, rounded up: the fourth derivative of Phi.
inline constexpr double kNormalFourth = 0.5507;

/// Cells of tails are cut into this many parts.
inline constexpr int kTailParts = 4;

/// One side, seen as the upper one, of a law Z on the line at y_i = i cell from 0 up to the range of the
/// grid.
struct LineGrid {
  double cell = 0.0;
  std::size_t last = 0;               ///< y_last is the range
  std::vector<double> density, tail;  ///< tail: P(Z > y_i)
  // In cell i: bounds of the density, and of its inverse by a chord.
  std::vector<double> least, most, inverse_left, inverse_right;
  /// Z is the mixture of them.
  struct Component {
    double weight, mean, deviation;

    [[nodiscard]] double place(double y) const { return (y - mean) / deviation; }
  };
  std::vector<Component> components;

  /// What is known of Z at any y.
  struct Point {
    double tail = 0.0;       ///< P(Z > y)
    double rate = INFINITY;  ///< P(Z > y + e) <= tail exp(-rate e)
    // P(Z > y - d) >= back_tail exp(back_rate d - d^2 / (2 back_scale^2)): the largest component alone.
    double back_tail = 0.0, back_rate = 0.0, back_scale = 1.0;
  };
  [[nodiscard]] Point at(double y) const;
  /// No less than E (Z - y)_+^2.
  [[nodiscard]] double square_beyond(double y) const;
};
/// Of N(0,1), both sides; cells are those above or half as wide, ranges those above.
const LineGrid& normal_grid(int cells_per_unit, double range);

/// One side of the line, seen as the upper one: at y_i for Y, or for -Y.
struct DistributionSide {
  const LineGrid* grid = nullptr;
  std::vector<double> value;  ///< P(Y > y_i) - P(Z > y_i)
  std::vector<double> slope;  ///< density of Y less that of Z

  /// The cubic of cell i at y_i + t cell, 0 <= t <= 1.
  [[nodiscard]] double between(std::size_t i, double t) const;
  /// What it falls by there, in the middle of cell i: as `slope`.
  [[nodiscard]] double slope_at_middle(std::size_t i) const;
};

struct DistributionCurve {
  DistributionSide upper, lower;
  double error = 0.0;   ///< no less than |F_Y - Phi - cubics| on the whole range of the grid
  double fourth = 0.0;  ///< no less than the fourth derivative of what the cubics interpolate
};

DistributionCurve distribution_curve(const DistributionSeries& series);

// Tails of the comparison of Y with Z, node by node from the outside in: docs/theory/stein.md (Y.7).

/// What is known of P(Y > y) and of T(y) = PhiInv(F_Y(y)).
struct TailPoint {
  double y;
  double lower = 0.0, upper = 0.0;
  double up, down;  ///< y - down <= T(y) <= y + up

  /// At y_i + part of a cell, from P(Z > y), the change of it, and the error of that.
  TailPoint(const LineGrid& grid, std::size_t fine, double change, double error);
  [[nodiscard]] bool is_known() const { return known; }

  bool known = false;  ///< does T(y) exist, on this side of zero?
};

class DistributionTail {
 public:
  /// At the outermost node where something is known.
  DistributionTail(const DistributionSide& side, double error, const SideMoments& moments);

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

// W2 between the law of a sum of independent neurons and another law, from its distribution function on a
// grid (Y.5) - (Y.7).

/// The law of Y, as far as it can be computed: not at all where there is no noise of the bias, too little
/// noise, or tails are too heavy.
struct ComputedLaw {
  bool exists = false;
  DistributionCurve curve;
  std::vector<TailMoments> tails;
};
ComputedLaw computed_law(const OutputLaw& law);

/// W2 between Y and the law Z of the curve's grids; infinite where nothing is known.
UpperBound line_distance(const DistributionCurve& curve, const std::vector<TailMoments>& tails);
/// The same to N(0,1).
UpperBound distance_to_normal(const ComputedLaw& law);

}  // namespace mixcert
