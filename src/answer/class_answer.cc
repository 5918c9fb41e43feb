// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Softmax probabilities under the true law. A function f with values in (0, 1) and |grad f| <= sqrt 2 f (1 -
// f) has log-odds T = log(f/(1-f)) with Lipschitz constant sqrt 2, so that the laws of T under p and q are
// within sqrt 2 eps of each other on the line; duality there gives, for every kappa > 0 (U.12),
//
//     E_p f >= E_q phi(T) - 2 kappa eps^2,      phi the envelope of the logistic function.
//
// Softmax probabilities are such functions, and so are (1 + softmax_c - softmax_j)/2 (U.13). kappa is chosen
// on a pilot sample, independent of the sample that the bound is made of.
#include <algorithm>
#include <cmath>
#include <string>

#include "answer/dual_bounds.h"
#include "mixcert/answer/answers.h"
#include "mixcert/core/error.h"
#include "mixcert/core/rounding.h"
#include "mixcert/statistics/simulate.h"

namespace mixcert {
namespace {

constexpr Index kPilotSamples = 400;
constexpr double kMostNumbers = 2e8;  // classes x samples, of which three arrays are held
constexpr double kSoftmaxLipschitz = 0.35355339059327379;  // sqrt 2 / 4, rounded up

/// Samples of logits as what softmax is made of; one column per class. With m the largest logit:
struct LogitSamples {
  Matrix shifted;       ///< y_c - m
  Matrix exponentials;  ///< e_c = exp(y_c - m)
  Matrix others;        ///< sum over j != c of e_j, without cancellation

  explicit LogitSamples(ConstMatrixRef logits);
  [[nodiscard]] Index classes() const { return shifted.cols(); }
  [[nodiscard]] Vector softmax(Index c) const {
    return exponentials.col(c).array() / (exponentials.col(c) + others.col(c)).array();
  }
  /// log softmax_c / (1 - softmax_c).
  [[nodiscard]] Vector odds(Index c) const { return shifted.col(c).array() - others.col(c).array().log(); }
  /// The log-odds of (1 + softmax_c - softmax_j)/2.
  [[nodiscard]] Vector difference_odds(Index c, Index j) const {
    return (others.col(j) + exponentials.col(c)).array().log() -
           (others.col(c) + exponentials.col(j)).array().log();
  }
};

LogitSamples::LogitSamples(ConstMatrixRef logits)
    : shifted(logits.transpose().colwise() - logits.colwise().maxCoeff().transpose()),
      exponentials(shifted.array().exp()),
      others(Matrix::Zero(shifted.rows(), shifted.cols())) {
  // Sums before and after each class.
  Vector before = Vector::Zero(shifted.rows());
  Vector after = Vector::Zero(shifted.rows());
  for (Index c = 0; c < classes(); ++c) {
    const Index d = classes() - 1 - c;
    others.col(c) += before;
    others.col(d) += after;
    before += exponentials.col(c);
    after += exponentials.col(d);
  }
}

/// How the lower bounds of one law are made: samples to choose kappa on and samples to integrate with.
class OddsBound {
 public:
  OddsBound(double w2, double failure) : w2_(w2), failure_(failure) {}

  /// A number no more than E_p f, f with log-odds `odds` in the samples.
  [[nodiscard]] double lower(const Vector& pilot_odds, const Vector& odds) const {
    if (!std::isfinite(w2_)) return 0.0;
    const EnvelopeTable& table = EnvelopeTable::at(best_table(pilot_odds));
    const Matrix values = odds.unaryExpr([&](double t) { return table.lower(t); }).transpose();
    const double mean = sampled_means(values, failure_).front().lower;
    return positive_part(next_down(mean - cost(table.kappa()) * (1.0 + rounding_gamma(4))));
  }

 private:
  [[nodiscard]] double cost(double kappa) const { return 2.0 * kappa * w2_ * w2_; }
  /// E phi(T) - 2 kappa eps^2 is concave in kappa: bisection of its increments.
  [[nodiscard]] Index best_table(const Vector& pilot_odds) const {
    const auto value = [&](Index k) {
      const EnvelopeTable& table = EnvelopeTable::at(k);
      return pilot_odds.unaryExpr([&](double t) { return table.lower(t); }).mean() - cost(table.kappa());
    };
    Index low = 0;
    Index high = EnvelopeTable::count() - 1;
    while (low < high) {
      const Index middle = (low + high) / 2;
      if (value(middle) < value(middle + 1)) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

  double w2_;
  double failure_;
};

Index largest(const std::vector<Interval>& probabilities) {
  const auto best =
      std::max_element(probabilities.begin(), probabilities.end(),
                       [](const Interval& a, const Interval& b) { return a.estimate < b.estimate; });
  return best - probabilities.begin();
}

/// The probabilities sum to one.
void use_sum(std::vector<Interval>& probabilities) {
  double lower = 0.0;
  double upper = 0.0;
  for (const Interval& one : probabilities) {
    lower += one.lower;
    upper += one.upper;
  }
  const double slack = rounding_gamma(static_cast<Index>(probabilities.size()) + 2) * (2.0 + upper);
  for (Interval& one : probabilities) {
    one = one.within(1.0 - (upper - one.upper) - slack, 1.0 - (lower - one.lower) + slack);
  }
}

std::vector<Interval> class_probabilities(const CertifiedLaw& law, const LogitSamples& pilot,
                                          const LogitSamples& samples, const OddsBound& bound,
                                          double failure) {
  std::vector<Interval> probabilities;
  for (Index c = 0; c < samples.classes(); ++c) {
    const Interval plain = sampled_means(samples.softmax(c).transpose(), failure).front();
    const Vector pilot_odds = pilot.odds(c);
    const Vector odds = samples.odds(c);
    const double below = bound.lower(pilot_odds, odds);
    const double above = next_up(1.0 - bound.lower(-pilot_odds, -odds));
    probabilities.push_back(
        lipschitz_expectation(law, plain, kSoftmaxLipschitz).within(below, above).within(0.0, 1.0));
  }
  use_sum(probabilities);
  return probabilities;
}

/// Of E_p softmax_c - E_p softmax_j, from the range of either and from a lower bound of (1 + difference)/2.
Interval difference(const Interval& first, const Interval& second, double half_lower) {
  return {first.estimate - second.estimate,
          std::max(next_down(first.lower - second.upper), next_down(2.0 * half_lower - 1.0)),
          next_up(first.upper - second.lower)};
}

void check(Index classes, const IntegrationOptions& options) {
  require(classes >= 2, "class_answer: expected two outputs or more, got " + std::to_string(classes));
  require(options.samples >= 2,
          "class_answer: expected two samples or more, got " + std::to_string(options.samples));
  if (static_cast<double>(classes) * static_cast<double>(options.samples) > kMostNumbers)
    throw ResourceError("class_answer: expected at most 2e8 numbers, got " + std::to_string(classes) +
                        " classes x " + std::to_string(options.samples) + " samples");
}

}  // namespace

ClassAnswer class_answer(const CertifiedLaw& law, const IntegrationOptions& options, std::uint64_t index) {
  const Index classes = law.dimension();
  check(classes, options);
  const auto draw = [&](Index count, std::uint64_t part) {
    return LogitSamples(
        sample_mixture(law.mixture(), count, options.seed, Stream::Mixture, 2 * index + part));
  };
  // The samples are those of a law that rounding moved away from the mixture.
  const double error = sampling_error(law.mixture(), law.mixture());
  const CertifiedLaw sampled(law.mixture(), next_up(law.w2() + error), next_up(law.w1() + error));
  const LogitSamples pilot = draw(std::min(kPilotSamples, options.samples), 1);
  const LogitSamples samples = draw(options.samples, 0);
  // Three intervals per class, one per difference.
  const double failure = options.failure_probability / static_cast<double>(4 * classes - 1);
  const OddsBound bound(sampled.w2(), failure);

  ClassAnswer answer;
  answer.probabilities = class_probabilities(sampled, pilot, samples, bound, failure);
  answer.predicted = largest(answer.probabilities);
  // The class whose differences are bounded must not depend on the samples that bound them.
  Index candidate = 0;
  pilot.exponentials.cwiseQuotient(pilot.exponentials + pilot.others).colwise().sum().maxCoeff(&candidate);
  const Interval& own = answer.probabilities[static_cast<std::size_t>(answer.predicted)];
  answer.settled = true;
  for (Index j = 0; j < classes; ++j) {
    if (j == answer.predicted) {
      answer.margins.push_back({0.0, 0.0, 0.0});
      continue;
    }
    const double half = candidate == answer.predicted ? bound.lower(pilot.difference_odds(candidate, j),
                                                                    samples.difference_odds(candidate, j))
                                                      : 0.0;
    answer.margins.push_back(difference(own, answer.probabilities[static_cast<std::size_t>(j)], half));
    answer.settled = answer.settled && answer.margins.back().lower > 0.0;
  }
  return answer;
}

}  // namespace mixcert
