// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Convolutions and dense layers together: derivatives of a batch against difference quotients and against
// single examples, and heads that learn behind masks of their own at each step.
#include "train/stack_net.h"

#include <gtest/gtest.h>

#include "lab/train/synthetic_data.h"
#include "train/feature_learner.h"

namespace mixcert::lab {
namespace stack_net_test {

/// LeNet-5 with a small head on 16x16 images, one output and regression targets.
class StackTest : public ::testing::Test {
 protected:
  StackTest() {
    examples_.inputs = normal_rows(5, 20, net_.conv->inputs());
    examples_.targets = normal_rows(6, 20, 1);
  }

  [[nodiscard]] BatchMeans derivatives(const FloatVector& parameters, const std::vector<Index>& rows,
                                       CurvatureWanted wanted) const {
    BatchDerivatives batch(net_, 2);
    BatchMeans means;
    batch.compute(parameters, likelihood_, examples_, rows, wanted, {1, 2}, means);
    return means;
  }

  const StackNet net_{make_backbone(Backbone::Lenet5, BackbonePooling::Usual, {1, 16, 16}, {}),
                      DenseNet({64, 8, 1}, Activation(ActivationFunction::Tanh), {0.0, 0.0})};
  const Likelihood likelihood_{Task::Regression, 0.25};
  const FloatVector parameters_ = net_.initial_weights(3);
  const std::vector<Index> all_ = shuffled(1, TrainStream::Shuffle, 0, 20);
  Examples examples_;
};

TEST_F(StackTest, GradientEqualsDifferenceQuotient) {
  const BatchMeans means = derivatives(parameters_, all_, CurvatureWanted::None);
  for (std::uint64_t trial = 0; trial < 8; ++trial) {
    const FloatVector direction = normal_rows(30 + trial, net_.parameter_count(), 1).col(0);
    const float step = 1e-4F;
    const double up = derivatives(parameters_ + step * direction, all_, CurvatureWanted::None).log_likelihood;
    const double down =
        derivatives(parameters_ - step * direction, all_, CurvatureWanted::None).log_likelihood;
    const double slope = means.gradient.cast<double>().dot(direction.cast<double>());
    EXPECT_NEAR(slope, (down - up) / (2.0 * step), 0.03 * means.gradient.norm());
  }
}

TEST_F(StackTest, CurvaturesAreMeansOfSquaresOfSingleExamples) {
  FloatVector empirical = FloatVector::Zero(net_.parameter_count());
  FloatVector gauss_newton = empirical;
  const FloatRows outputs = predict(net_, parameters_, examples_.inputs, 1);
  for (Index n = 0; n < examples_.size(); ++n) {
    const FloatVector gradient = derivatives(parameters_, {n}, CurvatureWanted::None).gradient;
    empirical += gradient.cwiseAbs2() / 20.0F;
    // The gradient is residual / v times that of the output, the Gauss-Newton diagonal the square of the
    // latter divided by v.
    const float residual = outputs(n, 0) - examples_.targets(n, 0);
    gauss_newton += gradient.cwiseAbs2() * 0.25F / (residual * residual) / 20.0F;
  }
  const FloatVector first = derivatives(parameters_, all_, CurvatureWanted::Empirical).curvature;
  const FloatVector second = derivatives(parameters_, all_, CurvatureWanted::GaussNewton).curvature;
  EXPECT_LT((first - empirical).norm(), 1e-4F * empirical.norm());
  EXPECT_LT((second - gauss_newton).norm(), 1e-4F * gauss_newton.norm());
}

/// Keeps what it is given to learn on.
class Listener : public Learner {
 public:
  double step(const Examples& examples, std::span<const Index> rows, const StepInfo&) override {
    EXPECT_EQ(static_cast<Index>(rows.size()), examples.size());
    seen.push_back(examples);
    return 0.0;
  }
  [[nodiscard]] FloatRows outputs(const FloatRows& inputs, std::optional<Index>) const override {
    return inputs;
  }
  [[nodiscard]] const Likelihood& likelihood() const override { return likelihood_; }
  [[nodiscard]] double regulariser() const override { return 0.0; }
  [[nodiscard]] bool is_stochastic() const override { return false; }
  [[nodiscard]] bool has_convolutions() const override { return false; }
  [[nodiscard]] State state() const override { return {}; }
  void restore(const State&) override {}

  std::vector<Examples> seen;

 private:
  Likelihood likelihood_{Task::Classification};
};

TEST(FeatureLearner, DrawsMasksAnewAtEachStep) {
  const Dataset data = image_data(16, 40, 4);
  const ConvNet conv =
      make_backbone(Backbone::Lenet5, BackbonePooling::Usual, data.image_shape, {0.5, DropoutUnit::Value});
  Generator generator = make_generator(2, Stream::Example);
  FloatVector kernels(conv.parameter_count());
  conv.set_initial_weights(generator, kernels.data());
  Listener head;
  FeatureLearner learner(head, conv, kernels, 9, 2);
  const std::vector<Index> rows = shuffled(1, TrainStream::Shuffle, 0, 30);
  for (const Index step : {0, 1, 1}) (void)learner.step(data.train, rows, {step, 0.1});
  ASSERT_EQ(head.seen.size(), 3U);
  EXPECT_EQ(head.seen[0].labels, gather(data.train, rows.data(), 30).labels);
  EXPECT_NE(head.seen[0].inputs, head.seen[1].inputs);
  EXPECT_EQ(head.seen[1].inputs, head.seen[2].inputs);
  const FloatRows whole = conv_features(conv, kernels.data(), data.train.inputs, 1);
  EXPECT_EQ(learner.outputs(data.train.inputs, std::nullopt), whole);
  EXPECT_NE(learner.outputs(data.train.inputs, 3), whole);
  EXPECT_NE(learner.outputs(data.train.inputs, 3), learner.outputs(data.train.inputs, 4));
  EXPECT_TRUE(learner.is_stochastic());
}

TEST(FeatureLearner, MasksOfTheLastPoolingKeepTheMean) {
  const FloatRows image = normal_rows(3, 1, 256).cwiseAbs();
  // One convolution: its features are linear in the mask.
  const ConvNet conv("one", {1, 16, 16}, {{4, 3, 1, Pooling::Average}}, {0.3, DropoutUnit::Value});
  const FloatVector kernels = normal_rows(4, conv.parameter_count(), 1).col(0).cwiseAbs();
  const FloatRows whole = conv_features(conv, kernels.data(), image, 1);
  FloatRows sum = FloatRows::Zero(1, conv.features());
  constexpr int kDraws = 1000;
  for (std::uint64_t draw = 0; draw < kDraws; ++draw) {
    const MaskKey key{{1, draw}, TrainStream::Dropout};
    sum += conv_features(conv, kernels.data(), image, 1, &key);
  }
  // Factors of variance 0.3 / 0.7: six deviations of their mean over the draws.
  const double tolerance = 6.0 * std::sqrt(0.3 / 0.7 / kDraws);
  const FloatRows ratio = (sum / static_cast<float>(kDraws)).cwiseQuotient(whole);
  EXPECT_NEAR(ratio.maxCoeff(), 1.0, tolerance);
  EXPECT_NEAR(ratio.minCoeff(), 1.0, tolerance);
}

}  // namespace stack_net_test
}  // namespace mixcert::lab
