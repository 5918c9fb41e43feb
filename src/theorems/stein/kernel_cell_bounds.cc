// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// u = h_c solves u' = x u - c, so all its derivatives at the ends of a cell are known there with their signs,
// and one more derivative bounds them between: docs/theory/stein.md (Y.11).
#include <algorithm>
#include <cmath>
#include <variant>

#include "mixcert/core/rounding.h"
#include "theorems/stein/neuron_kernels.h"

namespace mixcert {

namespace {

/// A solution of u' = x u - c at the ends of a cell, and its source c.
struct KernelSolution {
  double left, right;                ///< u
  double left_source, right_source;  ///< c
  double left_slope, right_slope;    ///< c'
  double error, source_error, slope_error;
  Sups source;
};

double larger(double a, double b) { return larger_or_nan(std::abs(a), std::abs(b)); }

/// u'' = u + x u' - c', u''' = 2 u' + x u'' - c''.
Sups sups_of(const KernelSolution& u, const KernelCell& cell) {
  const double x = cell.right.x, half = 0.5 * cell.width();
  const double ends = larger(u.left, u.right) + u.error;
  // |u| <= ends + half (x sup |u| + sup |c|).
  const double value = (ends + half * u.source.value) / (1.0 - half * x);
  const double slope = x * value + u.source.value;
  const double bend = value + x * slope + u.source.slope;
  const double third = 2.0 * slope + x * bend + u.source.bend;
  const double left1 = cell.left.x * u.left - u.left_source, right1 = x * u.right - u.right_source;
  const double left2 = u.left + cell.left.x * left1 - u.left_slope;
  const double right2 = u.right + x * right1 - u.right_slope;
  const double error1 = x * u.error + u.source_error;
  const double error2 = u.error + x * error1 + u.slope_error;
  const double near2 = std::min(bend, larger(left2, right2) + error2 + half * third);
  const double near1 = std::min(slope, larger(left1, right1) + error1 + half * near2);
  return {std::min(value, ends + half * near1), near1, near2};
}

/// h, t = k - d h and q = k + 2 mu h.
struct CellSolutions {
  Sups h, t, q;
  double h_error, t_error, q_error;

  CellSolutions(const KernelCell& cell, const KernelEnd& left, const KernelEnd& right, const CellFunction& a,
                const Enclosed& mean, const Enclosed& variance) {
    const double mu = mean.value, v = variance.value, mu_size = mean.magnitude();
    const double da = left.value - mu, db = right.value - mu;
    const double d_size = larger(da, db) + a.bend, steep = a.slope.value;
    const double k_error = larger_or_nan(left.k_error, right.k_error), h_size = larger(left.h, right.h);
    h_error = larger_or_nan(left.h_error, right.h_error);
    h = sups_of({left.h,
                 right.h,
                 da,
                 db,
                 left.slope,
                 right.slope,
                 h_error,
                 a.node_error,
                 1e-12 * steep + a.slope_error,
                 {d_size, steep, a.slope.slope}},
                cell);
    // c = h a' - v, c' = h' a' + h a''.
    t_error = k_error + d_size * h_error + a.node_error * h_size;
    const Sups tau = h.times(a.slope);
    const double h_slope_error = cell.right.x * h_error + a.node_error;
    t = sups_of({left.k - da * left.h,
                 right.k - db * right.h,
                 left.h * left.slope - v,
                 right.h * right.slope - v,
                 left.slope * (left.x * left.h - da) + left.h * left.bend,
                 right.slope * (right.x * right.h - db) + right.h * right.bend,
                 t_error,
                 h_error * steep + variance.error + 1e-12 * tau.value + a.slope_error * h.value,
                 h_slope_error * steep + h_error * a.slope.slope + 1e-12 * tau.slope +
                     a.slope_error * (h.slope + h.value),
                 {tau.value + variance.magnitude(), tau.slope, tau.bend}},
                cell);
    // c = d^2 + 2 mu d - v, c' = 2 a a'.
    q_error = k_error + 2.0 * mu_size * h_error + 2.0 * mean.error * h_size;
    const double product = 2.0 * a.value.value * steep;
    q = sups_of({left.k + 2.0 * mu * left.h,
                 right.k + 2.0 * mu * right.h,
                 da * (da + 2.0 * mu) - v,
                 db * (db + 2.0 * mu) - v,
                 2.0 * left.value * left.slope,
                 2.0 * right.value * right.slope,
                 q_error,
                 2.0 * a.node_error * (d_size + mu_size) + 2.0 * mean.error * d_size + variance.error,
                 1e-12 * product + 2.0 * a.slope_error * a.value.value,
                 {d_size * (d_size + 2.0 * mu_size) + variance.magnitude(), product,
                  2.0 * (steep * steep + a.value.value * a.slope.slope)}},
                cell);
  }
};

}  // namespace

void add_remainders(const KernelCell& cell, const KernelEnd& left, const KernelEnd& right,
                    const CellFunction& a, const Enclosed& mean, const Enclosed& variance,
                    KernelArray& rest) {
  const CellSolutions u(cell, left, right, a, mean, variance);
  const double steep = a.slope.value, size = a.value.value;
  const Sups tau = u.h.times(a.slope), dt = u.t.times(a.slope), dq = u.q.times(a.slope);
  const KernelArray bends = {tau.times(a.value).bend, dt.bend, dq.bend, dt.times(a.value).bend,
                             dq.times(a.value).bend,  tau.bend};
  const double h = u.h_error * steep + a.slope_error * u.h.value;
  const double t = u.t_error * steep + a.slope_error * u.t.value;
  const double q = u.q_error * steep + a.slope_error * u.q.value;
  const KernelArray errors = {h * size + a.node_error * tau.value, t, q, t * size + a.node_error * dt.value,
                              q * size + a.node_error * dq.value,  h};
  // |K - chord| <= w^2/2 la lb sup |K''| + error, and (la lb)^2 <= la lb / 4.
  const double w = cell.width();
  const double chord = 0.25 * std::sqrt(cell.ab) * w * w, root = std::sqrt(cell.mass());
  for (int p = 0; p < kKernelCount; ++p) {
    const double remainder = enlarged(chord * bends[p] + root * errors[p]);
    rest[p] += remainder * remainder;
  }
}

// Every bound is a bell-shaped function at the point of the interval nearest to zero times a polynomial at
// the farthest one, docs/theory/stein.md (Y.11); both are in the functions' records.

namespace {

/// z0 and z1 are the ends.
struct Stretch {
  double z0, z1, steepest;
};

Bends bends_on(const Analytic& function, const Stretch& on) {
  const double first = std::abs(on.z0), last = std::abs(on.z1);
  const double nearest = on.z0 * on.z1 > 0.0 ? std::min(first, last) : 0.0;
  const Bends bends = function.bends(nearest, std::max(first, last), on.steepest);
  return {enlarged(bends.second), enlarged(bends.third)};
}

Bends bends_on(const LeftAnalytic& function, const Stretch& on) {
  return on.z0 + on.z1 < 0.0 ? function.bends(on.steepest) : Bends{};
}

}  // namespace

double second_derivative(const Activation& f, double z, double value, double slope) {
  const Smooth* smooth = f.traits().smooth();
  return smooth != nullptr ? smooth->second_derivative(z, value, slope) : 0.0;
}

Bends bends_between(const Activation& f, double z0, double z1, double slope0, double slope1) {
  const Smooth* smooth = f.traits().smooth();
  if (smooth == nullptr) return {};
  const Stretch on{z0, z1, enlarged(std::max(std::abs(slope0), std::abs(slope1)))};
  return std::visit([&](const auto& function) { return bends_on(function, on); }, smooth->domain.get());
}

}  // namespace mixcert
