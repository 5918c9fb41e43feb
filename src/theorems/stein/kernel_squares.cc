// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// (Y.11), one half of the line at a time: from the far end inwards, so that no integral is divided by a
// density smaller than that of its mass. Between nodes the activation is its chord up to `bend`, and a kernel
// K its chord up to w^2/8 sup |K''|, because u' = x u - c for u = h_c.
#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

#include "activation/quadrature_rules.h"
#include "core/normal.h"
#include "mixcert/core/rounding.h"
#include "theorems/stein/neuron_kernels.h"

namespace mixcert {

// Three grids, made once: cells of 1/11, 1/16 and 1/32 near zero, wider ones where little mass is.

namespace {

constexpr double kWidestCell = 0.2;

std::vector<KernelCell> cells_of(double narrowest) {
  std::vector<KernelCell> cells;
  KernelNode left = kernel_node(0.0);
  while (left.x < kFarKernel) {
    const double width = std::min(kWidestCell, narrowest * (1.0 + left.x / 6.0));
    const double end = left.x + width;
    const KernelNode right = kernel_node(end > kFarKernel - 0.5 * width ? kFarKernel : end);
    cells.push_back(kernel_cell(left, right));
    left = right;
  }
  return cells;
}

}  // namespace

KernelNode kernel_node(double x) { return {x, normal_tail(x), 1.0 / normal_density(x)}; }

KernelCell kernel_cell(const KernelNode& left, const KernelNode& right) {
  KernelCell cell{left, right};
  if (!(cell.width() > 0.0)) return cell;
  WeightedNodes rule;
  place_equal_panels(left.x, right.x, 1.0, rule);
  for (Eigen::Index i = 0; i < rule.nodes.size(); ++i) {
    const double lb = (rule.nodes(i) - left.x) / cell.width();
    const double la = 1.0 - lb;
    cell.aa += rule.weights(i) * la * la;
    cell.ab += rule.weights(i) * la * lb;
    cell.bb += rule.weights(i) * lb * lb;
  }
  return cell;
}

const std::vector<KernelCell>& kernel_cells(double s) {
  static const std::array<std::vector<KernelCell>, 3> grids = {cells_of(1.0 / 11), cells_of(1.0 / 16),
                                                               cells_of(1.0 / 32)};
  return grids[s <= 0.8 ? 0 : s <= 1.8 ? 1 : 2];
}

namespace {

/// Beyond the last node: from here on, int_x^inf (1 + t - X)^12 phi(t) dt is below `mass`, X = kFarKernel.
struct FarPiece {
  double x, mass;
};
constexpr FarPiece kFarPieces[] = {{kFarKernel, 5e-11}, {10.0, 1e-15}, {14.0, 1e-32}, {20.0, 1e-73}};
/// int_10^inf of t - X and of its square, times phi, are below this.
constexpr double kVeryFar = 1e-21;

/// One half of the line, y = |x|; s has the sign of the half.
class HalfSums {
 public:
  HalfSums(const Activation& f, double m, double s, const Enclosed& mean, const Enclosed& variance,
           const KernelArray& centers, KernelSquares& sums)
      : f_(f),
        is_linear_(f.traits().linear() != nullptr),
        left_slope_(is_linear_ ? f.traits().linear()->left(f.slope()) : 0.0),
        m_(m),
        s_(s),
        mean_(mean),
        variance_(variance),
        centers_(centers),
        steepest_(std::abs(s) * f.lipschitz().upper),
        sums_(sums) {}

  void add() {
    const std::vector<KernelCell>& cells = kernel_cells(is_linear_ ? 0.0 : std::abs(s_));
    const double kink = f_.traits().analytic() == nullptr ? -m_ / s_ : -1.0;
    start(cells.back().right);
    for (std::size_t i = cells.size(); i-- > 0;) {
      const KernelCell& cell = cells[i];
      if (kink > cell.left.x && kink < cell.right.x) {
        const KernelNode middle = kernel_node(kink);
        step(kernel_cell(middle, cell.right));
        step(kernel_cell(cell.left, middle));
      } else {
        step(cell);
      }
    }
  }

 private:
  /// Integrals beyond the last node, and what the kernels' squares are there at most: the chords are the
  /// centers.
  void start(const KernelNode& end) {
    const double density = 1.0 / end.inverse_density;
    const double first = density - end.x * end.tail;                                          // E (x - X)_+
    const double second = positive_part((1.0 + end.x * end.x) * end.tail - end.x * density);  // E (x - X)_+^2
    reached_.x = end.x;
    reached_.value = f_(m_ + s_ * end.x);
    const double d = reached_.value - mean_.value;
    const double size = std::abs(d) + mean_.error;
    const double near = slope_beyond(0);
    const double moved = near * first + steepest_ * kVeryFar;
    j1_ = d * end.tail;
    j1_error_ = moved + mean_.error * end.tail;
    j2_ = (d * d - variance_.value) * end.tail;
    j2_error_ = 2.0 * size * moved + near * near * second + steepest_ * steepest_ * kVeryFar +
                (2.0 * size * mean_.error + variance_.error) * end.tail;
    reach(end);
    add_far(size);
  }

  /// sup |a'| on a piece beyond the last node.
  [[nodiscard]] double slope_beyond(std::size_t piece) const {
    const double z0 = m_ + s_ * kFarPieces[piece].x;
    const double z1 =
        piece + 1 < std::size(kFarPieces) ? m_ + s_ * kFarPieces[piece + 1].x : std::copysign(INFINITY, s_);
    return enlarged(std::abs(s_) * f_.max_slope(std::min(z0, z1), std::max(z0, z1)).upper);
  }

  /// What the kernels' squares are at most beyond the last node, where |d| is at most `size`.
  void add_far(double size) {
    const double c1 = size / kFarKernel + steepest_;
    const double c2 = (2.0 * size * size + variance_.magnitude() + 4.0 * steepest_ * steepest_) / kFarKernel;
    const double growth = larger_or_nan(size, steepest_);
    const double values = mean_.magnitude() + growth;
    const double kernel = c2 + (2.0 * mean_.magnitude() + growth) * c1;
    const KernelArray bounds = {c1 * values, kernel, kernel, kernel * values, kernel * values, c1};
    for (std::size_t piece = 0; piece < std::size(kFarPieces); ++piece) {
      const double steep = slope_beyond(piece);
      for (std::size_t p = 0; p < bounds.size(); ++p) {
        const double bound = steep * bounds[p];
        sums_.rest[p] += 2.0 * kFarPieces[piece].mass * bound * bound;
      }
    }
    // P(Z > X) < 2e-12.
    for (std::size_t p = 0; p < bounds.size(); ++p) sums_.rest[p] += 4e-12 * centers_[p] * centers_[p];
  }

  /// h and k at a node from their integrals.
  void reach(const KernelNode& p) {
    const double rounding = 1e-11 * (std::abs(j1_) + std::abs(j2_) + p.tail * variance_.value);
    reached_.h = j1_ * p.inverse_density;
    reached_.k = j2_ * p.inverse_density;
    reached_.h_error = (j1_error_ + rounding) * p.inverse_density;
    reached_.k_error = (j2_error_ + rounding) * p.inverse_density;
  }

  /// Adds the integrals of d and d^2 - v over the cell, d its chord up to `bend`.
  void integrate(const KernelCell& cell, double da, double db, double bend) {
    const double mass = cell.mass();
    const double size = larger_or_nan(std::abs(da), std::abs(db)) + bend;
    j1_ += da * (cell.aa + cell.ab) + db * (cell.ab + cell.bb);
    j2_ += da * da * cell.aa + 2.0 * da * db * cell.ab + db * db * cell.bb - variance_.value * mass;
    j1_error_ += (bend + 1e-11 * size) * mass;
    j2_error_ +=
        (bend * (2.0 * size + bend) + variance_.error + 1e-11 * (size * size + variance_.value)) * mass;
  }

  void step(const KernelCell& cell) {
    const double w = cell.width();
    if (!(w > 0.0)) return;
    const double za = m_ + s_ * cell.left.x, zb = m_ + s_ * cell.right.x;
    KernelEnd right = reached_;
    reached_.x = cell.left.x;
    reached_.value = f_(za);
    const double fa = slope(za, za + zb), fb = slope(zb, za + zb);
    const Bends bends = bends_between(f_, za, zb, fa, fb);
    const double second = s_ * s_ * bends.second, third = std::abs(s_) * s_ * s_ * bends.third;
    const double largest = larger_or_nan(std::abs(reached_.value), std::abs(right.value));
    const double node_error = mean_.error + 1e-13 * (1.0 + largest);
    const double bend = std::min(0.125 * w * w * second, 0.5 * w * steepest_) + node_error;
    integrate(cell, reached_.value - mean_.value, right.value - mean_.value, bend);
    reach(cell.left);
    KernelEnd left = reached_;
    left.slope = s_ * fa;
    right.slope = s_ * fb;
    add_chords(cell, left.kernels(mean_.value), right.kernels(mean_.value));
    if (is_linear_ && fa == 0.0) return;  // all kernels are zero there
    if (second > 0.0) {
      left.bend = s_ * s_ * second_derivative(f_, za, left.value, fa);
      right.bend = s_ * s_ * second_derivative(f_, zb, right.value, fb);
    }
    const double steep = std::min(
        steepest_, enlarged(larger_or_nan(std::abs(left.slope), std::abs(right.slope)) + 0.5 * w * second));
    const CellFunction a{
        {largest + bend, steep, second}, {steep, second, third}, bend, node_error, 1e-14 * std::abs(s_)};
    add_remainders(cell, left, right, a, mean_, variance_, sums_.rest);
  }

  /// f' at an end of a cell; `middle` has the sign of its middle.
  [[nodiscard]] double slope(double z, double middle) const {
    if (!is_linear_) return f_.derivative(z);
    return middle > 0.0 ? 1.0 : left_slope_;
  }

  void add_chords(const KernelCell& cell, KernelArray ka, KernelArray kb) {
    for (int p = 0; p < kKernelCount; ++p) {
      ka[p] -= centers_[p];
      kb[p] -= centers_[p];
    }
    const auto product = [&](int p, int q) {
      return cell.aa * ka[p] * ka[q] + cell.ab * (ka[p] * kb[q] + kb[p] * ka[q]) + cell.bb * kb[p] * kb[q];
    };
    for (int p = 0; p < 3; ++p) {
      for (int q = p; q < 3; ++q) sums_.second(p, q) += product(p, q);
    }
    for (int p = 0; p < 2; ++p) {
      for (int q = p; q < 2; ++q) sums_.third(p, q) += product(kKernelValue + p, kKernelValue + q);
    }
    sums_.tau += product(kTau, kTau);
  }

  const Activation& f_;
  const bool is_linear_;
  const double left_slope_;  ///< of a piecewise linear function
  const double m_, s_;
  const Enclosed mean_, variance_;
  const KernelArray& centers_;
  const double steepest_;
  KernelSquares& sums_;
  KernelEnd reached_{};  ///< the node that was reached
  double j1_ = 0.0, j2_ = 0.0, j1_error_ = 0.0, j2_error_ = 0.0;
};

}  // namespace

KernelSquares kernel_squares(const Activation& activation, double m, double s, const Enclosed& mean,
                             const Enclosed& variance, const KernelArray& centers) {
  KernelSquares sums;
  for (const double sign : {1.0, -1.0}) {
    HalfSums(activation, m, sign * s, mean, variance, centers, sums).add();
  }
  for (double& rest : sums.rest) rest = enlarged(std::sqrt(rest));
  sums.mirror();
  return sums;
}

}  // namespace mixcert
