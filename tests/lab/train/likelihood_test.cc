// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Likelihoods: gradients are derivatives, random roots have the Hessian as their second moment.
#include "train/likelihood.h"

#include <gtest/gtest.h>

#include "lab/train/synthetic_data.h"

namespace mixcert::lab {
namespace likelihood_test {

class LikelihoodTest : public ::testing::TestWithParam<Task> {
 protected:
  LikelihoodTest() {
    targets_.inputs = FloatRows::Zero(4, 1);
    if (GetParam() == Task::Regression) {
      targets_.targets = normal_rows(2, 4, 3);
    } else {
      targets_.labels = {0, 2, 1, 1};
    }
  }
  const Likelihood likelihood_{GetParam(), GetParam() == Task::Regression ? 0.3 : 1.0};
  const FloatRows outputs_ = normal_rows(1, 4, 3);
  Examples targets_;
};

TEST_P(LikelihoodTest, GradientIsTheDerivative) {
  const FloatRows gradient = likelihood_.output_gradient(outputs_, targets_);
  for (Index i = 0; i < outputs_.size(); ++i) {
    const float step = 1e-2F;
    FloatRows up = outputs_;
    FloatRows down = outputs_;
    up.data()[i] += step;
    down.data()[i] -= step;
    const double change =
        (likelihood_.log_likelihoods(down, targets_) - likelihood_.log_likelihoods(up, targets_)).sum();
    EXPECT_NEAR(gradient.data()[i], change / (2.0 * step), 1e-3);
  }
}

TEST_P(LikelihoodTest, RootsHaveTheHessianAsSecondMoment) {
  const Index draws = 40000;
  Generator generator = make_generator(3, Stream::Example);
  const FloatRows one = outputs_.row(0);
  Matrix moment = Matrix::Zero(3, 3);
  for (Index i = 0; i < draws; ++i) {
    const Vector root = likelihood_.hessian_root(one, generator).row(0).transpose().cast<double>();
    moment += root * root.transpose() / static_cast<double>(draws);
  }
  Matrix hessian = Matrix::Identity(3, 3) / 0.3;
  if (GetParam() == Task::Classification) {
    const Vector p = softmax(one).row(0).transpose().cast<double>();
    hessian = Matrix(p.asDiagonal()) - p * p.transpose();
  }
  EXPECT_LT((moment - hessian).norm(), 0.03 * hessian.norm());
}

INSTANTIATE_TEST_SUITE_P(Tasks, LikelihoodTest, ::testing::Values(Task::Regression, Task::Classification),
                         [](const auto& parameter) {
                           return parameter.param == Task::Regression ? "Regression" : "Classification";
                         });

}  // namespace likelihood_test
}  // namespace mixcert::lab
