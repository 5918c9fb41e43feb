// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Derivatives of dense layers against difference quotients and against a loop over examples; results
// that do not depend on the number of threads.
#include "train/dense_net.h"

#include <gtest/gtest.h>

#include "lab/train/synthetic_data.h"
#include "train/stack_net.h"

namespace mixcert::lab {
namespace dense_net_test {

class DenseGradient : public ::testing::TestWithParam<ActivationFunction> {
 protected:
  const DenseNet net_{{3, 5, 4, 2}, Activation(GetParam()), {0.0, 0.0, 0.0}};
  const FloatRows inputs_ = normal_rows(5, 6, 3);
  const FloatRows seeds_ = normal_rows(6, 6, 2);  ///< the loss of example n is seeds_n . outputs_n
  FloatVector parameters_ = normal_rows(7, net_.parameter_count(), 1).col(0);

  [[nodiscard]] double loss(const FloatVector& parameters) const {
    DenseNet::Pass pass;
    net_.forward(parameters.data(), inputs_, nullptr, pass);
    return pass.outputs.back().cast<double>().cwiseProduct(seeds_.cast<double>()).sum();
  }
};

TEST_P(DenseGradient, EqualsDifferenceQuotient) {
  DenseNet::Pass pass;
  net_.forward(parameters_.data(), inputs_, nullptr, pass);
  FloatVector gradient(net_.parameter_count());
  net_.backward(parameters_.data(), pass, seeds_, {gradient.data(), nullptr, nullptr});
  for (Index i = 0; i < parameters_.size(); ++i) {
    const float step = 2e-3F;
    FloatVector up = parameters_;
    FloatVector down = parameters_;
    up(i) += step;
    down(i) -= step;
    EXPECT_NEAR(gradient(i), (loss(up) - loss(down)) / (2.0 * step), 0.02 * (1.0 + std::abs(gradient(i))))
        << i;
  }
}

TEST_P(DenseGradient, SquaresEqualALoopOverExamples) {
  DenseNet::Pass pass;
  net_.forward(parameters_.data(), inputs_, nullptr, pass);
  FloatVector squares(net_.parameter_count());
  net_.backward(parameters_.data(), pass, seeds_, {nullptr, squares.data(), nullptr});
  FloatVector expected = FloatVector::Zero(squares.size());
  for (Index n = 0; n < inputs_.rows(); ++n) {
    FloatVector gradient(squares.size());
    DenseNet::Pass one;
    net_.forward(parameters_.data(), inputs_.row(n), nullptr, one);
    net_.backward(parameters_.data(), one, seeds_.row(n), {gradient.data(), nullptr, nullptr});
    expected += gradient.cwiseAbs2();
  }
  EXPECT_LT((squares - expected).norm(), 1e-5F * expected.norm());
}

INSTANTIATE_TEST_SUITE_P(Functions, DenseGradient, ::testing::ValuesIn(all_activation_functions()),
                         [](const auto& parameter) { return std::string(to_string(parameter.param)); });

TEST(DenseNet, DropsTheShareOfItsRateAndKeepsTheMean) {
  const DenseNet net({1000, 1}, Activation(), {0.3});
  const FloatVector parameters = FloatVector::Ones(net.parameter_count());
  Generator generator = make_generator(1, Stream::Example);
  DenseNet::Pass pass;
  net.forward(parameters.data(), FloatRows::Ones(20, 1000), &generator, pass);
  const double kept = (pass.inputs[0].array() > 0.0F).cast<double>().mean();
  EXPECT_NEAR(kept, 0.7, 0.02);
  EXPECT_NEAR(pass.inputs[0].cast<double>().mean(), 1.0, 0.02);
}

TEST(BatchDerivatives, DoNotDependOnThreads) {
  const StackNet net{std::nullopt, DenseNet({40, 256, 10}, Activation(ActivationFunction::Relu), {0.1, 0.4})};
  const Dataset data = image_data(12, 300, 10);
  Examples examples = data.train;
  examples.inputs = examples.inputs.leftCols(40).eval();
  std::vector<Index> rows = shuffled(1, TrainStream::Shuffle, 0, 300);
  const FloatVector parameters = net.initial_weights(3);
  std::vector<BatchMeans> results(2);
  for (const int threads : {1, 3}) {
    BatchDerivatives derivatives(net, threads);
    derivatives.compute(parameters, Likelihood(Task::Classification), examples, rows,
                        CurvatureWanted::GaussNewton, {7, 8}, results[threads == 1 ? 0 : 1]);
  }
  EXPECT_EQ(results[0].gradient, results[1].gradient);
  EXPECT_EQ(results[0].curvature, results[1].curvature);
  EXPECT_EQ(results[0].log_likelihood, results[1].log_likelihood);
  EXPECT_GT(results[0].curvature.norm(), 0.0F);
}

}  // namespace dense_net_test
}  // namespace mixcert::lab
