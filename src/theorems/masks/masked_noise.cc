// Licensed under the Apache License, Version 2.0; see LICENSE.
#include "theorems/masks/masked_noise.h"

#include <algorithm>
#include <cmath>

#include "methods/moment/moment_error.h"
#include "mixcert/core/rounding.h"
#include "network/mask_sums/mask_lattice.h"

namespace mixcert {
namespace {

constexpr Index kMostNoisePoints = 4096;

/// No more than E t^{1/2}, t = base + sum_j sizes_j B_j >= 0. With t~ on the lattice t - t~ is a variable of
/// mean zero and size r, and one of size `off`; t^{1/2} >= t~^{1/2} + (t - t~) g - (t - t~)^2/(2 t~^{3/2}),
/// g = t~^{-1/2}/2, where t~ >= `least`, and t^{1/2} >= 0 elsewhere.
double root_mean(double base, double off, const MaskLattice& lattice, double least) {
  double root = 0.0, slope = 0.0, slope_square = 0.0;
  for (Index k = 0; k < lattice.masses.size(); ++k) {
    const double t = base + lattice.first + lattice.step * static_cast<double>(k);
    if (!(t >= least)) continue;
    const double own_root = std::sqrt(t), mass = lattice.masses(k);
    root += mass * own_root;
    slope += mass * 0.5 / own_root;
    slope_square += mass * 0.25 / t;
  }
  const double relative = lattice.relative + rounding_gamma(lattice.masses.size() + 16);
  const double spread = std::sqrt(positive_part(slope_square - slope * slope) + 1e-8 * slope_square);
  const double sizes = lattice.moved + off;
  return root * (1.0 - relative) - enlarged(lattice.moved * spread) - enlarged(off * 0.5 / std::sqrt(least)) -
         enlarged(0.5 * sizes * sizes / (least * std::sqrt(least))) - 1e-260;
}

}  // namespace

MaskedNoise masked_noise(const Mask& mask, double least, const Vector& shares, double most_operations) {
  MaskedNoise noise;
  const Index n = shares.size();
  const double keep = mask.keep();
  noise.mean = least + shares.sum() / keep;
  if (!(noise.mean > 0.0) || !(shares.maxCoeff() > 0.0)) return noise;
  // Var m^2 = kappa^-3 - kappa^-2 = p/kappa^3.
  const Vector parts = shares / noise.mean;
  const double variance = enlarged(parts.squaredNorm() * mask.rate() / (keep * keep * keep));
  const double gamma = rounding_gamma(2 * n + 32);
  const double by_moments =
      root_deviation(variance, 1.0 - gamma, 1.0 + gamma, reduced(least / noise.mean)) * (1.0 + 1e-9);
  noise.distance = enlarged(noise.mean * by_moments);
  const double affordable = most_operations / static_cast<double>(n + 64);
  const auto points = static_cast<Index>(std::min(affordable, static_cast<double>(kMostNoisePoints)));
  if (points < 8 * n) return noise;
  // In units of the mean: all masks kept less those that are dropped, or the other way round where keeping is
  // what is rare.
  const bool drops = mask.rate() <= 0.5;
  const Vector sizes = parts * ((drops ? -1.0 : 1.0) / (keep * keep));
  const double base = least / noise.mean + (drops ? parts.sum() / (keep * keep) : 0.0);
  const auto lattice = mask_lattice(sizes, Vector::Constant(n, drops ? mask.rate() : keep), points);
  if (!lattice) return noise;
  const double off = enlarged(2.0 * gamma * (base + sizes.cwiseAbs().sum()) + lattice->first_error);
  double root = 0.0;
  for (const double small : {0.25, 0.0625, 0.015625})
    root = std::max(root, root_mean(base, off, *lattice, small));
  // E (t^{1/2} - 1)^2 = 2 - 2 E t^{1/2}.
  const double by_law = positive_part(2.0 - 2.0 * root) + gamma;
  noise.distance = std::min(noise.distance, enlarged(noise.mean * by_law));
  return noise;
}

}  // namespace mixcert
