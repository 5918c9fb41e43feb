// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Moments (U.1 - U.3). A covariance moves by at most
//     inf over x > 0 of  (1/2 + x) eps^2 + v+/(4x) + v-/(4(1+x)),     v+- = Var((y_i +- y_j)/sqrt 2) under q,
// upward, and downward with v+ and v- exchanged. Every x is valid; the best one solves a monotone equation.
// The simpler eps sqrt(s_i^2 + s_j^2) + eps^2/2 is never less.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>

#include "answer/dual_bounds.h"
#include "mixcert/answer/answers.h"
#include "mixcert/core/error.h"
#include "mixcert/core/rounding.h"

namespace mixcert {
namespace {

constexpr int kMeanBisections = 60;

/// Root of v_plus/(2x)^2 + v_minus/(2(1+x))^2 = eps^2, which lies between the roots of the first term alone
/// and of both with x in place of 1+x.
double best_multiplier(double v_plus, double v_minus, double eps) {
  double low = 0.5 * std::sqrt(v_plus) / eps;
  double high = 0.5 * std::sqrt(v_plus + v_minus) / eps;
  for (int step = 0; step < kMeanBisections && low < high; ++step) {
    const double middle = 0.5 * (low + high);
    const double slope = v_plus / (4.0 * middle * middle) + v_minus / (4.0 * (1.0 + middle) * (1.0 + middle));
    (slope > eps * eps ? low : high) = middle;
  }
  return high;
}

/// No less than the most that a covariance can grow, (U.3).
double largest_change(double v_plus, double v_minus, double eps) {
  if (eps == 0.0) return 0.0;
  if (!std::isfinite(eps)) return kInfinity;
  // The simpler bound needs no x: the sharp one may be lost to overflow.
  double change = eps * std::sqrt(v_plus + v_minus) + 0.5 * eps * eps;
  const double x = best_multiplier(v_plus, v_minus, eps);
  const double sharp = (0.5 + x) * eps * eps + v_plus / (4.0 * x) + v_minus / (4.0 * (1.0 + x));
  if (x > 0.0 && sharp < change) change = sharp;
  return next_up(change * (1.0 + rounding_gamma(16)) + std::numeric_limits<double>::min());
}

void check_outputs(const std::vector<Index>& outputs, Index dimension) {
  for (const Index i : outputs) {
    require(i >= 0 && i < dimension, "certified_covariances: expected an output in 0.." +
                                         std::to_string(dimension - 1) + ", got " + std::to_string(i));
  }
}

/// An output under the mixture.
struct Output {
  double center = 0.0;  ///< its mean, computed
  double center_error = 0.0;
  double deviation = 0.0;  ///< no less than the root of E(y - center)^2
};

Output describe_output(const GaussianMixture& mixture, Index index) {
  const Projection projection = project(mixture, Vector::Unit(mixture.dimension(), index));
  const Interval mean = projection.line.mean_range();
  const double error = next_up(mean.upper - mean.lower);
  const double deviation = next_up(projection.line.deviation_range().upper + projection.error);
  return {mean.estimate, error, next_up(deviation + error)};
}

struct MixtureCovariance {
  std::vector<Output> outputs;
  Matrix value;
  double relative_error = 0.0;  ///< times the deviations
  double absolute_error = 0.0;

  [[nodiscard]] double error(Index i, Index j) const {
    const Output& first = outputs[static_cast<std::size_t>(i)];
    const Output& second = outputs[static_cast<std::size_t>(j)];
    const double sum = relative_error * first.deviation * second.deviation +
                       first.center_error * second.center_error + absolute_error;
    return next_up(sum * (1.0 + rounding_gamma(8)) + std::numeric_limits<double>::min());
  }
};

/// sum_c w_c (C_c + (m_c - center)(m_c - center)') / sum_c w_c on the chosen outputs. The exact covariance is
/// this less the outer product of the centers' errors.
MixtureCovariance mixture_covariance(const GaussianMixture& mixture, const std::vector<Index>& indices) {
  const auto count = static_cast<Index>(indices.size());
  MixtureCovariance result{{}, Matrix::Zero(count, count)};
  for (const Index i : indices) result.outputs.push_back(describe_output(mixture, i));
  Index largest_rank = 0;
  for (Index c = 0; c < mixture.size(); ++c) {
    if (mixture.weights()(c) == 0.0) continue;
    const Gaussian& component = mixture.component(c);
    const Vector shift = Vector::NullaryExpr(count, [&](Index i) {
      const auto place = static_cast<std::size_t>(i);
      return component.mean(indices[place]) - result.outputs[place].center;
    });
    result.value +=
        mixture.weights()(c) * (component.covariance.submatrix(indices) + shift * shift.transpose());
    result.absolute_error = larger_or_nan(result.absolute_error, 2.0 * negative_part(component.covariance));
    largest_rank = std::max(largest_rank, component.covariance.rank());
  }
  result.value /= mixture.weights().sum();
  result.relative_error = rounding_gamma(4 * (mixture.size() + largest_rank) + 64);
  return result;
}

/// Entry i != j, (U.3).
Interval covariance_interval(const MixtureCovariance& covariance, Index i, Index j, double eps) {
  const double own = covariance.value(i, j);
  const double error = covariance.error(i, j);
  const double middle = 0.5 * (covariance.value(i, i) + covariance.value(j, j));
  const double slack = next_up(0.5 * (covariance.error(i, i) + covariance.error(j, j)) + error);
  const double v_plus = next_up(positive_part(middle + own) + slack);
  const double v_minus = next_up(positive_part(middle - own) + slack);
  // The lower end is the upper one of -Cov(y_i, y_j), for which the two change places.
  // NOLINTNEXTLINE(readability-suspicious-call-argument)
  return {own, next_down(next_down(own - error) - largest_change(v_minus, v_plus, eps)),
          next_up(next_up(own + error) + largest_change(v_plus, v_minus, eps))};
}

}  // namespace

Interval certified_mean(const CertifiedLine& line) {
  const Interval own = line.mixture().mean_range();
  const double eps = line.w1();
  return {own.estimate, next_down(own.lower - eps), next_up(own.upper + eps)};
}

Interval certified_deviation(const CertifiedLine& line, double noise) {
  require(std::isfinite(noise) && noise >= 0.0,
          "certified_deviation: expected finite, nonnegative noise, got " + std::to_string(noise));
  const Interval own = line.mixture().deviation_range();
  const double eps = line.w2();
  const double lower = eps == 0.0 ? own.lower : positive_part(next_down(own.lower - eps));
  const double upper = eps == 0.0 ? own.upper : next_up(own.upper + eps);
  if (noise == 0.0) return {own.estimate, lower, upper};
  return {std::hypot(own.estimate, noise), std::hypot(lower, noise) * (1.0 - 2.0 * kElementaryFunctionError),
          std::hypot(upper, noise) * (1.0 + 2.0 * kElementaryFunctionError)};
}

MomentAnswers certified_moments(const CertifiedLaw& law) {
  MomentAnswers answers;
  for (Index i = 0; i < law.dimension(); ++i) {
    const CertifiedLine line = coordinate(law, i);
    answers.means.push_back(certified_mean(line));
    answers.deviations.push_back(certified_deviation(line));
  }
  return answers;
}

CovarianceAnswers certified_covariances(const CertifiedLaw& law, const std::vector<Index>& outputs) {
  check_outputs(outputs, law.dimension());
  const auto count = static_cast<Index>(outputs.size());
  const MixtureCovariance covariance = mixture_covariance(law.mixture(), outputs);
  CovarianceAnswers answers{covariance.value, Matrix(count, count), Matrix(count, count)};
  for (Index j = 0; j < count; ++j) {
    for (Index i = 0; i <= j; ++i) {
      const Interval entry =
          outputs[static_cast<std::size_t>(i)] == outputs[static_cast<std::size_t>(j)]
              ? squared(certified_deviation(coordinate(law, outputs[static_cast<std::size_t>(i)])))
              : covariance_interval(covariance, i, j, law.w2());
      answers.lower(i, j) = answers.lower(j, i) = entry.lower;
      answers.upper(i, j) = answers.upper(j, i) = entry.upper;
    }
  }
  return answers;
}

CovarianceAnswers certified_covariances(const CertifiedLaw& law) {
  std::vector<Index> all(static_cast<std::size_t>(law.dimension()));
  std::iota(all.begin(), all.end(), Index{0});
  return certified_covariances(law, all);
}

}  // namespace mixcert
