// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Every interval of this module for one random network, against Monte Carlo of the network: an interval must
// meet the estimate within five standard errors.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>

#include "mixcert/answer/answers.h"
#include "mixcert/answer/scores.h"
#include "mixcert/certify/certify.h"
#include "mixcert/statistics/simulate.h"
#include "support/random_network.h"

namespace mixcert::testing {

/// A sample mean and five of its standard errors.
struct SampleMean {
  double mean = 0.0;
  double error = 0.0;

  explicit SampleMean(const Vector& values)
      : mean(values.mean()),
        error(5.0 * std::sqrt((values.array() - mean).square().mean() / static_cast<double>(values.size()))) {
  }
};

/// E|N(mean, deviation^2)|, from the error function.
inline double mean_absolute(double mean, double deviation) {
  return deviation * std::sqrt(2.0 / std::numbers::pi) *
             std::exp(-0.5 * mean * mean / (deviation * deviation)) +
         mean * std::erf(mean / (deviation * std::sqrt(2.0)));
}

class NetworkAnswers {
 public:
  NetworkAnswers(const NetworkRecipe& recipe, Index samples)
      : network_(random_network(recipe)),
        input_(Vector::Constant(recipe.widths.front(), 0.7)),
        result_(certify(network_, input_, Options{}).front()),
        law_(result_),
        samples_(simulate(network_, input_, 0, {samples, recipe.seed + 1000, 0, nullptr})) {}

  void check_classes() const {
    const ClassAnswer answer = class_answer(law_, {20000, 1e-9, 0});
    Matrix probabilities = samples_.array().exp();
    probabilities.array().rowwise() /= probabilities.colwise().sum().eval().array();
    for (Index c = 0; c < samples_.rows(); ++c) {
      const auto at = static_cast<std::size_t>(c);
      expect(answer.probabilities[at], SampleMean(probabilities.row(c)));
      expect(answer.margins[at], SampleMean(probabilities.row(answer.predicted) - probabilities.row(c)));
      const SampleMean own(probabilities.row(c));
      const Interval nll = score_class(law_, answer, c).nll;
      EXPECT_LE(nll.lower, -std::log(std::max(1e-300, own.mean - own.error)));
      EXPECT_GE(nll.upper, -std::log(own.mean + own.error));
    }
  }

  void check_scores(double noise) const {
    AnswerOptions options;
    options.noise_std = noise;
    const std::vector<PredictiveMoments> moments = predictive_moments(law_, options);
    const Vector label = samples_.rowwise().mean().array() + 0.4 * noise;
    const RegressionPoint point = score_regression(law_, label, options);
    for (Index t = 0; t < samples_.rows(); ++t) {
      const Vector values = samples_.row(t);
      const Vector off = values.array() - label(t);
      const auto at = static_cast<std::size_t>(t);
      expect(moments[at].mean, SampleMean(values));
      const Vector squares = (values.array() - values.mean()).square() + noise * noise;
      expect(moments[at].total, SampleMean(squares));
      check_target(point.targets[at], off, noise);
    }
  }

 private:
  static void expect(const Interval& interval, const SampleMean& value) {
    EXPECT_LE(interval.lower, value.mean + value.error + 1e-12);
    EXPECT_GE(interval.upper, value.mean - value.error - 1e-12);
  }

  static void check_target(const TargetScore& score, const Vector& off, double noise) {
    const SampleMean density((-0.5 * (off / noise).array().square()).exp() /
                             (noise * std::sqrt(2.0 * std::numbers::pi)));
    EXPECT_GE(score.nll.upper, -std::log(density.mean + density.error));
    EXPECT_LE(score.nll.lower, -std::log(std::max(1e-300, density.mean - density.error)));
    expect(
        score.pit,
        SampleMean(off.unaryExpr([&](double d) { return 0.5 * std::erfc(d / (noise * std::sqrt(2.0))); })));
    const Index half = off.size() / 2;
    Vector crps(half);
    for (Index i = 0; i < half; ++i) {
      const double apart = mean_absolute(off(i) - off(half + i), noise * std::sqrt(2.0));
      crps(i) = 0.5 * (mean_absolute(off(i), noise) + mean_absolute(off(half + i), noise)) - 0.5 * apart;
    }
    expect(score.crps, SampleMean(crps));
  }

  Network network_;
  Vector input_;
  Result result_;
  CertifiedLaw law_;
  Matrix samples_;
};

}  // namespace mixcert::testing
