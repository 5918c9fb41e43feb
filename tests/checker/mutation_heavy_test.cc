// Licensed under the Apache License, Version 2.0; see LICENSE.
#include <gtest/gtest.h>

#include <iostream>

#include "checker/mutations.h"
#include "checker/proof_files.h"

namespace mixcert::testing {
namespace mutation_heavy_test {

TEST(Mutations, NoFalseClaimIsAcceptedInTenThousand) {
  int refused = 0, accepted = 0;
  for (std::uint64_t seed = 10; seed < 50; ++seed) {
    const MutationCounts counts = mutate(seed, 250);
    refused += counts.refused;
    accepted += counts.accepted;
    EXPECT_EQ(counts.false_claims, 0) << seed;
  }
  std::cout << "10,000 mutations: " << refused << " refused, " << accepted
            << " accepted and not contradicted\n";
  EXPECT_EQ(refused + accepted, 10000);
}

/// The proof's own bound and how far it is below the engine's.
TEST(Proof, HoldsForAThousandRandomNetworks) {
  const ActivationFunction functions[] = {ActivationFunction::Relu, ActivationFunction::Tanh,
                                          ActivationFunction::LeakyRelu, ActivationFunction::Gelu,
                                          ActivationFunction::Softplus};
  const std::vector<Index> widths[] = {{2, 5, 1}, {3, 8, 4, 2}, {1, 4, 6, 4, 2}, {2, 3, 3, 3, 3, 1}};
  double slack = 1.0;
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    // Up to 3: behind larger ones deviations of smooth functions' arguments leave what is covered.
    const double deviation = 3.0 * std::pow(10.0, -static_cast<double>(seed % 7));
    const WeightFamily families[] = {WeightFamily::MeanField, WeightFamily::MeanField,
                                     WeightFamily::KroneckerEigenbasis, WeightFamily::Kronecker};
    const Mask masks[] = {Mask(), Mask(), Mask::bernoulli(0.1), Mask::gaussian(0.5), Mask::bernoulli(0.7)};
    const NetworkRecipe recipe{.widths = widths[seed % 4],
                               .weights = families[seed / 4 % 4],
                               .activation = functions[seed % 5],
                               .mean_scale = seed % 11 == 0 ? 0.0 : 1.0,
                               .deviation = deviation,
                               .seed = seed};
    const ProofFiles files(masked(recipe, masks[seed / 16 % 5]), seed, 1);
    try {
      const auto all = check_files(files.model(), files.proof());
      ASSERT_EQ(all.size(), 1U);
      slack = std::max(slack, all.front().claimed / all.front().proven);
    } catch (const std::runtime_error& refusal) {
      ADD_FAILURE() << "seed " << seed << ": " << refusal.what();
    }
  }
  std::cout << "1,000 networks: claimed over proven at most " << slack << "\n";
}

}  // namespace mutation_heavy_test
}  // namespace mixcert::testing
