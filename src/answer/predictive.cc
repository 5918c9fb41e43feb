// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Variances of observations (U.14). Deviations are norms in L2, which move by no more than the W2 bound under
// maps that are 1-Lipschitz, as softplus is. e^raw is not: its mean has a lower bound alone.
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "activation/gaussian_moments.h"
#include "answer/dual_bounds.h"
#include "mixcert/answer/answers.h"
#include "mixcert/answer/questions.h"
#include "mixcert/core/error.h"
#include "mixcert/statistics/simulate.h"

namespace mixcert {
namespace {

// Gaussians that stand for the scale mixture of a head. An estimate; CRPS costs the square.
constexpr Index kHeadComponents = 256;

Interval sum(const Interval& a, const Interval& b) {
  return {a.estimate + b.estimate, positive_part(next_down(a.lower + b.lower)), next_up(a.upper + b.upper)};
}

/// E_q softplus(raw)^2 with proven ends (V.1 - V.8).
Interval softplus_square(const LineMixture& raw) {
  const Activation softplus(ActivationFunction::Softplus);
  Interval square{0.0, 0.0, 0.0};
  for (Index i = 0; i < raw.size(); ++i) {
    const double weight = raw.weights()(i);
    if (weight == 0.0) continue;
    const Enclosed second = gaussian_moments(softplus, raw.means()(i), raw.deviations()(i)).second;
    square.estimate += weight * second.value;
    square.lower += weight * positive_part(second.lower());
    square.upper += weight * second.upper();
  }
  const double weights = raw.weights().sum();
  const double gamma = rounding_gamma(2 * raw.size() + 8);
  return {square.estimate / weights, square.lower / weights * (1.0 - gamma),
          square.upper / weights * (1.0 + gamma)};
}

Interval root(const Interval& square) {
  return {std::sqrt(square.estimate), positive_part(next_down(std::sqrt(square.lower))),
          next_up(std::sqrt(square.upper))};
}

Interval moved(const Interval& norm, double distance) {
  return {norm.estimate, positive_part(next_down(norm.lower - distance)), next_up(norm.upper + distance)};
}

/// log sum_i w_i exp(scale m_i + scale^2 s_i^2/2) - log sum_i w_i: the logarithm of E e^(scale raw).
double log_exponential_mean(const LineMixture& raw, double scale) {
  Vector exponents(raw.size());
  for (Index i = 0; i < raw.size(); ++i) {
    const double spread = scale * raw.deviations()(i);
    exponents(i) = std::log(raw.weights()(i)) + scale * raw.means()(i) + 0.5 * spread * spread;
  }
  const double largest = exponents.maxCoeff();
  return largest + std::log((exponents.array() - largest).exp().sum()) - std::log(raw.weights().sum());
}

/// E_p e^raw >= max(A exp(-eps B/A), exp(E_q raw - eps1)), A = E_q e^raw, B^2 = E_q e^(2 raw).
Interval exponential_mean(const CertifiedLine& raw) {
  const double log_mean = log_exponential_mean(raw.mixture(), 1.0);
  const double log_square = log_exponential_mean(raw.mixture(), 2.0);
  const double fall = raw.w2() * std::exp(0.5 * log_square - log_mean);
  // Exponents are sums of terms accurate to a few units, terms 745 below the largest are lost.
  const double slack = 1e-11 + 1e-14 * (std::abs(log_mean) + std::abs(log_square));
  const double by_tilt = std::isfinite(fall) ? log_mean - fall * (1.0 + 2.0 * slack) - slack : -kInfinity;
  const double by_jensen = raw.mixture().mean_range().lower - raw.w1();
  const double lower = std::exp(std::max(by_tilt, by_jensen)) * (1.0 - 1e-13);
  return {std::exp(log_mean), lower, kInfinity};
}

/// (E |(mean - c, softplus raw)|^2)^(1/2) at its best c: the observation's deviation as one norm.
Interval total_deviation(const CertifiedLaw& law, const Interval& mean_deviation, const Interval& noise) {
  const Interval mixture = root(sum(squared(mean_deviation), noise));
  return moved(mixture, law.w2());
}

PredictiveMoments head_moments(const CertifiedLaw& law, const CertifiedLine& mean, const CertifiedLine& raw,
                               NoiseHead head) {
  PredictiveMoments answer;
  answer.mean = certified_mean(mean);
  answer.epistemic = squared(certified_deviation(mean));
  if (head == NoiseHead::LogVariance) {
    answer.aleatoric = exponential_mean(raw);
    answer.total = sum(answer.epistemic, answer.aleatoric);
    return answer;
  }
  const Interval square = softplus_square(raw.mixture());
  answer.aleatoric = squared(moved(root(square), raw.w2()));
  const Interval together = squared(total_deviation(law, mean.mixture().deviation_range(), square));
  answer.total = sum(answer.epistemic, answer.aleatoric).within(together.lower, together.upper);
  return answer;
}

/// Means and deviations drawn from the mixture: each is one Gaussian of the observation's law.
LineMixture head_estimate(const CertifiedLaw& law, Index target, const AnswerOptions& options,
                          std::uint64_t index) {
  const Index count = std::min(kHeadComponents, options.samples);
  const Index raw = target_count(law.dimension(), options) + target;
  const Matrix drawn =
      sample_mixture(law.mixture().marginal({target, raw}), count, options.seed, Stream::Mixture, 2 * index);
  const Activation softplus(ActivationFunction::Softplus);
  const Vector deviations = drawn.row(1).transpose().unaryExpr([&](double value) {
    return options.head == NoiseHead::Softplus ? softplus(value) : std::exp(0.5 * value);
  });
  return {Vector::Constant(count, 1.0 / static_cast<double>(count)), drawn.row(0).transpose(), deviations};
}

}  // namespace

Index target_count(Index outputs, const AnswerOptions& options) {
  if (options.head == NoiseHead::None) return outputs;
  require(outputs % 2 == 0, "option --head: expected a mean and a raw value per target, got " +
                                std::to_string(outputs) + " outputs");
  return outputs / 2;
}

std::vector<PredictiveMoments> predictive_moments(const CertifiedLaw& law, const AnswerOptions& options) {
  const Index targets = target_count(law.dimension(), options);
  const double noise = options.noise_std.value_or(0.0);
  const double square = noise * noise;
  std::vector<PredictiveMoments> answers;
  for (Index t = 0; t < targets; ++t) {
    const CertifiedLine mean = coordinate(law, t);
    if (options.head != NoiseHead::None) {
      answers.push_back(head_moments(law, mean, coordinate(law, targets + t), options.head));
      continue;
    }
    PredictiveMoments answer{certified_mean(mean), squared(certified_deviation(mean)), {}, {}};
    answer.aleatoric = {square, positive_part(next_down(square)), noise > 0.0 ? next_up(square) : 0.0};
    answer.total = sum(answer.epistemic, answer.aleatoric);
    answers.push_back(answer);
  }
  return answers;
}

CertifiedLine observation(const CertifiedLaw& law, Index target, const AnswerOptions& options,
                          std::uint64_t index) {
  if (options.head == NoiseHead::None)
    return coordinate(law, target).with_noise(options.noise_std.value_or(0.0));
  return {head_estimate(law, target, options, index), kInfinity, kInfinity};
}

}  // namespace mixcert
