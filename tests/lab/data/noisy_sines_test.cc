// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The generated regression problem.
#include "data/noisy_sines.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "data/load.h"

namespace mixcert::lab {
namespace noisy_sines_test {

TEST(NoisySines, HasItsSizesAndIdentityStandardisation) {
  const Dataset dataset = load_dataset({.name = "noisy-sines", .folder = "no such folder"});
  EXPECT_EQ(dataset.name, "noisy-sines");
  EXPECT_EQ(dataset.train.size(), 1024);
  EXPECT_EQ(dataset.test.size(), 102);
  EXPECT_EQ(dataset.features(), 1);
  EXPECT_EQ(dataset.outputs(), 1);
  EXPECT_EQ(dataset.standardisation.input_scale(0), 1.0);
  EXPECT_EQ(dataset.standardisation.target_mean(0), 0.0);
}

TEST(NoisySines, DependsOnTheSeedAlone) {
  const Dataset first = make_noisy_sines({.seed = 5});
  const Dataset again = make_noisy_sines({.seed = 5});
  const Dataset other = make_noisy_sines({.seed = 6});
  EXPECT_EQ(first.train.inputs, again.train.inputs);
  EXPECT_EQ(first.train.targets, again.train.targets);
  EXPECT_EQ(first.test.targets, again.test.targets);
  EXPECT_NE(first.train.inputs, other.train.inputs);
  EXPECT_NE(first.train.inputs.topRows(102), first.test.inputs) << "test rows are not training rows";
}

/// Numbers of the first machine; they change only if the generation does.
TEST(NoisySines, IsTheSameOnEveryMachine) {
  const Dataset dataset = make_noisy_sines({});
  EXPECT_FLOAT_EQ(dataset.train.inputs(0, 0), 0.798859775F);
  EXPECT_FLOAT_EQ(dataset.train.targets(0, 0), -1.26152396F);
  EXPECT_FLOAT_EQ(dataset.test.inputs(101, 0), 0.712955952F);
  EXPECT_FLOAT_EQ(dataset.test.targets(101, 0), -0.770687044F);
}

TEST(NoisySines, OptionsChangeTargetsButNotInputs) {
  const Dataset plain = make_noisy_sines({});
  const Dataset louder = make_noisy_sines({.noise = 0.5});
  EXPECT_EQ(plain.train.inputs, louder.train.inputs);
  EXPECT_NE(plain.train.targets, louder.train.targets);
}

/// Residuals of y against the formula: mean 0 and standard deviation `noise` within five standard
/// errors; x has mean 0 and variance 1/3.
TEST(NoisySines, HasTheMomentsOfItsFormula) {
  const NoisySinesOptions options{.amplitude = 2.0, .frequency = 0.75, .noise = 0.3, .seed = 11};
  const Examples examples = make_noisy_sines(options).train;
  const Eigen::ArrayXd x = examples.inputs.col(0).cast<double>().array();
  const Eigen::ArrayXd y = examples.targets.col(0).cast<double>().array();
  const Eigen::ArrayXd phase = 2.0 * std::numbers::pi * options.frequency * x;
  const Eigen::ArrayXd residual = y - options.amplitude * (phase.sin() + 0.5 * (2.0 * phase).sin());
  const double n = static_cast<double>(examples.size());
  EXPECT_NEAR(residual.mean(), 0.0, 5.0 * options.noise / std::sqrt(n));
  EXPECT_NEAR(std::sqrt(residual.square().mean()), options.noise, 5.0 * options.noise / std::sqrt(2.0 * n));
  EXPECT_NEAR(x.mean(), 0.0, 5.0 / std::sqrt(3.0 * n));
  // Var(x^2) = 1/5 - 1/9.
  EXPECT_NEAR(x.square().mean(), 1.0 / 3.0, 5.0 * std::sqrt((1.0 / 5.0 - 1.0 / 9.0) / n));
  EXPECT_GE(x.minCoeff(), -1.0);
  EXPECT_LE(x.maxCoeff(), 1.0);
}

TEST(NoisySines, TableNamesEveryOption) {
  NoisySinesOptions options;
  for (const auto& field : noisy_sines_table()) field.set(options, "3");
  EXPECT_EQ(options.amplitude, 3.0);
  EXPECT_EQ(options.frequency, 3.0);
  EXPECT_EQ(options.noise, 3.0);
  EXPECT_EQ(options.seed, 3U);
}

}  // namespace noisy_sines_test
}  // namespace mixcert::lab
