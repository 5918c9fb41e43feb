// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Answers from draws of the network: they hold what is known exactly, for every kind of layer what many more
// draws say, and fail as rarely as they say.
#include "mixcert/answer/simulated_answers.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <numbers>

#include "answer/simulated_questions.h"
#include "mixcert/core/error.h"
#include "support/random_laws.h"

namespace mixcert::testing {
namespace simulated_answers_test {

double normal_cdf(double x) { return 0.5 * std::erfc(-x / std::numbers::sqrt2); }

AnswerOptions options_with(double failure) {
  AnswerOptions options;
  options.failure_probability = failure;
  return options;
}

TEST(SimulatedAnswers, FailAsRarelyAsTheySayForALawThatIsKnown) {
  const int runs = 500;
  int failures = 0;
  Questions questions;
  questions.statements = {parse_statement("y0 > 0.3", {1, 1}), parse_statement("-1 < y0 < 2.5", {1, 1})};
  const double truth[] = {1.0 - normal_cdf(0.3), normal_cdf(2.5) - normal_cdf(-1.0)};
  for (int run = 0; run < runs; ++run) {
    Generator generator = make_generator(static_cast<std::uint64_t>(run), Stream::Example, 2811);
    const SimulatedAnswers answers =
        simulated_answers(random_matrix(generator, 1, 400), questions, options_with(0.1));
    const SimulatedInterval& interval = answers.credible.front();
    const bool holds = answers.probabilities[0].contains(truth[0]) &&
                       answers.probabilities[1].contains(truth[1]) &&
                       normal_cdf(interval.upper) - normal_cdf(interval.lower) >= 0.95;
    failures += holds ? 0 : 1;
  }
  std::printf("%d of %d sets of answers miss at failure probability 0.1\n", failures, runs);
  EXPECT_LE(failures, runs / 10);
}

TEST(SimulatedAnswers, AreBinomialLimitsAndOrderStatistics) {
  // 1, .., 1000: shares and places are known.
  const Matrix draws = Vector::LinSpaced(1000, 1.0, 1000.0).transpose();
  Questions questions;
  questions.statements = {parse_statement("y0 > 250.5", {1, 1}), parse_statement("y0 > 2000", {1, 1}),
                          parse_statement("y0 > 500", {1, 1})};
  const SimulatedAnswers answers = simulated_answers(draws, questions, options_with(1e-6));
  EXPECT_DOUBLE_EQ(answers.probabilities[0].estimate, 0.75);
  // Eight ends of 1e-6 / 8: five standard deviations of 0.0137 and a little.
  EXPECT_NEAR(answers.probabilities[0].lower, 0.675, 0.01);
  EXPECT_NEAR(answers.probabilities[0].upper, 0.816, 0.01);
  EXPECT_EQ(answers.probabilities[1].estimate, 0.0);
  EXPECT_EQ(answers.probabilities[1].lower, 0.0);
  EXPECT_NEAR(answers.probabilities[1].upper, std::log(8e6) / 1000.0, 1e-3);
  // The draw 500 is on the border: it counts against both sides.
  EXPECT_DOUBLE_EQ(answers.probabilities[2].estimate, 0.5);
  const SimulatedInterval& interval = answers.credible.front();
  EXPECT_GE(interval.lower, 1.0 - 1e-6);
  EXPECT_LT(interval.lower, 15.0);
  EXPECT_NEAR(interval.lower + interval.upper, 1001.0, 1e-5);
  EXPECT_GT(interval.share, 0.95);
}

TEST(SimulatedAnswers, HaveNoIntervalWhereDrawsAreTooFew) {
  Generator generator = make_generator(1, Stream::Example, 2812);
  const SimulatedAnswers answers = simulated_answers(random_matrix(generator, 2, 50), {}, options_with(1e-9));
  EXPECT_EQ(answers.credible.front().lower, -kInfinity);
  EXPECT_EQ(answers.credible.back().upper, kInfinity);
  EXPECT_THROW((void)simulated_answers(Matrix::Zero(1, 1), {}, {}), InvalidArgument);
}

TEST(SimulatedAnswers, SeeObservationsThroughTheirNoise) {
  const Index n = 50000;
  Matrix draws = Matrix::Zero(2, n);  // means 0, raw values whose softplus is 1
  draws.row(1).setConstant(std::log(std::numbers::e - 1.0));
  AnswerOptions options = options_with(1e-6);
  options.head = NoiseHead::Softplus;
  const SimulatedInterval head = simulated_answers(draws, {}, options).credible.front();
  EXPECT_NEAR(head.upper, 1.96, 0.15);
  options.head = NoiseHead::None;
  options.noise_std = 0.5;
  const std::vector<SimulatedInterval> both = simulated_answers(draws, {}, options).credible;
  ASSERT_EQ(both.size(), 2U);
  EXPECT_NEAR(both[0].lower, -0.98, 0.08);
}

TEST(SimulatedAnswers, SettleClasses) {
  Generator generator = make_generator(2, Stream::Example, 2813);
  Matrix draws = 0.5 * random_matrix(generator, 3, 20000);
  draws.row(1).array() += 1.0;
  Questions questions;
  questions.classes = true;
  const SimulatedAnswers answers = simulated_answers(draws, questions, options_with(1e-9));
  ASSERT_TRUE(answers.classes.has_value());
  EXPECT_EQ(answers.classes->predicted, 1);
  EXPECT_TRUE(answers.classes->settled);
  EXPECT_LT(answers.classes->probabilities[1].width(), 0.05);
  draws.row(1).array() -= 1.0;
  EXPECT_FALSE(simulated_answers(draws, questions, options_with(1e-9)).classes->settled);
}

TEST(SimulatedAnswers, HoldForEveryKindOfLayer) {
  const QuestionCount often = ask_every_kind(1, 0.1, 2000, 60000);
  std::printf("%d of %d answers miss at failure probability 0.1 for each set\n", often.missed, often.asked);
  EXPECT_LE(10 * often.missed, often.asked);
  const QuestionCount surely = ask_every_kind(1, 1e-9, 2000, 60000);
  EXPECT_EQ(surely.missed, 0);
}

}  // namespace simulated_answers_test
}  // namespace mixcert::testing
