// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// A training that ends with a network of no use says so and writes nothing.
#include "train/divergence.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <limits>

#include "io/test_files.h"
#include "lab/train/synthetic_data.h"
#include "train/train.h"

namespace mixcert::lab {
namespace divergence_test {

/// Of a regression whose targets have the deviation `deviation` to within its draws.
TrainSummary summary_with(double rmse) {
  TrainSummary summary;
  summary.train_mean.score = rmse;
  summary.noise_std = 0.1;
  return summary;
}

TEST(Divergence, ErrorsAreComparedWithTheBestConstant) {
  Dataset data = linear_data(3, 100, 0.1);
  data.train.targets.setConstant(2.0F);
  data.train.targets.topRows(50).setConstant(4.0F);  // one from their mean, all of them
  EXPECT_EQ(divergence(data, summary_with(0.3)), "");
  EXPECT_EQ(divergence(data, summary_with(3.9)), "");
  EXPECT_EQ(divergence(data, summary_with(4.5)),
            "the RMSE on the training data is 4.5, and 1 for a constant");
  EXPECT_NE(divergence(data, summary_with(std::numeric_limits<double>::quiet_NaN())), "");
  TrainSummary noisy = summary_with(0.3);
  noisy.noise_std = 5.0;
  EXPECT_EQ(divergence(data, noisy), "the noise that was learned is 5, and 1 for a constant");
  TrainSummary drawn = summary_with(0.3);
  drawn.train_samples = Metrics{1e5, 0.0, 0.0};
  EXPECT_NE(divergence(data, drawn), "");
}

TEST(Divergence, LossesOfClassesAreComparedWithEqualProbabilities) {
  const Dataset data = image_data(4, 40, 2);
  TrainSummary summary;
  summary.train_mean.negative_log_likelihood = 2.5;  // 3.6 log 2
  EXPECT_EQ(divergence(data, summary), "");
  summary.train_mean.negative_log_likelihood = 3.0;
  EXPECT_NE(divergence(data, summary), "");
}

TEST(Divergence, ATrainingThatDivergesWritesNothing) {
  const test::TempDirectory folder;
  const auto out = folder / "net.safetensors";
  TrainOptions options;
  options.arch = "3-1";
  options.inference = Inference::Adam;
  options.noise_std = 0.3;
  options.epochs = 1;
  options.batch_size = 50;
  options.learning_rate = 1000.0;
  options.threads = 1;
  const Dataset data = linear_data(3, 200, 0.1);
  try {
    (void)train(data, options, out);
    FAIL() << "expected an exception";
  } catch (const Diverged& error) {
    EXPECT_NE(std::string(error.what()).find("try a smaller --learning-rate than 1000"), std::string::npos)
        << error.what();
  }
  EXPECT_FALSE(std::filesystem::exists(out));
  EXPECT_FALSE(std::filesystem::exists(checkpoint_path(options, out)));
}

}  // namespace divergence_test
}  // namespace mixcert::lab
