// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Chains of layers: sizes must fit, names of families, the random networks of the tests.
#include "mixcert/network/network.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "mixcert/core/error.h"
#include "support/random_network.h"

namespace mixcert {
namespace network_test {

DenseLayer plain_layer(const std::string& name, Index inputs, Index outputs) {
  return {name, Matrix::Ones(outputs, inputs), Vector::Zero(outputs), DeterministicWeights{},
          DeterministicBias{}};
}

std::vector<ActivationMap> identities(std::size_t count) {
  std::vector<ActivationMap> all(count);
  return all;
}

TEST(Network, KnowsItsSizes) {
  testing::NetworkRecipe recipe;
  recipe.widths = {2, 5, 4, 3};
  recipe.activation = ActivationFunction::Relu;
  const Network network = testing::random_network(recipe);
  EXPECT_EQ(network.layer_count(), 3);
  EXPECT_EQ(network.hidden_count(), 2);
  EXPECT_EQ(network.inputs(), 2);
  EXPECT_EQ(network.outputs(), 3);
  EXPECT_EQ(network.layer(1).inputs(), 5);
  EXPECT_EQ(network.activation(0).common().function(), ActivationFunction::Identity);
  EXPECT_EQ(network.activation(2).common().function(), ActivationFunction::Relu);
}

TEST(Network, RefusesChainsThatDoNotFit) {
  try {
    const Network network({plain_layer("first", 2, 3), plain_layer("second", 4, 1)}, identities(2));
    FAIL() << "accepted";
  } catch (const InvalidArgument& error) {
    const std::string what = error.what();
    for (const char* text : {"'first'", "'second'", "4", "3"})
      EXPECT_NE(what.find(text), std::string::npos) << what;
  }
  EXPECT_THROW(Network({}, {}), InvalidArgument);
  EXPECT_THROW(Network({plain_layer("a", 2, 3)}, identities(2)), InvalidArgument);
}

TEST(Network, NamesFamilies) {
  Generator generator = make_generator(1, Stream::Example);
  std::vector<std::string> seen;
  for (const auto family : testing::all_weight_families()) {
    seen.emplace_back(family_name(testing::random_weight_law(generator, family, 2, 2, 1.0)));
  }
  for (std::size_t i = 0; i < seen.size(); ++i) {
    EXPECT_FALSE(seen[i].empty());
    for (std::size_t j = 0; j < i; ++j) EXPECT_NE(seen[i], seen[j]);
  }
  EXPECT_EQ(seen[1], "mean-field");
  EXPECT_EQ(seen[2], "kronecker");
}

TEST(RandomNetwork, IsReproducibleAndDependsOnTheSeed) {
  testing::NetworkRecipe recipe;
  const Network a = testing::random_network(recipe);
  const Network b = testing::random_network(recipe);
  recipe.seed = 1;
  const Network c = testing::random_network(recipe);
  EXPECT_EQ(a.layer(1).weight_mean(), b.layer(1).weight_mean());
  EXPECT_NE(a.layer(1).weight_mean(), c.layer(1).weight_mean());
}

}  // namespace network_test
}  // namespace mixcert
