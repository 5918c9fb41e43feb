// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Upper sums of (Y.11), one half of the line at a time: from the far end inwards, so that no integral is
// divided by a density smaller than that of its mass. Between nodes the activation is its chord up to `bend`,
// and every kernel is bounded by its values and slopes at the ends of the cell, since u' = x u - c.
#include "certify/kernel_squares.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "mixcert/core/normal.h"
#include "mixcert/core/rounding.h"

namespace mixcert {
namespace {

using F = ActivationFunction;

constexpr int kCellsPerUnit = 14;
constexpr double kFar = 7.0;
/// int_X^inf (1 + x - X)^12 phi(x) dx is below this, X = kFar.
constexpr double kBeyond = 5e-11;

struct GridPoint {
  double x, density, tail;
  double inverse;  ///< of the density
};

GridPoint grid_point(double x) {
  const double density = normal_density(x);
  return {x, density, normal_tail(x), 1.0 / density};
}

const std::vector<GridPoint>& half_grid() {
  static const std::vector<GridPoint> points = [] {
    std::vector<GridPoint> made;
    for (int i = 0; i <= kCellsPerUnit * static_cast<int>(kFar); ++i) {
      made.push_back(grid_point(static_cast<double>(i) / kCellsPerUnit));
    }
    return made;
  }();
  return points;
}

/// The activation on one half of the line, as a function of y = |x|.
struct HalfFunction {
  const Activation& f;
  double m, s;  ///< s has the sign of the half
  bool piecewise_linear, is_smooth;

  [[nodiscard]] double value(double y) const { return f(m + s * y); }
  /// Of the cell that `inside` lies in.
  [[nodiscard]] double slope(double y, double inside) const {
    return s * f.derivative(piecewise_linear ? m + s * inside : m + s * y);
  }
};

/// sup |u| on a cell of width w: values and slopes at its ends, a bound of |u''|.
double cell_bound(double u0, double u1, double slope0, double slope1, double curvature, double error,
                  double w) {
  const double slope = std::max(std::abs(slope0), std::abs(slope1)) + 0.5 * w * curvature;
  return std::max(std::abs(u0), std::abs(u1)) + error + 0.5 * w * slope;
}

/// Everything known at a node: h = h_d and k = h_{d^2 - v}, and what they may be off by.
struct Kernels {
  double h, k, h_error, k_error;
};

class HalfSums {
 public:
  HalfSums(const HalfFunction& f, const Enclosed& mean, const Enclosed& variance)
      : f_(f),
        mean_(mean.value),
        variance_(variance.value),
        mean_error_(mean.error),
        variance_error_(variance.error),
        steepest_(std::abs(f.s) * f.f.lipschitz().upper) {}

  void add_to(KernelSquares& sums) {
    std::vector<GridPoint> grid = half_grid();
    insert_kink(grid);
    GridPoint outer = grid.back();
    double value = f_.value(outer.x);
    start(outer, value - mean_, sums);
    for (std::size_t i = grid.size() - 1; i-- > 0;) {
      const double inner_value = f_.value(grid[i].x);
      step(grid[i], outer, inner_value, value, sums);
      outer = grid[i];
      value = inner_value;
    }
  }

 private:
  void insert_kink(std::vector<GridPoint>& grid) const {
    if (f_.is_smooth) return;
    const double kink = -f_.m / f_.s;
    if (!(kink > 0.0) || !(kink < kFar)) return;
    const auto at = std::find_if(grid.begin(), grid.end(), [&](const GridPoint& p) { return p.x > kink; });
    grid.insert(at, grid_point(kink));
  }

  /// Integrals beyond the last node, and what the kernels' squares add there.
  void start(const GridPoint& end, double d, KernelSquares& sums) {
    const double first = end.density - end.x * end.tail;  // E (x - X)_+
    const double second =
        std::max(0.0, (1.0 + end.x * end.x) * end.tail - end.x * end.density);  // E (x - X)_+^2
    const double size = std::abs(d) + mean_error_;
    j1_ = d * end.tail;
    j1_error_ = steepest_ * first + mean_error_ * end.tail;
    j2_ = (d * d - variance_) * end.tail;
    j2_error_ = 2.0 * size * steepest_ * first + steepest_ * steepest_ * second +
                (2.0 * size * mean_error_ + variance_error_) * end.tail;
    last_ = kernels(end);
    const double c1 = size / kFar + steepest_;
    const double c2 = (2.0 * size * size + variance_ + variance_error_ + 4.0 * steepest_ * steepest_) / kFar;
    const double growth = std::max(size, steepest_);
    const double values = std::abs(mean_) + mean_error_ + growth;
    const double kernel = steepest_ * (c2 + (2.0 * std::abs(mean_) + 2.0 * mean_error_ + growth) * c1);
    add(kBeyond, steepest_ * c1, kernel, kernel, values, sums);
  }

  static void add(double mass, double tau, double second, double square, double value, KernelSquares& sums) {
    sums.tau.add(mass, tau);
    sums.tau_value.add(mass, tau * value);
    sums.second.add(mass, second);
    sums.square.add(mass, square);
    sums.second_value.add(mass, second * value);
    sums.square_value.add(mass, square * value);
  }

  [[nodiscard]] Kernels kernels(const GridPoint& p) const {
    const double rounding = 1e-11 * (std::abs(j1_) + std::abs(j2_) + p.tail * variance_);
    return {j1_ * p.inverse, j2_ * p.inverse, (j1_error_ + rounding) * p.inverse,
            (j2_error_ + rounding) * p.inverse};
  }

  /// Adds the integrals of d and d^2 - v over the cell, d its chord up to `bend`.
  void integrate(const GridPoint& a, const GridPoint& b, double da, double db, double bend) {
    const double w = b.x - a.x;
    const double mass = a.tail - b.tail;
    const double first = a.density - b.density - a.x * mass;  // of x - a
    const double second =
        mass + a.x * a.density - b.x * b.density - 2.0 * a.x * (a.density - b.density) + a.x * a.x * mass;
    const double slope = (db - da) / w;
    const double size = std::max(std::abs(da), std::abs(db)) + bend;
    j1_ += da * mass + slope * first;
    j2_ += da * da * mass + 2.0 * da * slope * first + slope * slope * second - variance_ * mass;
    // Densities and tails are good to 5e-14 of themselves; `first` and `second` are differences of them.
    const double lost = 1e-12 * (1.0 + b.x) * steepest_ * a.density;
    j1_error_ += bend * mass + lost + 1e-11 * size * mass;
    j2_error_ += (bend * (2.0 * size + bend) + variance_error_) * mass +
                 lost * ((1.0 + b.x) * steepest_ + 2.0 * size) + 1e-11 * (size * size + variance_) * mass;
  }

  void step(const GridPoint& a, const GridPoint& b, double va, double vb, KernelSquares& sums) {
    const double w = b.x - a.x;
    if (!(w > 0.0)) return;
    const double middle = a.x + 0.5 * w;
    const double curvature = f_.piecewise_linear ? 0.0 : f_.s * f_.s;  // of a
    const double da = va - mean_, db = vb - mean_;
    const double largest = std::max(std::abs(va), std::abs(vb));
    const double bend =
        std::min(0.125 * w * w * curvature, 0.5 * w * steepest_) + mean_error_ + 1e-13 * (1.0 + largest);
    const double size = largest + bend;
    const Kernels outer = last_;
    integrate(a, b, da, db, bend);
    const Kernels inner = last_ = kernels(a);
    const double sa = f_.slope(a.x, middle), sb = f_.slope(b.x, middle);
    const double steep =
        std::min(steepest_, (std::max(std::abs(sa), std::abs(sb)) + 0.5 * w * curvature) * kSafety);
    const double h_error = std::max(inner.h_error, outer.h_error);
    const double k_error = std::max(inner.k_error, outer.k_error);
    const double d_size = std::max(std::abs(da), std::abs(db)) + bend;

    // h' = x h - d, h'' = h + x h' - a'.
    const double x = b.x;
    const double crude = 1.0 / (1.0 - 0.5 * w * x);
    const double h_crude =
        (std::max(std::abs(inner.h), std::abs(outer.h)) + h_error + 0.5 * w * d_size) * crude;
    const double h_slope = x * h_crude + d_size;
    const double h = cell_bound(inner.h, outer.h, a.x * inner.h - da, b.x * outer.h - db,
                                h_crude + x * h_slope + steep, h_error, w) +
                     0.5 * w * (x * h_error + bend);

    // t = k - d h: t' = x t - (h a' - v), t'' = t + x t' - (h' a' + h a'').
    const double v = variance_ + variance_error_;
    const double ta = inner.k - da * inner.h, tb = outer.k - db * outer.h;
    const double t_error = k_error + d_size * h_error + bend * h_crude;
    const double t_source = h_crude * steep + v;
    const double t_crude = (std::max(std::abs(ta), std::abs(tb)) + t_error + 0.5 * w * t_source) * crude;
    const double t =
        cell_bound(ta, tb, a.x * ta - (inner.h * sa - variance_), b.x * tb - (outer.h * sb - variance_),
                   t_crude + x * (x * t_crude + t_source) + h_slope * steep + h_crude * curvature, t_error,
                   w) +
        0.5 * w * (x * t_error + h_error * steep + variance_error_);

    // q = k + 2 mu h: q' = x q - (d^2 + 2 mu d - v), q'' = q + x q' - 2 a a'.
    const double mu = std::abs(mean_) + mean_error_;
    const double qa = inner.k + 2.0 * mean_ * inner.h, qb = outer.k + 2.0 * mean_ * outer.h;
    const double q_error = k_error + 2.0 * mu * h_error + 2.0 * mean_error_ * h_crude;
    const double q_source = d_size * (d_size + 2.0 * mu) + v;
    const double q_crude = (std::max(std::abs(qa), std::abs(qb)) + q_error + 0.5 * w * q_source) * crude;
    const double q =
        cell_bound(qa, qb, a.x * qa - (da * (da + 2.0 * mean_) - variance_),
                   b.x * qb - (db * (db + 2.0 * mean_) - variance_),
                   q_crude + x * (x * q_crude + q_source) + 2.0 * size * steep, q_error, w) +
        0.5 * w * (x * q_error + 2.0 * bend * (d_size + mu) + 2.0 * mean_error_ * d_size + variance_error_);
    add((a.tail - b.tail) * kSafety, steep * h, steep * t, steep * q, size, sums);
  }

  const HalfFunction& f_;
  double mean_, variance_, mean_error_, variance_error_, steepest_;
  double j1_ = 0.0, j2_ = 0.0, j1_error_ = 0.0, j2_error_ = 0.0;
  Kernels last_{};  ///< at the node that was reached
};

}  // namespace

KernelSquares kernel_squares(const Activation& activation, double m, double s, const Enclosed& mean,
                             const Enclosed& variance) {
  const F function = activation.function();
  const bool linear = function == F::Identity || function == F::Relu || function == F::LeakyRelu;
  const bool smooth = !linear && function != F::Elu;
  KernelSquares sums;
  for (const double sign : {1.0, -1.0}) {
    const HalfFunction half{activation, m, sign * s, linear, smooth};
    HalfSums(half, mean, variance).add_to(sums);
  }
  for (KernelPowers* powers :
       {&sums.tau, &sums.tau_value, &sums.second, &sums.square, &sums.second_value, &sums.square_value}) {
    powers->square *= kSafety;
    powers->fourth *= kSafety;
  }
  return sums;
}

}  // namespace mixcert
