// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// NoisySines: the ELBO never falls over a smoothed window, and the network learns the curve.
#include <gtest/gtest.h>

#include "data/noisy_sines.h"
#include "io/test_files.h"
#include "train/train.h"

namespace mixcert::lab {
namespace elbo_heavy_test {

/// The memory of the curvature average, 1000 steps at 8 steps an epoch. Within shorter windows the noise of
/// the steps shows: of windows of 25 epochs about one in six is below the one before.
constexpr std::size_t kWindow = 125;

double window_mean(const std::vector<EpochRecord>& history, std::size_t begin) {
  double sum = 0.0;
  for (std::size_t i = begin; i < begin + kWindow; ++i) sum += history[i].objective;
  return sum / kWindow;
}

class NoisySines : public ::testing::TestWithParam<std::uint64_t> {};

TEST_P(NoisySines, ElboNeverFallsOverAWindow) {
  const test::TempDirectory directory;
  const Dataset data = make_noisy_sines({});
  TrainOptions options = default_train_options("noisy-sines", Inference::Vogn);
  options.arch = "1-64-1";
  options.seed = GetParam();
  options.elbo_samples = 64;
  options.threads = 1;
  const TrainSummary summary = train(data, options, directory / "net.safetensors");
  for (std::size_t i = 0; i + 2 * kWindow <= summary.history.size(); i += kWindow) {
    EXPECT_GE(window_mean(summary.history, i + kWindow), window_mean(summary.history, i))
        << "windows at epochs " << i + 1 << " and " << i + kWindow + 1;
  }
  EXPECT_LT(summary.test_samples->score, 0.13);
  EXPECT_NEAR(*summary.noise_std, 0.1, 0.02);
}

INSTANTIATE_TEST_SUITE_P(Seeds, NoisySines, ::testing::Values(0, 4));

}  // namespace elbo_heavy_test
}  // namespace mixcert::lab
