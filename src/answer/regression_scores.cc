// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// RMSE, NLL, CRPS and coverage over a labelled set (U.16 - U.18).
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "mixcert/answer/answers.h"
#include "mixcert/answer/scores.h"
#include "mixcert/core/error.h"
#include "mixcert/core/rounding.h"

namespace mixcert {
namespace {

/// The mean lies within w1 of the mixture's: the nearest and the farthest such point from the label (U.16).
Interval square_error(const CertifiedLaw& law, ConstVectorRef label) {
  const Index targets = label.size();
  const Vector mean = law.mixture().mean();
  const double distance = (mean.head(targets) - label).norm();
  const double size = mean.head(targets).cwiseAbs().sum() + label.cwiseAbs().sum();
  const double error = rounding_gamma(2 * law.mixture().size() + 2 * targets + 16) * size;
  const double low = positive_part(distance - error - law.w1());
  const double high = distance + error + law.w1();
  return {distance * distance, low * low * (1.0 - rounding_gamma(8)),
          high * high * (1.0 + rounding_gamma(8))};
}

/// F(label) of the observation, from P(y* > label) (U.5) and, with noise, from the slope of the noise's
/// distribution function, 1/(s sqrt(2 pi)).
Interval distribution_function(const CertifiedLine& line, double noise_std, double label) {
  const Interval above = probability_above(line, label).interval;
  const Interval sharp{1.0 - above.estimate, next_down(1.0 - above.upper), next_up(1.0 - above.lower)};
  if (noise_std == 0.0) return sharp.within(0.0, 1.0);
  const double shift =
      line.w1() / noise_std * 0.39894228040143271 + rounding_gamma(line.mixture().size() + 512);
  return sharp.within(sharp.estimate - shift, sharp.estimate + shift).within(0.0, 1.0);
}

TargetScore score_target(const CertifiedLaw& law, Index target, double label, const AnswerOptions& options,
                         std::uint64_t index) {
  const double noise = options.noise_std.value_or(0.0);
  const CertifiedLine line = observation(law, target, options, index);
  const bool gaussian_noise = options.head == NoiseHead::None && noise > 0.0;
  TargetScore score;
  score.nll = gaussian_noise ? negative_log_density(coordinate(law, target), noise, label)
                             : Interval{-std::log(line.mixture().density(label))};
  score.crps = certified_crps(line, noise, label);
  score.pit = distribution_function(line, noise, label);
  return score;
}

/// 1 where the label is covered: |F(label) - 1/2| <= level/2.
Interval covered(const Interval& pit, double level) {
  const double low = 0.5 - 0.5 * level;
  const double high = 0.5 + 0.5 * level;
  const bool estimate = pit.estimate >= low && pit.estimate <= high;
  const bool certainly = pit.lower >= low && pit.upper <= high;
  const bool possibly = pit.upper >= low && pit.lower <= high;
  return {estimate ? 1.0 : 0.0, certainly ? 1.0 : 0.0, possibly ? 1.0 : 0.0};
}

Interval root_of(const Interval& square) {
  return {std::sqrt(square.estimate), positive_part(next_down(std::sqrt(positive_part(square.lower)))),
          next_up(std::sqrt(square.upper))};
}

}  // namespace

void IntervalMean::add(const Interval& interval) {
  ++count_;
  sum_.estimate += interval.estimate;
  sum_.lower += interval.lower;
  sum_.upper += interval.upper;
  for (const double end : {interval.lower, interval.upper}) {
    if (std::isfinite(end)) size_ += std::abs(end);
  }
}

Interval IntervalMean::mean() const {
  if (count_ == 0) return {std::numeric_limits<double>::quiet_NaN()};
  const auto count = static_cast<double>(count_);
  const double slack = rounding_gamma(2 * count_ + 8) * size_ / count;
  return {sum_.estimate / count, sum_.lower / count - slack, sum_.upper / count + slack};
}

RegressionPoint score_regression(const CertifiedLaw& law, ConstVectorRef label, const AnswerOptions& options,
                                 std::uint64_t index) {
  const Index targets = target_count(law.dimension(), options);
  require(label.size() == targets, "score_regression: expected " + std::to_string(targets) +
                                       " numbers per label, got " + std::to_string(label.size()));
  require(label.allFinite(), "score_regression: a label is not a finite number");
  RegressionPoint point{square_error(law, label), {}};
  for (Index t = 0; t < targets; ++t) {
    point.targets.push_back(score_target(law, t, label(t), options, index));
  }
  return point;
}

RegressionScores::RegressionScores(double level, std::vector<double> levels) : levels_(std::move(levels)) {
  if (levels_.empty()) levels_ = {0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, level};
  std::sort(levels_.begin(), levels_.end());
  levels_.erase(std::unique(levels_.begin(), levels_.end()), levels_.end());
  require(levels_.front() > 0.0 && levels_.back() < 1.0,
          "RegressionScores: expected levels above 0, below 1");
  covered_.resize(levels_.size());
}

void RegressionScores::add(const RegressionPoint& point) {
  square_error_.add(point.square_error);
  targets_ += static_cast<Index>(point.targets.size());
  for (const TargetScore& target : point.targets) {
    nll_.add(target.nll);
    crps_.add(target.crps);
    for (std::size_t l = 0; l < levels_.size(); ++l) covered_[l].add(covered(target.pit, levels_[l]));
  }
}

RegressionSummary RegressionScores::summary() const {
  RegressionSummary summary;
  summary.points = square_error_.count();
  const double per_point =
      summary.points > 0 ? static_cast<double>(targets_) / static_cast<double>(summary.points) : 1.0;
  const Interval square = square_error_.mean();
  const double gamma = rounding_gamma(4);
  summary.rmse = root_of({square.estimate / per_point, square.lower / per_point * (1.0 - gamma),
                          square.upper / per_point * (1.0 + gamma)});
  summary.nll = nll_.mean();
  summary.crps = crps_.mean();
  for (std::size_t l = 0; l < levels_.size(); ++l) {
    summary.coverage.push_back({levels_[l], covered_[l].mean().within(0.0, 1.0)});
  }
  return summary;
}

}  // namespace mixcert
