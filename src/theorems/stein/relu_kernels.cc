// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// docs/theory/stein.md (Y.11), *ReLU*: in units of s the neuron is u = (x - k)_+, and every kernel is P(u) +
// Q(u) R(x) to the right of the kink, R = P(Z > x)/phi(x), P and Q quadratic, and zero to the left of it.
#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "activation/enclosed_arithmetic.h"
#include "core/elementary.h"
#include "core/normal.h"
#include "theorems/stein/neuron_kernels.h"

namespace mixcert {

namespace {

constexpr int kHighestPower = 4;
// Of coefficients, products and sums.
constexpr double kProductRounding = 128 * kUnitRoundoff;
// Eighth powers of deviations neither overflow nor underflow.
constexpr double kLeastDeviation = 1e-30;

struct QuadraticKernel {
  std::array<double, 3> plain{}, ratio{};  ///< P, Q
};

/// u = (x - k)_+ for x ~ N(0,1).
class UnitRelu {
 public:
  explicit UnitRelu(double k) : k_(k), tails_(squared_tails(k)) {
    const double relative = (32.0 + 4.0 * k * k) * kUnitRoundoff;
    const auto enclosed = [&](double x) { return Enclosed{x, enlarged(x * relative)}; };
    const Enclosed density = enclosed(normal_density(k)), kink = exactly(k);
    below_ = enclosed(normal_tail(-k));
    raw_[0] = enclosed(normal_tail(k));
    raw_[1] = density - kink * raw_[0];
    for (std::size_t n = 1; n <= kHighestPower; ++n) {
      raw_[n + 1] = static_cast<double>(n) * raw_[n - 1] - kink * raw_[n];
    }
    first_ = density + kink * below_;
    second_ = below_ + kink * first_;
    start_ = second_ + first_ * raw_[1];
    for (std::size_t n = 0; n <= kHighestPower; ++n) {
      const double part = 1.0 / static_cast<double>(n + 1);
      integrals_[n] = {raw_[n].value, part * raw_[n + 1].value, tails_.value[n]};
      errors_[n] = {raw_[n].error, part * raw_[n + 1].error, tails_.error[n]};
      for (std::size_t i = 0; i < 3; ++i) errors_[n][i] += kProductRounding * std::abs(integrals_[n][i]);
    }
  }

  [[nodiscard]] CentralMoments central() const {
    const Enclosed& mean = raw_[1];
    const Enclosed square_mean = square(mean);
    return {mean, nonnegative(raw_[2] - square_mean),
            raw_[3] - 3.0 * (mean * raw_[2]) + 2.0 * (mean * square_mean),
            nonnegative(raw_[4] - 4.0 * (mean * raw_[3]) + 6.0 * (square_mean * raw_[2]) -
                        3.0 * square(square_mean))};
  }

  [[nodiscard]] KernelSquares squares(const KernelArray& centers) const {
    const std::array<QuadraticKernel, kKernelCount> kernels = kernels_less(centers);
    KernelSquares sums;
    sums.rest = inexact();
    const auto add = [&](int p, int q, double& to, double* of_p, double* of_q) {
      const Enclosed product = mean_product(kernels[p], kernels[q], centers[p] * centers[q]);
      to += product.value;
      // 2 |x_p e x_q| <= e (x_p^2 + x_q^2).
      *of_p += enlarged(product.error);
      if (p != q) *of_q += enlarged(product.error);
    };
    for (int p = 0; p < 3; ++p) {
      for (int q = p; q < 3; ++q) add(p, q, sums.second(p, q), &sums.second(p, p), &sums.second(q, q));
    }
    for (int p = 0; p < 2; ++p) {
      for (int q = p; q < 2; ++q) {
        add(kKernelValue + p, kKernelValue + q, sums.third(p, q), &sums.third(p, p), &sums.third(q, q));
      }
    }
    add(kTau, kTau, sums.tau, &sums.tau, nullptr);
    sums.mirror();
    return sums;
  }

 private:
  [[nodiscard]] std::array<QuadraticKernel, kKernelCount> kernels_less(const KernelArray& c) const {
    const double j1 = first_.value, j2 = second_.value, start = start_.value;
    return {{{{-c[kTauValue], 1.0, 0.0}, {0.0, -j1, 0.0}},
             {{-j1 - c[kKernel], 0.0, 0.0}, {start, j1, 0.0}},
             {{-k_ - c[kSquare], 1.0, 0.0}, {j2, 0.0, 0.0}},
             {{-c[kKernelValue], -j1, 0.0}, {0.0, start, j1}},
             {{-c[kSquareValue], -k_, 1.0}, {0.0, j2, 0.0}},
             {{1.0 - c[kTau], 0.0, 0.0}, {-j1, 0.0, 0.0}}}};
  }

  /// E K L of two kernels less their centers, whose product is `centers`.
  [[nodiscard]] Enclosed mean_product(const QuadraticKernel& a, const QuadraticKernel& b,
                                      double centers) const {
    Enclosed sum{below_.value * centers, (below_.error + kProductRounding) * std::abs(centers)};
    for (std::size_t i = 0; i < 3; ++i) {
      for (std::size_t j = 0; j < 3; ++j) {
        const double plain = a.plain[i] * b.plain[j], ratio = a.ratio[i] * b.ratio[j];
        const double left = a.plain[i] * b.ratio[j], right = a.ratio[i] * b.plain[j];
        const auto &value = integrals_[i + j], &error = errors_[i + j];
        sum.value += plain * value[0] + (left + right) * value[1] + ratio * value[2];
        sum.error += std::abs(plain) * error[0] + (std::abs(left) + std::abs(right)) * error[1] +
                     std::abs(ratio) * error[2];
      }
    }
    return sum;
  }

  /// L2 norms of what inexact coefficients change in the kernels.
  [[nodiscard]] KernelArray inexact() const {
    const auto norm = [&](std::size_t power, std::size_t kind) {
      return enlarged(std::sqrt(std::abs(integrals_[power][kind]) + errors_[power][kind]));
    };
    const double e1 = first_.error, e2 = second_.error, e = start_.error;
    const double tau = e1 * norm(0, 2), tau_value = e1 * norm(2, 2);
    return {tau_value,       e * norm(0, 2) + tau_value + e1 * norm(0, 0),
            e2 * norm(0, 2), e * norm(2, 2) + e1 * norm(4, 2) + e1 * norm(2, 0),
            e2 * norm(2, 2), tau};
  }

  double k_;
  SquaredTails tails_;
  Enclosed below_;                               ///< P(x < k)
  Enclosed first_, second_;                      ///< E (k - x)_+ and E (k - x)_+^2
  Enclosed start_;                               ///< Q(0) of Dt
  std::array<Enclosed, kHighestPower + 2> raw_;  ///< E u^n; x > k for n = 0
  std::array<std::array<double, 3>, kHighestPower + 1> integrals_, errors_;  ///< of u^n (1, R, R^2)
};

}  // namespace

bool has_relu_kernels(double m, double s) {
  return std::abs(m) <= kFarthestKink * s && s > kLeastDeviation && s < 1.0 / kLeastDeviation;
}

NeuronKernels relu_kernels(double m, double s) {
  const UnitRelu unit(std::clamp(-m / s, -kFarthestKink, kFarthestKink));
  NeuronKernels kernels(unit.central());
  kernels.take_squares(unit.squares(kernels.centers()));
  kernels.scale(s);
  kernels.moved = 4.0 * kUnitRoundoff * std::abs(m);
  return kernels;
}

// docs/theory/stein.md (Y.11): integrals from the ends of panels are made once; what is left is part of one
// panel, by five Gauss-Legendre nodes. All terms are positive, so relative errors stay what they are.

namespace {

constexpr double kPanel = 0.125;
// Of the rule on at most one panel, per unit of the integrand at the left end of the ellipse r = 24, which is
// this many half-widths away from the panel.
constexpr double kPanelError = 1.2e-14;
constexpr double kEllipseReach = 11.03;
// Of nodes, tails, densities and sums.
constexpr double kTailRounding = 2e-12;
// More than what lies beyond the last panel.
constexpr double kBeyond = 1e-80;
constexpr double kBinomials[kTailPowers][kTailPowers] = {
    {1, 0, 0, 0, 0}, {1, 1, 0, 0, 0}, {1, 2, 1, 0, 0}, {1, 3, 3, 1, 0}, {1, 4, 6, 4, 1}};

/// P(Z > x)^2/phi(x), which falls.
double squared_tail(double x) {
  const double tail = normal_tail(x);
  return tail * tail / normal_density(x);
}

/// Integrals from k from those from k + width.
SquaredTails extended(const SquaredTails& from_end, double k, double width) {
  SquaredTails sums;
  std::array<double, kTailPowers> shift{1.0};
  for (std::size_t n = 1; n < shift.size(); ++n) shift[n] = shift[n - 1] * width;
  const double missed = kPanelError * squared_tail(k - 0.5 * kEllipseReach * width);
  for (std::size_t n = 0; n < shift.size(); ++n) {
    sums.error[n] = missed;
    for (std::size_t i = 0; i <= n; ++i) {
      const double factor = kBinomials[n][i] * shift[n - i];
      sums.value[n] += factor * from_end.value[i];
      sums.error[n] += factor * from_end.error[i];
    }
  }
  for (std::size_t q = 0; q < kFiveNodes.size(); ++q) {
    const double step = kFiveNodes[q] * width;
    double term = kFiveWeights[q] * width * squared_tail(k + step);
    for (double& value : sums.value) {
      value += term;
      term *= step;
    }
  }
  return sums;
}

/// From the left ends of all panels, and from the end of the last one.
std::vector<SquaredTails> from_panel_ends() {
  const auto count = static_cast<std::size_t>(2.0 * kFarthestKink / kPanel);
  std::vector<SquaredTails> ends(count + 1);
  ends.back().error.fill(kBeyond);
  for (std::size_t i = count; i-- > 0;) {
    ends[i] = extended(ends[i + 1], kPanel * static_cast<double>(i) - kFarthestKink, kPanel);
  }
  return ends;
}

}  // namespace

SquaredTails squared_tails(double k) {
  static const std::vector<SquaredTails> ends = from_panel_ends();
  const double place = std::ceil((k + kFarthestKink) / kPanel);
  const double end = kPanel * place - kFarthestKink;
  SquaredTails sums = extended(ends[static_cast<std::size_t>(place)], k, end - k);
  for (std::size_t n = 0; n < sums.value.size(); ++n) {
    sums.error[n] = enlarged(sums.error[n] + kTailRounding * sums.value[n]);
  }
  return sums;
}

}  // namespace mixcert
