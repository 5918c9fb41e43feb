// Licensed under the Apache License, Version 2.0; see LICENSE.
#include "network/mask_sums/mask_lattice.h"

#include <algorithm>
#include <cmath>

#include "core/elementary.h"
#include "core/normal.h"
#include "mixcert/core/rounding.h"

namespace mixcert {
namespace {

/// Masses p_i become stay p_i + go p_{i-k}.
struct StayOrGo {
  double stay, go;
};

void add_step(Index k, const StayOrGo& with, Vector& masses, Vector& next, Index& points) {
  next.head(points) = with.stay * masses.head(points);
  next.segment(points, k).setZero();
  next.segment(k, points) += with.go * masses.head(points);
  points += k;
  masses.swap(next);
}

/// No less than phi(Phi^-1(mass)): it is concave in the mass, so that every tangent phi(q) - q (mass -
/// Phi(q)) is no less, whatever q is. `mass` may be any number of at most 1/2.
double density_at_mass(double mass) {
  const double q = mass > 1e-30 ? std::min(0.0, normal_quantile(std::min(mass, 0.5))) : -12.0;
  constexpr double kError = kElementaryFunctionError;
  const double density = normal_density(q) * (1.0 + (q * q + 8.0) * kError);
  const double beyond = mass - normal_cdf(q) * (1.0 - 64.0 * kError);
  return density - q * beyond;
}

}  // namespace

std::optional<MaskLattice> mask_lattice(const Vector& sizes, const Vector& rare, Index most) {
  const Index n = sizes.size();
  const double total = sizes.cwiseAbs().sum();
  // Rounding moves every size by half a step.
  const Index whole = most - 2 - n / 2;
  if (!(total > 0.0) || !std::isfinite(total) || 2 * whole < most) return std::nullopt;
  MaskLattice lattice;
  lattice.step = total / static_cast<double>(whole);
  if (!(lattice.step > 1e-280)) return std::nullopt;
  Vector masses(most), next(most);
  masses(0) = 1.0;
  Index points = 1;
  double moved = 0.0, mean = 0.0, size = 0.0;
  for (Index j = 0; j < n; ++j) {
    const double units = std::round(sizes(j) / lattice.step);
    const auto k = static_cast<Index>(std::abs(units));
    const double spread = rare(j) * (1.0 - rare(j));
    // Off by two roundings of a number below |size_j|.
    const double off = std::abs(sizes(j) - units * lattice.step) + 4.0 * kUnitRoundoff * std::abs(sizes(j));
    moved += spread * square(off);
    lattice.variance += spread * square(units);
    mean += rare(j) * (sizes(j) - units * lattice.step);
    size += std::abs(sizes(j)) + std::abs(units) * lattice.step;
    const double often = 1.0 - rare(j);
    // -k B = -k + k (1 - B).
    if (units < 0.0) lattice.first -= static_cast<double>(k);
    if (k > 0)
      add_step(k, units < 0.0 ? StayOrGo{rare(j), often} : StayOrGo{often, rare(j)}, masses, next, points);
  }
  lattice.first = lattice.step * lattice.first + mean;
  lattice.first_error = enlarged(rounding_gamma(2 * n + 16) * size);
  lattice.masses = masses.head(points);
  lattice.relative = rounding_gamma(8 * n + 16);
  lattice.variance = reduced(lattice.variance);
  lattice.moved = enlarged(std::sqrt(moved)) + 1e-290;
  return lattice;
}

double normal_correlation(const MaskLattice& lattice) {
  // E k g = sum_k phi(Phi^-1(F_k)) for the coupling in which both grow together, F_k = P_0 + .. + P_k, and
  // the sum over k but the last; phi(Phi^-1(F)) = phi(Phi^-1(1-F)), the smaller one of the two is accurate.
  const Index points = lattice.masses.size();
  const double widened = 1.0 + lattice.relative + rounding_gamma(points + 4);
  Vector below(points), above(points);
  double sum = 0.0;
  for (Index k = 0; k < points; ++k) below(k) = (sum += lattice.masses(k));
  sum = 0.0;
  for (Index k = points - 1; k >= 0; --k) {
    above(k) = sum;
    sum += lattice.masses(k);
  }
  double correlation = 0.0;
  for (Index k = 0; k + 1 < points; ++k) {
    const double mass = std::min(below(k), above(k)) * widened + 1e-270;
    correlation += positive_part(density_at_mass(mass));
  }
  return correlation * (1.0 + rounding_gamma(points + 16));
}

double nearest_gaussian(const MaskLattice& lattice) {
  // min over s of Var k + s^2 - 2 s E k g. The variance is 1e-9 too small, which covers this difference.
  const double squared = lattice.variance - square(normal_correlation(lattice));
  if (!(squared > 0.0)) return 0.0;
  return positive_part(reduced(lattice.step * std::sqrt(squared)) - lattice.moved);
}

}  // namespace mixcert
