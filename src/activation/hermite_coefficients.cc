// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// docs/theory/joint-moments.md (J.2). The normalised polynomials h_p = He_p / sqrt(p!) come from their
// three-term recurrence.
#include "activation/hermite_coefficients.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "activation/enclosed_arithmetic.h"
#include "activation/hermite_rule.h"
#include "activation/node_values.h"
#include "activation/quadrature_moments.h"
#include "activation/strip_bound.h"
#include "core/normal.h"

namespace mixcert {
namespace {

// What lies beyond the nodes of a HermiteRule, of the integrand's scale.
constexpr double kBeyondCut = 1e-20;
constexpr double kSteepest = 1.1290;
constexpr double kMargin = 1.01;
// Relative error of a weight at |x| <= 13.9, as in (V.6).
constexpr double kWeightError = 384 * kUnitRoundoff;

/// c_p, p >= 3, by the trapezoidal rule; false where no rule is fine enough.
bool add_by_quadrature(const Activation& activation, double mean, double deviation,
                       HermiteExpansion& expansion) {
  const Analytic& function = *activation.traits().analytic();
  const double s = deviation;
  const StripBound strip = strip_bound(function, favourable_half_width(function, s));
  const double a = strip.half_width / s;
  const HermiteRule* rule = hermite_rule(function, s);
  if (rule == nullptr) return false;
  NodeValues g;
  evaluate_nodes(activation, mean, s, rule->nodes, g);
  // Cauchy and Schwarz: sum w h_p e is at most the root mean square of e, and that e_4 (V.6).
  const double value_error = node_error(s);
  const double norm = std::sqrt((rule->weights * g.values.square()).sum());
  const double growth = std::min(s * strip.slope * (a + kFourthNorm), strip.value + 1.0) + value_error;
  const double gamma = rounding_gamma(rule->nodes.size() + 8 * kHermiteOrder + 16) + kWeightError;
  const double ratio = 2.0 * std::numbers::pi * a / rule->step;
  NodeArray slopes;
  evaluate_slopes(activation, mean, s, rule->nodes, slopes);
  const double energy = (rule->weights * slopes.square()).sum();
  const double energy_error =
      2.0 * std::exp(0.5 * a * a - ratio) * strip.slope * strip.slope + 1.3 * gamma + 256 * kUnitRoundoff;
  expansion.slope_energy = std::min(expansion.slope_energy, kMargin * s * s * energy_error + s * s * energy);
  double squares = 0.0;
  for (Index p = 3; p <= kHermiteOrder; ++p) {
    expansion.value(p) = rule->weighted.col(p).dot(g.values.matrix());
    const double strip_error =
        2.0 * std::exp(0.5 * a * a + a * std::sqrt(static_cast<double>(p)) - ratio) * growth;
    const double rounding = gamma * rule->size(p) + recurrence_error(p + 1) * rule->majorant(p);
    const double error =
        kMargin * (value_error + rounding * norm + strip_error + kBeyondCut * (2.0 + kSteepest * s));
    squares += error * error;
  }
  expansion.error += kMargin * std::sqrt(squares);
  return true;
}

/// c_p = (right - left) s phi(t) h_{p-2}(t) / sqrt(p (p-1)), t = -m/s: f'' is a multiple of a delta function.
void add_closed_form(double left, double right, double mean, double deviation, HermiteExpansion& expansion) {
  const double t = -mean / deviation;
  const double above = normal_tail(t);
  const double below = normal_tail(-t);
  expansion.slope_energy =
      (1.0 + 1e-11) * deviation * deviation * (right * right * above + left * left * below);
  expansion.kinked = true;
  // From 39 on the density is below the smallest double, and so is its product with any h_p, p <= 24.
  if (!(std::abs(t) < 39.0)) {
    expansion.error += 1e-300 * (1.0 + deviation);
    return;
  }
  const Enclosed x{t, safe_error(kUnitRoundoff * std::abs(t))};
  const double density = normal_density(t);
  const Enclosed scale = (deviation * (exactly(right) - exactly(left))) *
                         Enclosed{density, safe_error(8 * kUnitRoundoff * (t * t + 4.0) * density)};
  const auto root_of = [](Index p) {
    const double root = std::sqrt(static_cast<double>(p));
    return Enclosed{root, kUnitRoundoff * root};
  };
  const auto inverse_root_of = [](Index p) {
    const double inverse = 1.0 / std::sqrt(static_cast<double>(p));
    return Enclosed{inverse, 3 * kUnitRoundoff * inverse};
  };
  Enclosed before{0.0, 0.0};
  Enclosed now = scale;
  double squares = 0.0;
  for (Index q = 0; q + 2 <= kHermiteOrder; ++q) {
    const Enclosed coefficient = now * inverse_root_of((q + 1) * (q + 2));
    if (q > 0) {
      expansion.value(q + 2) = coefficient.value;
      squares += coefficient.error * coefficient.error;
    }
    const Enclosed after = (x * now - root_of(q) * before) * inverse_root_of(q + 1);
    before = now;
    now = after;
  }
  expansion.error += kMargin * std::sqrt(squares);
}

}  // namespace

HermiteExpansion hermite_expansion(const Activation& activation, double mean, double deviation) {
  const GaussianMoments moments = gaussian_moments(activation, mean, deviation);
  HermiteExpansion expansion;
  expansion.value = Vector::Zero(kHermiteOrder + 1);
  expansion.value.head(3) << moments.mean.value, moments.slope.value, moments.curvature.value;
  expansion.moments = moments;
  expansion.mean = moments.mean;
  expansion.variance = nonnegative(square(moments.slope) + moments.residual);
  expansion.error = next_up(moments.slope.error + moments.curvature.error);
  expansion.order = 2;
  const double l = activation.lipschitz().upper;
  expansion.slope_energy = (1.0 + 1e-12) * l * l * deviation * deviation;
  if (!(deviation > 0.0)) {
    expansion.order = kHermiteOrder;
    return expansion;
  }
  const PiecewiseLinear* linear = activation.traits().linear();
  if (linear != nullptr && linear->has_kink) {
    add_closed_form(linear->left(activation.slope()), 1.0, mean, deviation, expansion);
  }
  if (linear != nullptr || (activation.traits().analytic() != nullptr && deviation >= kTinyDeviation &&
                            add_by_quadrature(activation, mean, deviation, expansion))) {
    expansion.order = kHermiteOrder;
  } else {
    expansion.value.tail(kHermiteOrder - 2).setZero();
  }
  return expansion;
}

}  // namespace mixcert
