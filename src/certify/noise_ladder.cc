// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// E exp(-y a^2): closed form for piecewise linear activations, from moments or from |a| <= 1 for the others.
#include "certify/noise_ladder.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <variant>

#include "mixcert/core/normal.h"

namespace mixcert {
namespace {

using F = ActivationFunction;

constexpr std::array<double, 9> kNoiseLevels = {0.85, 0.7, 0.55, 0.4, 0.28, 0.18, 0.1, 0.05, 0.02};
constexpr std::array<double, 5> kTilts = {1.0, 2.5, 6.0, 14.0, 32.0};

/// int_k^inf phi(x) exp(-y (x - k)^2) dx.
double branch(double k, double y) {
  const double scale = 1.0 + 2.0 * y;
  return std::exp(-y * k * k / scale) / std::sqrt(scale) * normal_tail(k / std::sqrt(scale));
}

/// No less than the logarithm of a number that is at most 1; underflow must not make it minus infinity.
double safe_logarithm(double x) { return std::clamp(std::log(x * kSafety), -600.0, 0.0); }

/// No less than the logarithm of E exp(-y a^2).
double log_damping(const Activation& f, double m, double s, const NeuronKernels& kernels, double y) {
  if (!(y > 0.0)) return 0.0;
  const F function = f.function();
  if (s > 0.0 && (function == F::Relu || function == F::LeakyRelu || function == F::Identity)) {
    const double left = function == F::Identity ? 1.0 : function == F::Relu ? 0.0 : f.slope();
    const double kink = -m / s;
    const double sum = branch(kink, y * s * s) + branch(-kink, y * s * s * left * left);
    return safe_logarithm(sum);
  }
  // exp(-t) <= 1 - t + t^2/2 for t >= 0.
  const double second = kernels.second.lower();
  double bound = 1.0 - y * second + 0.5 * y * y * kernels.fourth;
  // |a| <= 1: exp(-y a^2) is below its chord in a^2.
  if (function == F::Tanh || function == F::Sigmoid || function == F::Erf) {
    bound = std::min(bound, 1.0 + std::expm1(-y) * std::max(0.0, second));
  }
  return safe_logarithm(bound);
}

/// P(S_l < z Sb_l) of one output, for all levels.
class TailBounds {
 public:
  TailBounds(double bias, double noise) : bias_(bias), noise_(noise) { bounds_.fill(1.0); }

  /// With E exp(-theta (S_l - B_l)) <= exp(log_transform).
  void tilt(double theta, double log_transform) {
    for (std::size_t k = 0; k < kNoiseLevels.size(); ++k) {
      const double exponent = theta * (kNoiseLevels[k] * noise_ - bias_) * kSafety + log_transform;
      bounds_[k] = std::min(bounds_[k], std::exp(exponent) * kSafety);
    }
  }
  [[nodiscard]] double at(std::size_t level) const {
    return kNoiseLevels[level] * noise_ <= bias_ * (1.0 - 1e-9) ? 0.0 : bounds_[level];
  }

 private:
  double bias_, noise_;
  std::array<double, kNoiseLevels.size()> bounds_;
};

}  // namespace

NoiseLadder noise_ladder(const ActivationMap& activation, const DenseLayer& layer, const Gaussian& piece,
                         const std::vector<NeuronKernels>& kernels, const Vector& noise,
                         const Vector& shares) {
  NoiseLadder ladder{shares, {}};
  const Vector bias = layer.bias_variances();
  const double last = noise.minCoeff() > 0.0 ? bias.cwiseQuotient(noise).minCoeff() * (1.0 - 1e-9) : 0.0;
  const auto* weights = std::get_if<MeanFieldWeights>(&layer.weights());
  std::array<double, kNoiseLevels.size()> probabilities{};
  const Vector deviations = piece.covariance.variances().cwiseSqrt();
  for (Index l = 0; weights != nullptr && l < layer.outputs(); ++l) {
    TailBounds bounds(bias(l), noise(l));
    double spread = 0.0;
    for (Index j = 0; j < layer.inputs(); ++j) {
      spread +=
          weights->variance(l, j) * weights->variance(l, j) * kernels[static_cast<std::size_t>(j)].fourth;
    }
    for (const double tilt : kTilts) {
      const double theta = tilt * noise(l) / std::max(spread, 1e-300);
      double sum = 0.0;
      for (Index j = 0; j < layer.inputs(); ++j) {
        sum += log_damping(activation.at(j), piece.mean(j), deviations(j),
                           kernels[static_cast<std::size_t>(j)], theta * weights->variance(l, j));
      }
      bounds.tilt(theta, sum * (1.0 - 1e-9));
    }
    for (std::size_t k = 0; k < kNoiseLevels.size(); ++k) probabilities[k] += bounds.at(k);
  }
  for (std::size_t k = 0; k < kNoiseLevels.size(); ++k) {
    if (kNoiseLevels[k] > last)
      ladder.steps.push_back({kNoiseLevels[k], std::min(1.0, probabilities[k] * kSafety)});
  }
  ladder.steps.push_back({last, 0.0});
  return ladder;
}

}  // namespace mixcert
