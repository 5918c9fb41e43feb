// Licensed under the Apache License, Version 2.0; see LICENSE.
#include "mixcert/answer/simulated_answers.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "core/sample_limits.h"
#include "mixcert/core/error.h"
#include "mixcert/core/rng.h"
#include "mixcert/statistics/simulate.h"

namespace mixcert {
namespace {

/// A draw is off by rounding: within this part of its size it counts against both sides.
constexpr double kUndecided = 1e-9;

/// The probability of a statement: exact limits of a binomial share, half of the failure probability for
/// either.
Interval share_range(ConstMatrixRef draws, const Statement& statement, double failure) {
  Index surely = 0, perhaps = 0;
  for (Index i = 0; i < draws.cols(); ++i) {
    const Vector above = statement.rows * draws.col(i) - statement.thresholds;
    const Vector sizes =
        statement.rows.cwiseAbs() * draws.col(i).cwiseAbs() + statement.thresholds.cwiseAbs();
    const double least = (above - kUndecided * sizes).minCoeff(),
                 most = (above + kUndecided * sizes).minCoeff();
    surely += least > 0.0 ? 1 : 0;
    perhaps += most >= 0.0 ? 1 : 0;
  }
  const double share = static_cast<double>(surely) / static_cast<double>(draws.cols());
  return {share, smallest_probability(surely, draws.cols(), 0.5 * failure),
          largest_probability(perhaps, draws.cols(), 0.5 * failure)};
}

/// The narrowest interval between order statistics with equal masses beyond that is proven to hold `level`.
SimulatedInterval order_interval(Vector draws, double level, double failure) {
  std::sort(draws.begin(), draws.end());
  const Index n = draws.size();
  const double beyond = 0.5 * (1.0 - level);
  // P(y < y_(k)) is at most the limit from k - 1 hits: the largest k for which that is small enough.
  Index low = 0, high = n;
  while (low + 1 < high) {
    const Index k = low + (high - low) / 2;
    (largest_probability(k - 1, n, 0.5 * failure) <= beyond ? low : high) = k;
  }
  SimulatedInterval interval;
  interval.level = level;
  if (low == 0) return interval;
  const double lower = draws(low - 1), upper = draws(n - low);
  interval.lower = lower - kUndecided * std::abs(lower);
  interval.upper = upper + kUndecided * std::abs(upper);
  interval.share = static_cast<double>(n + 2 - 2 * low) / static_cast<double>(n);
  return interval;
}

/// What is observed of a target: its draws, with noise of their own.
Vector observed(ConstMatrixRef draws, Index target, Index targets, const AnswerOptions& options,
                std::uint64_t index) {
  Vector seen = draws.row(target).transpose();
  if (!options.noise_std && options.head == NoiseHead::None) return seen;
  const GaussianMixture standard(
      Vector::Ones(1), {Gaussian{Vector::Zero(targets), Covariance::diagonal(Vector::Ones(targets))}});
  const Vector normals =
      sample_mixture(standard, draws.cols(), options.seed, Stream::Floor, index).row(target).transpose();
  for (Index i = 0; i < seen.size(); ++i) {
    double deviation = options.noise_std.value_or(0.0);
    if (options.head == NoiseHead::Softplus) {
      const double raw = draws(targets + target, i);
      deviation = raw > 0.0 ? raw + std::log1p(std::exp(-raw)) : std::log1p(std::exp(raw));
    } else if (options.head == NoiseHead::LogVariance) {
      deviation = std::exp(0.5 * draws(targets + target, i));
    }
    seen(i) += deviation * normals(i);
  }
  return seen;
}

/// Expected softmax probabilities: means of numbers in [0, 1].
ClassAnswer class_means(ConstMatrixRef draws, double failure) {
  Matrix shares(draws.rows(), draws.cols());
  for (Index i = 0; i < draws.cols(); ++i) {
    const Vector powers = (draws.col(i).array() - draws.col(i).maxCoeff()).exp();
    shares.col(i) = (powers / powers.sum()).cwiseMin(1.0);
  }
  ClassAnswer answer;
  for (const Interval& mean : sampled_means(shares, failure)) {
    // Rounding of a draw moves its softmax by less than this.
    answer.probabilities.push_back(
        Interval{mean.estimate, mean.lower - kUndecided, mean.upper + kUndecided}.within(0.0, 1.0));
  }
  const auto& all = answer.probabilities;
  for (std::size_t c = 1; c < all.size(); ++c) {
    if (all[c].estimate > all[static_cast<std::size_t>(answer.predicted)].estimate)
      answer.predicted = static_cast<Index>(c);
  }
  const Interval& first = all[static_cast<std::size_t>(answer.predicted)];
  answer.settled = true;
  for (std::size_t c = 0; c < all.size(); ++c) {
    const bool is_own = static_cast<Index>(c) == answer.predicted;
    const Interval margin = is_own ? Interval{0.0, 0.0, 0.0}
                                   : Interval{first.estimate - all[c].estimate, first.lower - all[c].upper,
                                              first.upper - all[c].lower};
    answer.settled = answer.settled && (is_own || margin.lower > 0.0);
    answer.margins.push_back(margin);
  }
  return answer;
}

}  // namespace

SimulatedAnswers simulated_answers(ConstMatrixRef draws, const Questions& questions,
                                   const AnswerOptions& options, std::uint64_t index) {
  require(draws.cols() >= 2,
          "simulated_answers: expected two draws or more, got " + std::to_string(draws.cols()));
  require(draws.allFinite(), "simulated_answers: a draw is not finite");
  const Index targets = target_count(draws.rows(), options);
  const auto questions_asked = static_cast<double>(questions.statements.size()) +
                               static_cast<double>(targets) + (questions.classes ? 1.0 : 0.0);
  const double each = options.failure_probability / questions_asked;
  SimulatedAnswers answers;
  answers.draws = draws.cols();
  answers.failure_probability = options.failure_probability;
  for (const Statement& statement : questions.statements)
    answers.probabilities.push_back(share_range(draws, statement, each));
  for (Index target = 0; target < targets; ++target) {
    answers.credible.push_back(
        order_interval(observed(draws, target, targets, options, index), options.level, each));
  }
  if (questions.classes) answers.classes = class_means(draws, each);
  return answers;
}

}  // namespace mixcert
