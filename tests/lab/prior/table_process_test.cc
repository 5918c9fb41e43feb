// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The process of a table: what is chosen on data that only one input explains, units of the scores, and the
// noisy copies of inputs.
#include "prior/table_process.h"

#include <gtest/gtest.h>

#include <cmath>

#include "lab/train/synthetic_data.h"
#include "mixcert/core/error.h"

namespace mixcert::lab {
namespace table_process_test {

/// A wave along the first of three inputs.
Dataset wave_data() {
  Dataset data;
  data.name = "wave";
  const FloatRows x = normal_rows(5, 160, 3);
  FloatRows y = (2.0F * x.col(0)).array().sin();
  y += 0.1F * normal_rows(6, 160, 1);
  data.train = {x.topRows(120), y.topRows(120), {}};
  data.test = {x.bottomRows(40), y.bottomRows(40), {}};
  data.standardisation.target_scale = Vector::Constant(1, 3.0);
  return data;
}

TEST(TableProcess, PrefersLengthscalesOfTheirOwn) {
  TableProcessOptions options;
  options.starts = 1;
  options.subset_size = 100;
  const TableProcess process = fit_table_process(wave_data(), options, nullptr);
  ASSERT_TRUE(process.isotropic_likelihood && process.ard_likelihood);
  EXPECT_TRUE(process.ard);
  EXPECT_GT(*process.ard_likelihood, *process.isotropic_likelihood + 10.0);
  EXPECT_EQ(process.fit.subset_size, 100);
  const Vector parameters = process.fit.process.kernel.parameters();
  ASSERT_EQ(parameters.size(), 4);
  EXPECT_LT(parameters(0) + 1.0, parameters(1));
  EXPECT_LT(parameters(0) + 1.0, parameters(2));
  EXPECT_NEAR(std::sqrt(process.fit.noise_variance), 0.1, 0.03);
  EXPECT_LT(process.test.root_mean_square_error, 0.2);

  const GpScores own = process.in_data_units(process.test);
  EXPECT_NEAR(own.root_mean_square_error, 3.0 * process.test.root_mean_square_error, 1e-12);
  EXPECT_NEAR(own.negative_log_likelihood, process.test.negative_log_likelihood + std::log(3.0), 1e-12);

  options.lengthscales = LengthscaleChoice::Isotropic;
  const TableProcess isotropic = fit_table_process(wave_data(), options, nullptr);
  EXPECT_FALSE(isotropic.ard || isotropic.ard_likelihood);
  EXPECT_EQ(isotropic.fit.process.kernel.parameter_count(), 2);
}

TEST(TableProcess, RefusesClassification) {
  EXPECT_THROW(fit_table_process(image_data(4, 10, 2), {}, nullptr), InvalidArgument);
}

TEST(TuningInputs, AreTheInputsAndNoisyCopies) {
  const FloatRows inputs = normal_rows(1, 2000, 2);
  const Matrix points = tuning_inputs(inputs, 2, 0.3, 7);
  ASSERT_EQ(points.rows(), 2);
  ASSERT_EQ(points.cols(), 6000);
  const Matrix original = inputs.cast<double>().transpose();
  EXPECT_TRUE(points.leftCols(2000) == original);
  for (Index copy = 1; copy <= 2; ++copy) {
    const Matrix noise = points.middleCols(2000 * copy, 2000) - original;
    EXPECT_NEAR(noise.mean(), 0.0, 0.03);
    EXPECT_NEAR(std::sqrt(noise.squaredNorm() / 4000.0), 0.3, 0.02);
  }
  EXPECT_FALSE(points.middleCols(2000, 2000).isApprox(points.rightCols(2000)));
  EXPECT_TRUE(points == tuning_inputs(inputs, 2, 0.3, 7));
  EXPECT_FALSE(points == tuning_inputs(inputs, 2, 0.3, 8));
  EXPECT_TRUE(tuning_inputs(inputs, 0, 0.3, 7) == original);
}

}  // namespace table_process_test
}  // namespace mixcert::lab
