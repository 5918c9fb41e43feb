// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// How far laws move with the input (M.9), (M.10): exact where the network is one layer, and never below what
// the coupling by the same weights costs.
#include "sensitivity/input_norms.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "mixture/symmetric_eigen.h"
#include "sensitivity/coupled_change.h"
#include "support/naive_oracle.h"
#include "support/random_network.h"

namespace mixcert::testing {
namespace input_norms_test {

TEST(InputNorms, OfOneLayerAreItsSecondMoment) {
  for (const WeightFamily family : all_weight_families()) {
    Generator generator = make_generator(7, Stream::Example);
    LayerRecipe recipe;
    recipe.weights = family;
    recipe.inputs = 5;
    const DenseLayer layer = random_layer(generator, recipe);
    const InputNorms norms(Network({layer}, {Activation()}), nullptr);
    const Matrix a = naive_second_moment_gram(layer, Vector::Ones(layer.outputs()));
    const double exact = std::sqrt(symmetric_eigen(a).values(4));
    EXPECT_NEAR(norms.change_in_ball(1.0).upper, exact, 1e-9 * exact) << to_string(family);
    double corner = 0.0;
    for (int i = 0; i < 200; ++i) {
      const Vector d = random_signs(generator, 5);
      corner = std::max(corner, std::sqrt(d.dot(a * d)));
    }
    const double box = norms.change_in_box(Vector::Ones(5)).upper;
    EXPECT_GE(box, (1.0 - 1e-12) * corner);
    EXPECT_LE(box, 1.01 * std::sqrt(0.5 * std::numbers::pi) * corner);
  }
}

TEST(InputNorms, AreProportionalToTheSetEvenWhereSquaresAreNot) {
  const Network network = random_network({});
  const InputNorms norms(network, nullptr);
  const double one = norms.change_in_box(Vector::Ones(2)).upper;
  for (const double scale : {1e-300, 1e-200, 1e-9, 1e200}) {
    EXPECT_NEAR(norms.change_in_box(Vector::Constant(2, scale)).upper / scale, one, 1e-9 * one) << scale;
  }
  EXPECT_EQ(norms.change_in_box(Vector::Zero(2)).upper, 0.0);
  EXPECT_LE(norms.change_in_box(Vector{{1.0, 0.0}}).upper, one);
  EXPECT_GE(norms.change_in_box(Vector{{1.0, 1e-200}}).upper, norms.change_in_box(Vector{{1.0, 0.0}}).upper);
}

class InputNormsOfFamilies : public ::testing::TestWithParam<WeightFamily> {};

TEST_P(InputNormsOfFamilies, AreNoLessThanWhatTheCouplingCosts) {
  for (std::uint64_t seed = 0; seed < 24; ++seed) {
    Generator generator = make_generator(seed, Stream::Example);
    NetworkRecipe recipe;
    recipe.widths = {4};
    for (std::uint64_t k = 0; k <= seed % 4; ++k)
      recipe.widths.push_back(static_cast<Index>(3 + (seed + k) % 6));
    recipe.weights = GetParam();
    recipe.activation = all_activation_functions()[seed % all_activation_functions().size()];
    recipe.seed = seed;
    const Network network = random_network(recipe);
    const InputNorms norms(network, nullptr);
    const Vector input =
        2.0 * random_signs(generator, 4).array() * Vector::Constant(4, uniform(generator)).array();
    for (const double radius : {0.01, 1.0}) {
      const Vector corner = radius * random_signs(generator, 4);
      // Draws scatter about the mean square by a few per cent.
      const double cost = 0.9 * coupled_change(network, input, corner);
      EXPECT_LE(cost, norms.change_in_box(Vector::Constant(4, radius)).upper) << "seed " << seed;
      EXPECT_LE(cost, norms.change_in_ball(2.0 * radius).upper) << "seed " << seed;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, InputNormsOfFamilies, ::testing::ValuesIn(all_weight_families()),
                         [](const auto& one) { return to_string(one.param); });

}  // namespace input_norms_test
}  // namespace mixcert::testing
