// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Moments of an activation of a Gaussian by brute force: Gauss-Legendre panels of 30 nodes in fifty digits,
// the naive formulas (E a^2 minus (E a)^2 and so on), pieces cut at the kink and fine where the function
// bends.
#pragma once

#include <algorithm>
#include <array>
#include <boost/math/quadrature/gauss.hpp>
#include <cmath>
#include <vector>

#include "mixcert/activation/activation.h"
#include "support/high_precision.h"
#include "support/naive_activations.h"

namespace mixcert::testing {

/// Kinks of a function, and points between which it is tame.
inline std::vector<double> reference_cuts(const Activation& f) {
  using F = ActivationFunction;
  switch (f.function()) {
    case F::Identity:
    case F::Relu:
    case F::LeakyRelu:
      return {0.0};
    case F::Relu6:
      return {0.0, 6.0};
    case F::Hardtanh:
      return {f.parameters().lower, f.parameters().upper};
    case F::Hardsigmoid:
    case F::Hardswish:
      return {-3.0, 3.0};
    case F::Softsign: {
      std::vector<double> cuts;
      for (int j = -60; j <= 60; ++j) cuts.push_back(std::copysign(std::exp2(std::abs(j)) - 1.0, j));
      return cuts;
    }
    case F::Erf:
    case F::Gelu:
      return {-15.0, 0.0, 15.0};
    default:
      return {-100.0, 0.0, 100.0};
  }
}

/// mean, c_1, c_2, T^2, E a^2, E[a^2 x], Var a^2.
using ReferenceMoments = std::array<Precise, 7>;

class BruteForce {
 public:
  BruteForce(const Activation& f, double mean, double deviation, int range = 14)
      : f_(f), m_(mean), s_(deviation), center_(naive_activation(f, m_)) {
    // The tail beyond 14 deviations is below 1e-43.
    std::vector<Precise> cuts = {-range};
    for (const double z : reference_cuts(f)) {
      const Precise x = (z - m_) / s_;
      if (x > cuts.back() && x < range) cuts.push_back(x);
    }
    cuts.emplace_back(range);
    for (std::size_t i = 0; i + 1 < cuts.size(); ++i) add_piece(cuts[i], cuts[i + 1]);
  }

  [[nodiscard]] ReferenceMoments moments() const {
    const Precise mean = sums_[0];
    const Precise slope = sums_[1];
    const Precise residual = sums_[3] - mean * mean - slope * slope;
    // Back from d = a - f(m) to a.
    const Precise& c = center_;
    const Precise q = 2 * c * mean + sums_[3];
    return {c + mean, slope, sums_[2], residual, c * c + q, 2 * c * slope + sums_[4], sums_[5] - q * q};
  }

 private:
  /// Beyond this |z| the function is linear up to 1e-40.
  [[nodiscard]] int reach() const {
    switch (f_.function()) {
      case ActivationFunction::Identity:
      case ActivationFunction::Relu:
      case ActivationFunction::LeakyRelu:
      case ActivationFunction::Relu6:
      case ActivationFunction::Hardtanh:
      case ActivationFunction::Hardsigmoid:
      case ActivationFunction::Hardswish:
      case ActivationFunction::Softsign:
        return 0;
      case ActivationFunction::Erf:
      case ActivationFunction::Gelu:
        return 15;
      default:
        return 100;
    }
  }

  void add_piece(const Precise& lower, const Precise& upper) {
    const Precise middle = m_ + s_ * (lower + upper) / 2;
    const Precise widest = abs(middle) < reach() ? std::min(Precise(2), Precise(1) / s_) : Precise(2);
    const int panels = static_cast<int>(ceil((upper - lower) / widest));
    const Precise half = (upper - lower) / (2 * panels);
    using Rule = boost::math::quadrature::gauss<Precise, 30>;
    for (int j = 0; j < panels; ++j) {
      const Precise center = lower + (2 * j + 1) * half;
      for (std::size_t i = 0; i < Rule::abscissa().size(); ++i) {
        add_node(center - half * Rule::abscissa()[i], half * Rule::weights()[i]);
        add_node(center + half * Rule::abscissa()[i], half * Rule::weights()[i]);
      }
    }
  }

  void add_node(const Precise& x, const Precise& weight) {
    const Precise w = weight * precise_density(x);
    const Precise d = naive_activation(f_, m_ + s_ * x) - center_;
    const Precise q = d * (2 * center_ + d);
    sums_[0] += w * d;
    sums_[1] += w * d * x;
    sums_[2] += w * d * (x * x - 1) / sqrt(Precise(2));
    sums_[3] += w * d * d;
    sums_[4] += w * d * d * x;
    sums_[5] += w * q * q;
  }

  Activation f_;
  Precise m_, s_, center_;
  std::array<Precise, 6> sums_{};
};

}  // namespace mixcert::testing
