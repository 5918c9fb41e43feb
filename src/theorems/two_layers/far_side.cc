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
  const double root = std::sqrt(d);
  const double exponent = (p * m + q * m * m + 0.5 * p * p * s * s) / d;
  const double size = (std::abs(p * m) + q * m * m + 0.5 * p * p * s * s) / d;
  const double x = (m + p * s * s) / (s * root);
  const double reach = (std::abs(m) + std::abs(p) * s * s) / (s * root);
  // A tail that is subnormal has no relative accuracy; a larger one is no less than it.
  const double tail = larger_or_nan(normal_tail(-x), kLeastTail);
  return {std::exp(exponent) * tail / root, kLogError * (1.0 + size + reach * reach)};
}

/// The logarithm of a product: one for many factors, since it takes as long as the rest of a factor.
class LogProduct {
 public:
  /// `factor` is positive and finite, its logarithm off by at most `error`.
  void multiply(double factor, double error) {
    error_ += error + kLogError;
    if (!is_ordinary(factor)) take_logarithm();
    product_ *= factor;
    if (!is_ordinary(product_)) take_logarithm();
  }
  /// No less than the logarithm of the exact factors' product.
  [[nodiscard]] double upper() {
    take_logarithm();
    return sum_ + error_;
  }

 private:
  /// Products of two such numbers are neither too large nor too small.
  static bool is_ordinary(double x) { return x > 1e-100 && x < 1e100; }
  void take_logarithm() {
    const double logarithm = std::log(product_);
    sum_ += logarithm;
    error_ += kLogError * (1.0 + std::abs(logarithm));
    product_ = 1.0;
  }

  double sum_ = 0.0, error_ = 0.0, product_ = 1.0;
};

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
  LogProduct product;
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
    product.multiply(total, larger_or_nan(left.error, right.error));
  }
  // y^2 <= (2/(e rate))^2 e^{rate y} for y >= 0.
  const double factor = 0.73576 / rate;
  const double bound = enlarged(factor * factor * std::exp(sum + error + product.upper()));
  return bound < INFINITY ? bound : INFINITY;
}

double smoothed_density_fourth(double m, double t, double s, double center) {
  // E phi(mu + tau h)^k = (2 pi)^{-k/2} (1 + k tau^2)^{-1/2} exp(-k mu^2/(2 (1 + k tau^2))), and the binomial
  // formula; |phi'| <= phi(1) where that has lost its digits (Y.24).
  constexpr double kBinomial[] = {1.0, -4.0, 6.0, -4.0, 1.0};
  constexpr double kInverseRoot = 0.3989422804014327;
  const double mu = m / s, tau = t / s;
  double sum = 0.0, density = 1.0;
  for (int k = 0; k <= 4; ++k) {
    const double spread = 1.0 + k * tau * tau;
    const double moment = density / std::sqrt(spread) * std::exp(-0.5 * k * mu * mu / spread);
    sum += kBinomial[k] * moment * std::pow(center, 4 - k);
    density *= kInverseRoot;
  }
  const double rounding = 128 * kUnitRoundoff * std::pow(std::abs(center) + kInverseRoot, 4);
  const double by_slope = std::abs(normal_density(mu) - center) + 1e-14 + 0.24198 * 1.31608 * tau;
  return enlarged(std::min(positive_part(sum) + rounding, std::pow(by_slope, 4)));
}

}  // namespace mixcert
