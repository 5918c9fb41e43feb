// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Probabilities of half-lines and intervals (U.5), and intervals that hold an asked probability (U.7).
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "answer/dual_bounds.h"
#include "mixcert/answer/answers.h"
#include "mixcert/core/error.h"
#include "mixcert/core/rounding.h"

namespace mixcert {

// The upper end is the dual bound of the closed set, the lower end one minus that of the complement of the
// open set.

namespace {

double one_minus_lower(double value) { return value == 0.0 ? 1.0 : positive_part(next_down(1.0 - value)); }

ProbabilityAnswer answer(double estimate, const DualBound& set, const DualBound& complement) {
  return {{estimate, one_minus_lower(complement.value), set.value}, 0.0, complement.width, set.width};
}

/// The better of the ends, where the computed law says more (U.20): then it gives the estimate as well.
ProbabilityAnswer with_computed(ProbabilityAnswer answer, const CertifiedLine& line, double lower,
                                double upper) {
  if (!line.has_distribution()) return answer;
  const Interval before = line.below(lower), through = line.below(upper);
  const double least = next_down(through.lower - before.upper);
  const double most = next_up(through.upper - before.lower);
  if (!(most - least < answer.interval.width())) return answer;
  answer.is_computed = true;
  answer.interval.estimate = std::clamp(through.estimate - before.estimate, 0.0, 1.0);
  if (least > answer.interval.lower) {
    answer.interval.lower = least;
    answer.lower_width = 0.0;
  }
  if (most < answer.interval.upper) {
    answer.interval.upper = most;
    answer.upper_width = 0.0;
  }
  return answer;
}

}  // namespace

ProbabilityAnswer probability_above(const CertifiedLine& line, double threshold) {
  require(!std::isnan(threshold), "probability_above: the threshold is not a number");
  const LineMixture& above = line.mixture();
  const LineMixture below = above.mirrored();
  return with_computed(
      answer(above.tail(threshold), dual_bound({{&above, threshold}}, 0.0, line.w2(), line.w1()),
             dual_bound({{&below, -threshold}}, 0.0, line.w2(), line.w1())),
      line, threshold, kInfinity);
}

ProbabilityAnswer probability_between(const CertifiedLine& line, double lower, double upper) {
  require(!std::isnan(lower) && !std::isnan(upper), "probability_between: an end is not a number");
  if (lower > upper) return {{0.0, 0.0, 0.0}};
  if (upper == kInfinity) return probability_above(line, lower);
  const LineMixture& ascending = line.mixture();
  const LineMixture descending = ascending.mirrored();
  const double w2 = line.w2();
  const double w1 = line.w1();
  const DualBound inside = lower == -kInfinity
                               ? dual_bound({{&descending, -upper}}, 0.0, w2, w1)
                               : dual_bound({{&ascending, lower}, {&descending, -upper}}, -1.0, w2, w1);
  const DualBound outside = dual_bound({{&ascending, upper}, {&descending, -lower}}, 0.0, w2, w1);
  return with_computed(answer(ascending.mass(lower, upper), inside, outside), line, lower, upper);
}

// Credible intervals (U.7): bisection over the enlargement r for
//     sup over p of P_p(y <= l - r or y >= u + r)  <=  1 - level,
// the dual bound of a union of two half-lines. It falls as r grows; only an r that passed is returned. The
// search begins where Chebyshev's inequality proves it: at (s + eps)/sqrt(1 - level) about the mean.

namespace {

constexpr double kRelativePrecision = 1e-9;
constexpr int kMostSteps = 200;

class Search {
 public:
  Search(const CertifiedLine& line, double level)
      : line_(line),
        ascending_(line.mixture()),
        descending_(line.mixture().mirrored()),
        level_(level),
        allowed_(level >= 0.5 ? 1.0 - level : next_down(1.0 - level)) {}

  /// [lower - r, upper + r] with the least r found.
  [[nodiscard]] CredibleInterval enlarge(double lower, double upper) const {
    double fails = 0.0;
    double passes = 0.0;
    if (!proven(lower, upper)) {
      passes = first_guess(lower, upper);
      for (int step = 0; step < kMostSteps && !proven(lower - passes, upper + passes); ++step) passes *= 2.0;
    }
    if (!proven(lower - passes, upper + passes)) return {-kInfinity, kInfinity, level_, kInfinity, 1.0};
    const double scale = upper - lower;
    for (int step = 0; step < kMostSteps && passes - fails > kRelativePrecision * (passes + scale); ++step) {
      const double middle = 0.5 * (fails + passes);
      (proven(lower - middle, upper + middle) ? passes : fails) = middle;
    }
    lower -= passes;
    upper += passes;
    return {lower, upper, level_, passes, ascending_.mass(lower, upper)};
  }

 private:
  [[nodiscard]] bool proven(double lower, double upper) const {
    const DualBound outside =
        dual_bound({{&ascending_, upper}, {&descending_, -lower}}, 0.0, line_.w2(), line_.w1());
    if (outside.value <= allowed_) return true;
    if (!line_.has_distribution()) return false;
    return next_up(line_.below(lower).upper + next_up(1.0 - line_.below(upper).lower)) <= allowed_;
  }

  /// Chebyshev (or Markov, where W1 alone is known) about the mean, wherever that lies.
  [[nodiscard]] double first_guess(double lower, double upper) const {
    const double mean = ascending_.mean();
    const double outside = positive_part(larger_or_nan(lower - mean, mean - upper));
    const double spread = ascending_.deviation();
    const double reach =
        std::min((spread + line_.w2()) / std::sqrt(allowed_), (spread + line_.w1()) / allowed_);
    // Never less than what an addition to the ends can show.
    const double visible = 8.0 * kUnitRoundoff * std::max(std::abs(lower), std::abs(upper));
    return outside + 1.001 * reach + visible + std::numeric_limits<double>::min();
  }

  const CertifiedLine& line_;
  const LineMixture& ascending_;
  LineMixture descending_;
  double level_;
  double allowed_;
};

}  // namespace

CredibleInterval credible_interval(const CertifiedLine& line, double level) {
  require(level > 0.0 && level < 1.0,
          "credible_interval: expected 0 < level < 1, got " + std::to_string(level));
  if (!std::isfinite(line.w2()) && !std::isfinite(line.w1()))
    return {-kInfinity, kInfinity, level, kInfinity, 1.0};
  const Search search(line, level);
  const LineMixture& mixture = line.mixture();
  const double lower = mixture.quantile(0.5 * (1.0 - level));
  const double upper = std::max(lower, mixture.quantile(0.5 * (1.0 + level)));
  const CredibleInterval central = search.enlarge(lower, upper);
  const CredibleInterval around_mean = search.enlarge(mixture.mean(), mixture.mean());
  return around_mean.upper - around_mean.lower < central.upper - central.lower ? around_mean : central;
}

}  // namespace mixcert
