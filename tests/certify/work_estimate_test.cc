// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Estimates of work follow sizes, inputs and options, and their announcement says what helps.
#include "mixcert/certify/work_estimate.h"

#include <gtest/gtest.h>

#include "mixcert/core/error.h"
#include "mixcert/network/network_builder.h"
#include "sensitivity/stoppable_norms.h"

namespace mixcert {
namespace work_estimate_test {

Network network_of(const std::vector<Index>& widths) {
  std::vector<LayerSpec> layers;
  for (std::size_t k = 0; k + 1 < widths.size(); ++k) {
    if (k > 0) layers.emplace_back(ActivationSpec{Activation(ActivationFunction::Tanh)});
    const Matrix mean = Matrix::Constant(widths[k + 1], widths[k], 0.1);
    layers.emplace_back(DenseSpec{DenseLayer(std::to_string(k), mean, Vector::Zero(widths[k + 1]),
                                             MeanFieldWeights{0.1 * mean}, DeterministicBias{})});
  }
  return build_network(layers);
}

WorkEstimate estimate(const std::vector<Index>& widths, Index inputs, const Options& options = {}) {
  return estimate_work(Ensemble(network_of(widths)), options, inputs);
}

TEST(WorkEstimate, FollowsSizesAndInputs) {
  Options options;
  options.threads = 1;
  const WorkEstimate small = estimate({2, 100, 100, 2}, 1, options);
  EXPECT_GT(small.multiplications, 1e6);
  EXPECT_NEAR(small.seconds, small.multiplications / kMultiplicationsPerSecond, 1e-12);
  const double ratio = estimate({2, 200, 200, 2}, 1, options).multiplications / small.multiplications;
  EXPECT_GT(ratio, 6.0);
  EXPECT_LT(ratio, 9.0);
  EXPECT_GT(estimate({2, 100, 100, 2}, 100, options).seconds, 30.0 * small.seconds);
  options.threads = 4;
  EXPECT_LT(estimate({2, 100, 100, 2}, 100, options).seconds, 40.0 * small.seconds);
}

TEST(WorkEstimate, FollowsOptions) {
  const std::vector<Index> widths = {2, 50, 50, 2};
  const double plain = estimate(widths, 4).multiplications;
  Options options;
  options.pieces = 16;
  EXPECT_GT(estimate(widths, 4, options).multiplications, 100.0 * plain);
  options = {};
  options.simulate = true;
  EXPECT_GT(estimate(widths, 4, options).multiplications, plain + 4.0 * 1e5 * 5000.0);
  options = {};
  options.joint = true;
  EXPECT_GT(estimate(widths, 100, options).bytes, 100.0 * estimate(widths, 10, options).bytes * 0.5);
  options = {};
  options.epsilon = 0.1;
  EXPECT_TRUE(estimate(widths, 4, options).is_least);
  options = {};
  options.method = Method::Signature;
  EXPECT_EQ(estimate(widths, 4, options).method, "signatures");
}

TEST(WorkEstimate, LongWorkIsAnnouncedInOneLine) {
  Options options;
  WorkEstimate estimate;
  estimate.method = "the moment method";
  estimate.seconds = 29.0;
  EXPECT_FALSE(estimate.is_long(options));
  estimate.seconds = 200.0;
  estimate.bytes = 0x1.0p30;
  EXPECT_TRUE(estimate.is_long(options));
  options.threads = 1;
  EXPECT_EQ(work_announcement(estimate, options, 2),
            "about 3 min and 1 GiB are expected (an estimate from sizes): the moment method; less with fewer "
            "inputs, smaller layers or images");
  estimate.seconds = 1.0;
  estimate.bytes = 3.0 * 0x1.0p30;
  EXPECT_TRUE(estimate.is_long(options));
}

TEST(WorkEstimate, DurationsAreWords) {
  EXPECT_EQ(duration_text(0.2), "1 s");
  EXPECT_EQ(duration_text(44.4), "44 s");
  EXPECT_EQ(duration_text(600.0), "10 min");
  EXPECT_EQ(duration_text(9000.0), "2.5 h");
}

TEST(StoppableNorms, StopBetweenLayers) {
  const Network network = network_of({2, 8, 8, 8, 1});
  CancelFlag flag;
  EXPECT_EQ(make_error_norms(network, SensitivityMode::Closed, &flag).size(), 3U);
  flag.store(true);
  EXPECT_THROW((void)make_error_norms(network, SensitivityMode::Closed, &flag), Interrupted);
}

}  // namespace work_estimate_test
}  // namespace mixcert
