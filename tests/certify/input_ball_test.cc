// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Bounds that hold in a ball of inputs (M.9), (M.10): against the network's law at other inputs of the ball,
// which is known up to its own bound there; and what is refused with them.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "certify/box_property.h"
#include "mixcert/certify/certify.h"
#include "mixcert/certify/explain.h"
#include "mixcert/core/error.h"
#include "mixcert/network/network_builder.h"
#include "support/random_network.h"
#include "support/random_specs.h"

namespace mixcert::testing {
namespace input_ball_test {

Matrix random_matrix(Generator& generator, Index rows, Index cols) {
  return Matrix::NullaryExpr(rows, cols, [&] { return 2.0 * uniform(generator) - 1.0; });
}

Options with_radius(double radius, InputNorm norm = InputNorm::Largest) {
  Options options;
  options.radius = radius;
  options.norm = norm;
  options.threads = 1;
  return options;
}

/// A point of the ball: a corner or end of it, or inside.
Vector point_of_ball(Generator& generator, const Vector& centre, const Options& options) {
  Vector change = random_matrix(generator, centre.size(), 1);
  const bool is_box = options.norm == InputNorm::Largest;
  if (is_box && uniform(generator) < 0.7) change = change.cwiseSign();
  if (!is_box) change /= change.norm() * (1.0 + 1e-12);
  return centre + *options.radius * (1.0 - 1e-12) * change;
}

/// The bound of the ball against laws at 12 of its points: W2(p_x, q) >= W2(q_x, q) - w2_x. Returns the
/// largest share of the bound that is found.
double expect_holds(const Network& network, const Vector& centre, const Options& options,
                    Generator& generator) {
  const Result ball = certify(network, centre, options).front();
  Options at_point = options;
  at_point.radius.reset();
  at_point.norm = InputNorm::Largest;
  const Result middle = certify(network, centre, at_point).front();
  EXPECT_GT(ball.input_change, 0.0);
  EXPECT_GE(ball.w2.value, middle.w2.value + ball.input_change);
  EXPECT_EQ(ball.distribution, nullptr);
  EXPECT_TRUE(std::isnan(ball.w2_lower) && std::isnan(middle.input_change));
  double share = 0.0;
  for (int i = 0; i < 12; ++i) {
    const Result there = certify(network, point_of_ball(generator, centre, options), at_point).front();
    const double distance = least_distance(there.mixture, ball.mixture) - there.w2.value;
    EXPECT_LE(distance, ball.w2.value);
    share = std::max(share, distance / ball.w2.value);
  }
  return share;
}

TEST(InputBall, HoldsAtItsPoints) {
  double largest = 0.0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    Generator generator = make_generator(seed, Stream::Example);
    NetworkRecipe recipe;
    recipe.widths = {static_cast<Index>(1 + seed % 4), static_cast<Index>(4 + seed % 13), 2};
    if (seed % 3 == 0) recipe.widths.insert(recipe.widths.begin() + 1, 6);
    recipe.activation = all_activation_functions()[seed % all_activation_functions().size()];
    recipe.weights = seed % 5 == 0 ? WeightFamily::Kronecker : WeightFamily::MeanField;
    recipe.deviation = seed % 2 == 0 ? 0.3 : 0.003;
    recipe.seed = seed;
    const Network network = random_network(recipe);
    const Vector centre = 2.0 * random_matrix(generator, recipe.widths.front(), 1);
    const double radius = std::pow(10.0, -4.0 * uniform(generator));
    const InputNorm norm = seed % 2 == 0 ? InputNorm::Largest : InputNorm::Euclidean;
    largest = std::max(largest, expect_holds(network, centre, with_radius(radius, norm), generator));
  }
  EXPECT_GT(largest, 0.3) << "the bound says little, or the points are tame";
}

/// Deterministic layers, dropout, and weights behind it.
TEST(InputBall, HoldsBehindDeterministicLayers) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Generator generator = make_generator(100 + seed, Stream::Example);
    const DenseLayer first("first", random_matrix(generator, 8, 3), random_matrix(generator, 8, 1),
                           DeterministicWeights{}, DeterministicBias{});
    WeightCovariance weights = DeterministicWeights{};
    if (seed % 2 == 0) weights = MeanFieldWeights{0.01 * random_matrix(generator, 2, 8).cwiseAbs2()};
    const DenseLayer last("last", random_matrix(generator, 2, 8), random_matrix(generator, 2, 1), weights,
                          DeterministicBias{});
    const auto function = all_activation_functions()[seed % all_activation_functions().size()];
    const Network network =
        build_network({DenseSpec{first}, activation_spec(function), DropoutSpec{0.2}, DenseSpec{last}});
    ASSERT_NE(network.front(), nullptr);
    const Vector centre = random_matrix(generator, 3, 1);
    for (const InputNorm norm : {InputNorm::Largest, InputNorm::Euclidean})
      (void)expect_holds(network, centre, with_radius(0.05, norm), generator);
  }
}

/// In few features mean slopes of the box around it (M.12) may say more than norms (M.9).
TEST(InputBall, OfEuclidCostsNoMoreThanTheBoxAroundIt) {
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    NetworkRecipe recipe;
    recipe.widths = {static_cast<Index>(1 + seed % 3), 16, 2};
    recipe.activation = all_activation_functions()[seed % all_activation_functions().size()];
    recipe.deviation = 0.01;
    recipe.seed = seed;
    const Network network = random_network(recipe);
    const Vector centre = Vector::Constant(recipe.widths.front(), 0.3);
    const double ball =
        certify(network, centre, with_radius(0.01, InputNorm::Euclidean)).front().input_change;
    const double box = certify(network, centre, with_radius(0.01)).front().input_change;
    EXPECT_LE(ball, box) << seed;
    EXPECT_GT(ball, 0.0) << seed;
  }
}

TEST(InputBall, OfAnEnsembleHoldsToo) {
  NetworkRecipe recipe;
  const Network one = random_network(recipe);
  recipe.seed = 1;
  const Ensemble both({one, random_network(recipe)}, Vector{{0.25, 0.75}});
  const Vector centre{{0.3, -0.4}};
  const Result ball = certify(both, centre, with_radius(0.1)).front();
  EXPECT_GT(ball.input_change, 0.0);
  Options at_point;
  const Result corner = certify(both, Vector{{0.4, -0.5}}, at_point).front();
  EXPECT_LE(least_distance(corner.mixture, ball.mixture) - corner.w2.value, ball.w2.value);
  EXPECT_GE(ball.w2.value, certify(both, centre, at_point).front().w2.value);
}

TEST(InputBall, IsRefusedWhereSomethingIsAboutOneInput) {
  const Network network = random_network({});
  const Matrix inputs = Matrix::Zero(2, 1);
  const std::vector<std::function<void(Options&)>> changes = {
      [](Options& o) { o.joint = true; },
      [](Options& o) { o.simulate = true; },
      [](Options& o) { o.epsilon = 1.0; },
      [](Options& o) { o.statistics = 100; },
      [](Options& o) { o.method = Method::Cross; },
      [](Options& o) { o.method = Method::Coupled; },
      [](Options& o) { o.predictive = Predictive::Glm; }};
  for (const auto& change : changes) {
    Options options = with_radius(0.1);
    change(options);
    EXPECT_THROW((void)certify(network, inputs, options), InvalidArgument);
  }
  Options alone;
  alone.norm = InputNorm::Euclidean;
  EXPECT_THROW((void)certify(network, inputs, alone), InvalidArgument);
  EXPECT_THROW((void)explain(Ensemble(network), inputs, with_radius(0.1)), InvalidArgument);
}

}  // namespace input_ball_test
}  // namespace mixcert::testing
