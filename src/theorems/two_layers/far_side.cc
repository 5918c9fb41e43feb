// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// E exp(p a + q a^2) of a piecewise linear function a of a normal variable is a sum of two Gaussian integrals
// over half-lines (complete the square). Their logarithms are good to kLogError of what they are made of.
#include <algorithm>
#include <cmath>

#include "activation/neuron/upper_sums.h"
#include "core/normal.h"
#include "mixcert/core/rounding.h"
#include "theorems/two_layers/second_layer.h"

namespace mixcert {
namespace {

constexpr double kLogError = 1e-13;
/// 1 - 2 q s^2 is not below this: integrals converge, and errors grow by no more than its inverse.
constexpr double kLeastSpread = 0.1;
/// Integrals below this have lost digits.
constexpr double kLeastIntegral = 1e-280;
/// Cells of the normal law, half of them on either side; beyond the last |h| > 8.
constexpr int kDensityCells = 256;
constexpr double kDensityReach = 8.0;
constexpr double kBeyondReach = 1.3e-15;

const std::vector<double>& density_masses() {
  static const std::vector<double> masses = [] {
    std::vector<double> made;
    made.reserve(kDensityCells);
    const double step = 2.0 * kDensityReach / kDensityCells;
    for (int i = 0; i < kDensityCells; ++i) {
      made.push_back(enlarged(normal_mass(i * step - kDensityReach, (i + 1) * step - kDensityReach)));
    }
    return made;
  }();
  return masses;
}

constexpr double kLeastTail = 1e-300;

/// A positive number, and what its logarithm may be off by.
struct Integral {
  double value = 0.0;
  double error = 0.0;
};

/// E[exp(p z + q z^2); z > 0], z ~ N(m, s^2):
///     d^{-1/2} exp((p m + q m^2 + p^2 s^2/2)/d) Phi((m + p s^2)/(s d^{1/2})),   d = 1 - 2 q s^2.
Integral half_line(double p, double q, double m, double s) {
  const double d = 1.0 - 2.0 * q * s * s;
  if (!(d >= kLeastSpread)) return {INFINITY, 0.0};
  const double exponent = (p * m + q * m * m + 0.5 * p * p * s * s) / d;
  const double size = (std::abs(p * m) + q * m * m + 0.5 * p * p * s * s) / d;
  const double x = (m + p * s * s) / (s * std::sqrt(d));
  const double reach = (std::abs(m) + std::abs(p) * s * s) / (s * std::sqrt(d));
  // A tail that is subnormal has no relative accuracy; a larger one is no less than it.
  const double tail = larger_or_nan(normal_tail(-x), kLeastTail);
  return {std::exp(exponent) * tail / std::sqrt(d), kLogError * (1.0 + size + reach * reach)};
}

}  // namespace

FarSides::FarSides(const ActivationMap& f, const Gaussian& piece) {
  const Vector deviations = piece.covariance.variances().cwiseSqrt();
  for (Index j = 0; j < piece.dimension() && exist_; ++j) {
    const Activation& own = f.at(j);
    exist_ = SlopeTraits(own).piecewise_linear;
    if (!exist_) return;
    const double m = piece.mean(j), s = deviations(j);
    const double left = own.derivative(-1.0);
    const double constant = left == 0.0 && s > 0.0 ? normal_tail(m / s) : -1.0;
    neurons_.push_back({m, s, left, own.derivative(1.0), constant});
  }
}

double FarSides::square(const Neuron& neuron, double side, double rate) const {
  // E e^{rate side z} = e^{rate side bias + rate^2 least/2} prod_j E e^{p_j a_j + q_j a_j^2}.
  double sum = rate * side * neuron.bias + 0.5 * rate * rate * neuron.least;
  double error = kLogError * (1.0 + rate * std::abs(neuron.bias) + 0.5 * rate * rate * neuron.least);
  for (std::size_t j = 0; j < neurons_.size(); ++j) {
    const Branches& a = neurons_[j];
    const auto place = static_cast<Index>(j);
    const double p = rate * side * neuron.means(place), q = 0.5 * rate * rate * neuron.variances(place);
    if (!(a.deviation > 0.0)) {
      const double value = a.mean * (a.mean > 0.0 ? a.right : a.left);
      sum += p * value + q * value * value;
      error += kLogError * (1.0 + std::abs(p * value) + q * value * value);
      continue;
    }
    const Integral right = half_line(p * a.right, q * a.right * a.right, a.mean, a.deviation);
    Integral left{a.left_constant, kLogError * (1.0 + std::pow(a.mean / a.deviation, 2))};
    if (a.left_constant < 0.0) left = half_line(-p * a.left, q * a.left * a.left, -a.mean, a.deviation);
    const double total = left.value + right.value;
    // Neither underflow nor overflow may stand for a number: other factors may make up for it.
    if (!(total > kLeastIntegral) || !(total < INFINITY)) return INFINITY;
    const double logarithm = std::log(total);
    sum += logarithm;
    error += larger_or_nan(left.error, right.error) + kLogError * (1.0 + std::abs(logarithm));
  }
  // y^2 <= (2/(e rate))^2 e^{rate y} for y >= 0.
  const double factor = 0.73576 / rate;
  const double bound = enlarged(factor * factor * std::exp(sum + error));
  return bound < INFINITY ? bound : INFINITY;
}

double smoothed_density_fourth(double m, double t, double s, double center) {
  const std::vector<double>& masses = density_masses();
  const double step = 2.0 * kDensityReach / kDensityCells;
  const auto position = [&](double h) { return (m + t * h) / s; };
  const auto distance = [&](double y) { return std::abs(normal_density(y) - center) + 1e-14; };
  double sum = 0.0, last = distance(position(-kDensityReach));
  for (int i = 0; i < kDensityCells; ++i) {
    const double a = i * step - kDensityReach, b = a + step;
    const double next = distance(position(b));
    double largest = larger_or_nan(last, next);
    // Monotone on both sides of its peak, which is in the cell where the ends have different signs.
    if (position(a) <= 1e-12 && position(b) >= -1e-12) largest = larger_or_nan(largest, distance(0.0));
    sum += masses[static_cast<std::size_t>(i)] * (largest * largest) * (largest * largest);
    last = next;
  }
  const double beyond = larger_or_nan(std::abs(center), std::abs(normal_density(0.0) - center)) + 1e-14;
  return enlarged(sum + kBeyondReach * std::pow(beyond, 4));
}

}  // namespace mixcert
