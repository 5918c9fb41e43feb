// Licensed under the Apache License, Version 2.0; see LICENSE.
#include "simulated/graph/mask_tails.h"

#include <algorithm>
#include <cmath>

#include "mixcert/core/rounding.h"

namespace mixcert {
namespace {

/// c(p) = log(kappa/p)/(kappa - p), the same for p and kappa. Near 1/2 it is 2 artanh(d)/d with d = kappa -
/// p, two at d = 0; elsewhere d, rounded, would lose small rates.
double sobolev_constant(double rate) {
  const double rarer = std::min(rate, 1.0 - rate), d = 1.0 - 2.0 * rarer;
  if (rarer < 0.25) return enlarged((std::log1p(-rarer) - std::log(rarer)) / d);
  return d < 1e-8 ? 2.0 + 1e-15 : enlarged(2.0 * std::atanh(d) / d);
}

/// No less than the norm of order r >= 1 of sum_j w_j b_j, b_j = 1 with probability p and independent: with
/// the largest w of all, `(r/(e s)) largest exp( (p sum/(r largest)) (e^s - 1) )` for every s > 0.
double thinned_sum_norm(double rate, double sum, double largest, double r) {
  if (!(largest > 0.0)) return sum;
  const double load = rate * sum / (r * largest);
  double least = sum;
  // The best s has load s e^s = 1: it lies between these ends where it matters.
  for (double s = 0x1.0p-10; s <= 32.0; s *= 1.25) {
    least = std::min(least, r * largest / s * std::exp(load * std::expm1(s) - 1.0));
  }
  return enlarged(least);
}

}  // namespace

MaskedValues masked_values(const MaskNode& node, const Vector& x) {
  MaskedValues values;
  values.factors = x.size() / node.together;
  for (Index j = 0; j < values.factors; ++j)
    values.largest = std::max(values.largest, x.segment(j * node.together, node.together).norm());
  values.total = enlarged(x.norm());
  values.largest = enlarged(values.largest);
  return values;
}

double mask_stretch(const MaskNode& node, Index factors, double q) {
  if (node.jumps()) return enlarged(1.0 / node.mask.keep());
  // The largest of n normals in absolute value is 1-Lipschitz, its mean square at most 4 log n + 2 log 2.
  const double square = 4.0 * std::log(static_cast<double>(factors)) + 2.0 * std::log(2.0) + (q - 2.0);
  return enlarged(1.0 + std::sqrt(node.mask.variance().upper * square));
}

double mask_noise(const MaskNode& node, const MaskedValues& x, double q) {
  const double variance = node.mask.variance().upper;
  if (!node.jumps())
    return enlarged(std::sqrt(variance * (x.total * x.total + (q - 2.0) * x.largest * x.largest)));
  // Factors less one are -1 where masks drop, nu elsewhere.
  const double square = variance * variance, all = x.total * x.total;
  if (square >= 1.0) return enlarged(std::sqrt(square * all));
  const double dropped =
      thinned_sum_norm(node.mask.rate(), enlarged(all), enlarged(x.largest * x.largest), 0.5 * q);
  return enlarged(std::sqrt(std::min(all, square * all + (1.0 - square) * dropped)));
}

double jump_weight(const Mask& mask) {
  return enlarged(0.5 * std::max(mask.rate(), mask.keep()) * sobolev_constant(mask.rate()));
}

double standardised_jump_weight(const Mask& mask) {
  return enlarged(0.5 * sobolev_constant(mask.rate()) / std::min(mask.rate(), mask.keep()));
}

}  // namespace mixcert
