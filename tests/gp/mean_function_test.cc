// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Mean functions, and the law and samples of a process at given inputs.
#include <gtest/gtest.h>

#include "mixcert/core/error.h"
#include "mixcert/gp/gaussian_process.h"
#include "mixcert/gp/kernel.h"

namespace mixcert {
namespace mean_function_test {

Matrix some_inputs() {
  Matrix inputs(2, 3);
  inputs << 1.0, 2.0, -1.0, 0.5, 0.0, 3.0;
  return inputs;
}

TEST(MeanFunction, FollowsItsFormula) {
  const Matrix inputs = some_inputs();
  EXPECT_TRUE(MeanFunction::parse("zero").at(inputs).isZero());
  EXPECT_TRUE(MeanFunction::parse("constant(value=1.5)").at(inputs).isApprox(Vector::Constant(3, 1.5)));
  EXPECT_TRUE(MeanFunction::parse("linear(weights=[1,-2], offset=0.5)")
                  .at(inputs)
                  .isApprox(Eigen::Vector3d(0.5, 2.5, -6.5), 1e-15));
  EXPECT_TRUE(
      MeanFunction::parse("linear(weights=2)").at(inputs).isApprox(Eigen::Vector3d(3.0, 4.0, 4.0), 1e-15));
}

TEST(MeanFunction, GradientIsLinear) {
  const Matrix inputs = some_inputs();
  const Vector weights = Eigen::Vector3d(0.3, -1.0, 2.0);
  for (const char* text :
       {"zero", "constant(value=1.5)", "linear(weights=[1,-2], offset=0.5)", "linear(weights=2)"}) {
    const MeanFunction mean = MeanFunction::parse(text);
    const Vector gradient = mean.weighted_gradient(inputs, weights);
    ASSERT_EQ(gradient.size(), mean.parameter_count());
    const double base = weights.dot(mean.at(inputs));
    for (Index i = 0; i < gradient.size(); ++i) {
      const Vector moved = mean.parameters() + Vector::Unit(gradient.size(), i);
      EXPECT_NEAR(weights.dot(mean.with_parameters(moved).at(inputs)) - base, gradient(i), 1e-13) << text;
    }
  }
}

TEST(MeanFunction, TextRoundTripsAndErrorsNameThePlace) {
  for (const char* text : {"zero", "constant(value=1.5)", "linear(weights=[1, -2], offset=0.5)",
                           "linear(weights=2, offset=0)"}) {
    EXPECT_EQ(MeanFunction::parse(text).text(), text);
  }
  for (const char* text :
       {"", "one", "zero(value=1)", "constant(value=inf)", "linear(weights=[])", "zero zero"}) {
    EXPECT_THROW(MeanFunction::parse(text), InvalidArgument) << text;
  }
  EXPECT_THROW((void)MeanFunction::parse("linear(weights=[1])").at(some_inputs()), InvalidArgument);
  EXPECT_THROW((void)MeanFunction::constant(1.0).with_parameters(Vector::Zero(2)), InvalidArgument);
}

TEST(GaussianProcess, LawHasMeanAndCovariance) {
  const GaussianProcess process{MeanFunction::constant(2.0), Kernel::parse("rbf(lengthscale=0.5)")};
  const Gaussian law = process.law(some_inputs());
  EXPECT_TRUE(law.mean.isApprox(Vector::Constant(3, 2.0)));
  EXPECT_TRUE(law.covariance.to_dense() == process.kernel.covariance(some_inputs()));
}

TEST(GaussianProcess, SamplesHaveItsMoments) {
  const GaussianProcess process{MeanFunction::parse("linear(weights=[1,-2])"),
                                Kernel::parse("rbf(lengthscale=2) + constant(variance=0.5)")};
  Matrix inputs = some_inputs();
  inputs.col(2) = inputs.col(1);  // singular covariance
  constexpr Index kCount = 40000;
  const Matrix samples = sample_functions(process, inputs, kCount, 3);
  EXPECT_TRUE((samples.row(1) - samples.row(2)).cwiseAbs().maxCoeff() < 1e-6);
  const Vector mean = samples.rowwise().mean();
  const Matrix centered = samples.colwise() - mean;
  EXPECT_LT((mean - process.mean_at(inputs)).norm(), 5.0 * std::sqrt(4.5 / kCount));
  const Matrix covariance = centered * centered.transpose() / static_cast<double>(kCount);
  EXPECT_LT((covariance - process.covariance(inputs)).cwiseAbs().maxCoeff(),
            5.0 * 1.5 * std::sqrt(2.0 / kCount));
  EXPECT_TRUE(samples == sample_functions(process, inputs, kCount, 3));
  EXPECT_FALSE(samples == sample_functions(process, inputs, kCount, 4));
}

}  // namespace mean_function_test
}  // namespace mixcert
