// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// 200 random networks with 250,000 samples each: every interval of expectations and scores meets the
// Monte Carlo answer.
#include <gtest/gtest.h>

#include "answer/network_answers.h"

namespace mixcert::testing {
namespace scores_property_heavy_test {

TEST(NetworkAnswersProperty, HoldForManyRandomNetworks) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    NetworkRecipe recipe;
    recipe.seed = 10 + seed;
    recipe.widths = seed % 3 == 0 ? std::vector<Index>{2, 8, 6, 3} : std::vector<Index>{3, 8, 4};
    recipe.activation = seed % 2 == 0 ? ActivationFunction::Tanh : ActivationFunction::Relu;
    recipe.deviation = 0.05 + 0.1 * static_cast<double>(seed % 5);
    recipe.mean_scale = 1.0 + static_cast<double>(seed % 4);
    const NetworkAnswers answers(recipe, 250'000);
    answers.check_classes();
    answers.check_scores(0.1 + 0.3 * static_cast<double>(seed % 3));
  }
}

}  // namespace scores_property_heavy_test
}  // namespace mixcert::testing
