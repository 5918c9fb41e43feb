// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Accuracy, NLL and Brier score of classifiers over a labelled set (U.19).
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "mixcert/answer/scores.h"
#include "mixcert/core/error.h"
#include "mixcert/core/rounding.h"

namespace mixcert {
namespace {

constexpr double kRootTwo = 1.4142135623730954;  // rounded up

/// sum over j of exp(E y_j - E y_c + Var(y_j - y_c)/2): at least E sum_j e^(y_j - y_c), as a logarithm.
double log_exponential_sum(const Gaussian& gaussian, Index label) {
  const Vector column = gaussian.covariance.times(Vector::Unit(gaussian.dimension(), label));
  const Vector variances = gaussian.covariance.variances();
  const Vector exponents = (gaussian.mean.array() - gaussian.mean(label)) +
                           0.5 * (variances.array() + variances(label) - 2.0 * column.array());
  const double largest = exponents.maxCoeff();
  const double size =
      exponents.cwiseAbs().maxCoeff() + variances.maxCoeff() + gaussian.mean.cwiseAbs().maxCoeff();
  // Terms 745 below the largest are lost; the others have errors of some units of their exponents.
  const double slack =
      1e-11 + rounding_gamma(2 * (gaussian.dimension() + gaussian.covariance.rank()) + 64) * size;
  return largest + std::log((exponents.array() - largest).exp().sum()) + slack;
}

/// -log E_p softmax_c <= E_p[lse(y) - y_c] <= E_q[..] + sqrt 2 eps1, always finite (U.19).
double nll_by_jensen(const CertifiedLaw& law, Index label) {
  const GaussianMixture& mixture = law.mixture();
  double sum = 0.0;
  for (Index i = 0; i < mixture.size(); ++i) {
    if (mixture.weights()(i) == 0.0) continue;
    sum += mixture.weights()(i) * log_exponential_sum(mixture.component(i), label);
  }
  // Terms are positive: the sum has e^0 at the label itself.
  return (sum / mixture.weights().sum() + kRootTwo * law.w1()) *
         (1.0 + rounding_gamma(2 * mixture.size() + 16));
}

Interval nll(const CertifiedLaw& law, const Interval& probability, Index label) {
  const double slack = 2.0 * kElementaryFunctionError;
  const double lower = positive_part(-std::log(probability.upper) * (1.0 - slack));
  const double upper = probability.lower > 0.0 ? -std::log(probability.lower) * (1.0 + slack) : kInfinity;
  return {-std::log(probability.estimate), lower, std::min(next_up(upper), nll_by_jensen(law, label))};
}

/// (x - target)^2 over the interval, target 0 or 1 at one of its ends or beyond.
Interval square_about(const Interval& x, double target) {
  const double low = std::abs(x.lower - target);
  const double high = std::abs(x.upper - target);
  const double off = x.estimate - target;
  return {off * off, std::min(low, high) * std::min(low, high) * (1.0 - rounding_gamma(4)),
          larger_or_nan(low, high) * larger_or_nan(low, high) * (1.0 + rounding_gamma(4))};
}

Interval brier(const std::vector<Interval>& probabilities, Index label) {
  Interval sum{0.0, 0.0, 0.0};
  for (std::size_t c = 0; c < probabilities.size(); ++c) {
    const Interval term = square_about(probabilities[c], static_cast<Index>(c) == label ? 1.0 : 0.0);
    sum = {sum.estimate + term.estimate, positive_part(next_down(sum.lower + term.lower)),
           next_up(sum.upper + term.upper)};
  }
  return sum.within(0.0, 2.0);
}

bool certainly_wrong(const ClassAnswer& answer, Index label) {
  const auto at = static_cast<std::size_t>(label);
  if (label != answer.predicted && answer.margins[at].lower > 0.0) return true;
  return std::any_of(answer.probabilities.begin(), answer.probabilities.end(),
                     [&](const Interval& other) { return other.lower > answer.probabilities[at].upper; });
}

}  // namespace

ClassPoint score_class(const CertifiedLaw& law, const ClassAnswer& answer, Index label) {
  const auto classes = static_cast<Index>(answer.probabilities.size());
  require(label >= 0 && label < classes && law.dimension() == classes,
          "score_class: expected a label in 0.." + std::to_string(classes - 1) + ", got " +
              std::to_string(label));
  ClassPoint point;
  point.correct = answer.predicted == label;
  point.certainly_correct = point.correct && answer.settled;
  point.certainly_wrong = certainly_wrong(answer, label);
  point.settled = answer.settled;
  point.confidence = answer.probabilities[static_cast<std::size_t>(answer.predicted)].estimate;
  point.nll = nll(law, answer.probabilities[static_cast<std::size_t>(label)], label);
  point.brier = brier(answer.probabilities, label);
  return point;
}

void ClassScores::add(const ClassPoint& point) {
  accuracy_.add(
      {point.correct ? 1.0 : 0.0, point.certainly_correct ? 1.0 : 0.0, point.certainly_wrong ? 0.0 : 1.0});
  nll_.add(point.nll);
  brier_.add(point.brier);
  if (point.settled) ++settled_;
  if (point.certainly_correct) ++correct_and_settled_;
  const auto bin = std::min(kBins - 1, static_cast<std::size_t>(point.confidence * kBins));
  confidence_.at(bin) += point.confidence;
  correct_.at(bin) += point.correct ? 1.0 : 0.0;
}

ClassSummary ClassScores::summary() const {
  ClassSummary summary;
  summary.points = accuracy_.count();
  summary.settled = settled_;
  summary.correct_and_settled = correct_and_settled_;
  summary.accuracy = accuracy_.mean().within(0.0, 1.0);
  summary.nll = nll_.mean();
  summary.brier = brier_.mean();
  for (std::size_t bin = 0; bin < kBins; ++bin) {
    summary.calibration_error += std::abs(confidence_.at(bin) - correct_.at(bin));
  }
  summary.calibration_error /= static_cast<double>(std::max<Index>(1, summary.points));
  return summary;
}

}  // namespace mixcert
