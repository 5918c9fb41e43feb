// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Results are bitwise the same for every number of threads, for every call, for every number of inputs that
// go through a layer together, and whatever other inputs are in the batch (R.7).
#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "core/column_product.h"
#include "core/kept.h"
#include "mixcert/certify/certify.h"
#include "mixcert/core/error.h"
#include "sensitivity/sensitivity.h"
#include "support/random_network.h"

namespace mixcert::testing {
namespace determinism_test {

/// Every number of the two results, compared exactly.
void expect_identical(const Result& a, const Result& b) {
  EXPECT_EQ(a.w2.value, b.w2.value);
  EXPECT_EQ(a.w2.nominal, b.w2.nominal);
  EXPECT_EQ(a.w1.value, b.w1.value);
  EXPECT_EQ(a.relative_w2, b.relative_w2);
  EXPECT_EQ(a.mixture.weights(), b.mixture.weights());
  ASSERT_EQ(a.mixture.size(), b.mixture.size());
  for (Index i = 0; i < a.mixture.size(); ++i) {
    EXPECT_EQ(a.mixture.component(i).mean, b.mixture.component(i).mean);
    EXPECT_EQ(a.mixture.component(i).covariance.to_dense(), b.mixture.component(i).covariance.to_dense());
  }
  ASSERT_EQ(a.layers.size(), b.layers.size());
  for (std::size_t k = 0; k < a.layers.size(); ++k) {
    EXPECT_EQ(a.layers[k].compression, b.layers[k].compression);
    EXPECT_EQ(a.layers[k].local, b.layers[k].local);
    EXPECT_EQ(a.layers[k].metric, b.layers[k].metric);
    EXPECT_EQ(a.layers[k].points, b.layers[k].points);
  }
}

class Determinism : public ::testing::TestWithParam<WeightFamily> {
 protected:
  Determinism() : network_(make_network()) {
    Generator generator = make_generator(4, Stream::Example);
    inputs_ = random_matrix(generator, network_.inputs(), 9);
    options_.signature_size = 12;
    options_.components = 4;
    options_.threads = 1;
  }

  static Network make_network() {
    NetworkRecipe recipe;
    recipe.widths = {3, 9, 7, 2};
    recipe.weights = GetParam();
    recipe.seed = 8;
    return random_network(recipe);
  }

  [[nodiscard]] std::vector<Result> run(const Matrix& inputs) const {
    return certify(network_, inputs, options_);
  }

  Network network_;
  Matrix inputs_;
  Options options_;  ///< method auto: both methods run
};

/// What is kept with a network from one call to the next changes no bit, also where calls meet.
TEST_P(Determinism, CallsOfOneNetworkShareWhatBelongsToIt) {
  const std::vector<Result> alone = certify(make_network(), inputs_, options_);
  std::vector<std::vector<Result>> made(3);
  std::vector<std::thread> threads;
  for (std::vector<Result>& results : made) threads.emplace_back([&] { results = run(inputs_); });
  for (std::thread& thread : threads) thread.join();
  made.push_back(run(inputs_));
  for (const std::vector<Result>& results : made) {
    for (std::size_t i = 0; i < alone.size(); ++i) expect_identical(results[i], alone[i]);
  }
  const Network copy = network_;
  const auto none = []() -> Sensitivity { throw Error("made again"); };
  EXPECT_NO_THROW((void)copy.kept().get<Sensitivity>("sensitivity", none));
}

TEST_P(Determinism, NumberOfThreadsDoesNotMatter) {
  const std::vector<Result> alone = run(inputs_);
  for (const int threads : {2, 5, 0}) {
    options_.threads = threads;
    const std::vector<Result> together = run(inputs_);
    ASSERT_EQ(together.size(), alone.size());
    for (std::size_t i = 0; i < alone.size(); ++i) {
      EXPECT_EQ(together[i].input, static_cast<Index>(i));
      expect_identical(alone[i], together[i]);
    }
  }
}

TEST_P(Determinism, RepeatedCallsAgree) {
  options_.threads = 2;
  const std::vector<Result> first = run(inputs_);
  const std::vector<Result> second = run(inputs_);
  for (std::size_t i = 0; i < first.size(); ++i) expect_identical(first[i], second[i]);
}

TEST_P(Determinism, OtherInputsOfTheBatchDoNotMatter) {
  const std::vector<Result> all = run(inputs_);
  for (Index i = 0; i < inputs_.cols(); i += 3) {
    expect_identical(run(inputs_.col(i)).front(), all[static_cast<std::size_t>(i)]);
  }
  const std::vector<Result> reversed = run(inputs_.rowwise().reverse());
  for (std::size_t i = 0; i < all.size(); ++i) expect_identical(all[i], reversed[all.size() - 1 - i]);
}

TEST_P(Determinism, BlockSizeDoesNotMatter) {
  options_ = {};
  options_.method = Method::Moment;
  options_.theorems = TheoremSet::Coupling;
  options_.pieces = 2;
  options_.threads = 1;
  options_.block = 1;
  const std::vector<Result> alone = run(inputs_);
  for (const Index block : {2, 1000}) {
    options_.block = block;
    const std::vector<Result> together = run(inputs_);
    ASSERT_EQ(together.size(), alone.size());
    for (std::size_t i = 0; i < alone.size(); ++i) expect_identical(alone[i], together[i]);
  }
}

INSTANTIATE_TEST_SUITE_P(AllFamilies, Determinism, ::testing::ValuesIn(all_weight_families()),
                         [](const auto& tested) { return to_string(tested.param); });

/// Sizes with and without rest for packets and tiles; a last layer narrower than a tile.
TEST(BlockDeterminism, BlocksAndThreadsDoNotMatterForWideNetworks) {
  NetworkRecipe recipe;
  recipe.widths = {301, 67, 48, 10};
  const Network network = random_network(recipe);
  Generator generator = make_generator(6, Stream::Example);
  const Matrix inputs = random_matrix(generator, 301, 70);
  Options options;
  options.method = Method::Moment;
  options.theorems = TheoremSet::Coupling;
  options.threads = 1;
  options.block = 1;
  const std::vector<Result> alone = certify(network, inputs, options);
  for (const Index block : {0, 7, 64, 1000}) {
    for (const int threads : {1, 2, 3, 4}) {
      SCOPED_TRACE("block " + std::to_string(block) + ", threads " + std::to_string(threads));
      options.block = block;
      options.threads = threads;
      const std::vector<Result> together = certify(network, inputs, options);
      ASSERT_EQ(together.size(), alone.size());
      for (std::size_t i = 0; i < alone.size(); ++i) {
        EXPECT_EQ(together[i].input, static_cast<Index>(i));
        expect_identical(alone[i], together[i]);
      }
    }
  }
}

TEST(ColumnProduct, EveryColumnIsAsIfAlone) {
  Generator generator = make_generator(7, Stream::Example);
  for (const Index rows : {1, 2, 7, 8, 9, 21, 64}) {
    for (const Index terms : {0, 1, 5, 64, 65, 200}) {
      const Matrix left = random_matrix(generator, rows, terms);
      const Matrix right = random_matrix(generator, terms, 11);
      const Matrix product = column_product(left, right);
      // The same sum in another order: (R.1). Eigen reads rows of empty matrices on the way to such a
      // product.
      if (terms == 0) {
        EXPECT_TRUE(product.isZero(0.0));
      } else {
        const Matrix majorant = left.cwiseAbs().lazyProduct(right.cwiseAbs());
        EXPECT_TRUE(((product - left.lazyProduct(right)).array().abs() <=
                     2.0 * rounding_gamma(terms + 1) * majorant.array())
                        .all());
      }
      for (Index first = 0; first < 11; ++first) {
        for (const Index count : {1, 2, 3, 5}) {
          if (first + count > 11) continue;
          EXPECT_EQ(column_product(left, right.middleCols(first, count)), product.middleCols(first, count));
        }
      }
    }
  }
}

TEST(JointDeterminism, RepeatedJointCallsAgree) {
  NetworkRecipe recipe;
  recipe.widths = {3, 6, 5, 2};
  const Network network = random_network(recipe);
  Generator generator = make_generator(5, Stream::Example);
  const Matrix inputs = random_matrix(generator, 3, 4);
  Options options;
  options.method = Method::Signature;
  options.joint = true;
  const Result first = certify(network, inputs, options).front();
  options.threads = 3;
  expect_identical(first, certify(network, inputs, options).front());
}

}  // namespace determinism_test
}  // namespace mixcert::testing
