// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The backbone against a direct convolution and against difference quotients.
#include "train/conv_net.h"

#include <gtest/gtest.h>

#include "lab/train/synthetic_data.h"
#include "mixcert/core/error.h"

namespace mixcert::lab {
namespace {

class BackboneTest : public ::testing::Test {
 protected:
  const ConvNet net_{{2, 8, 8}, 0.0};
  const FloatRows image_ = normal_rows(1, 1, 2 * 8 * 8);
  FloatVector parameters_ = 0.2F * normal_rows(2, net_.parameter_count(), 1).col(0);

  [[nodiscard]] FloatVector features(const FloatVector& parameters) const {
    ConvNet::Pass pass;
    FloatVector result(net_.features());
    net_.forward(parameters.data(), image_.data(), nullptr, pass, result.data());
    return result;
  }
};

/// relu(convolution) by its definition.
FloatRows direct_convolution(const ConvNet::Convolution& shape, const float* parameters,
                             const FloatRows& image) {
  FloatRows result(shape.out, shape.pixels());
  const float* bias = parameters + shape.offset + shape.out * shape.taps();
  for (Index o = 0; o < shape.out; ++o) {
    for (Index p = 0; p < shape.pixels(); ++p) {
      double sum = bias[o];
      for (Index t = 0; t < shape.taps(); ++t) {
        const Index y = p / shape.width + t % 9 / 3 - 1;
        const Index x = p % shape.width + t % 3 - 1;
        if (y < 0 || x < 0 || y >= shape.height || x >= shape.width) continue;
        sum += parameters[shape.offset + o * shape.taps() + t] * image(t / 9, y * shape.width + x);
      }
      result(o, p) = std::max(0.0F, static_cast<float>(sum));
    }
  }
  return result;
}

FloatRows direct_pooling(const ConvNet::Convolution& shape, const FloatRows& image) {
  FloatRows result(shape.out, shape.pixels() / 4);
  const Index width = shape.width / 2;
  for (Index o = 0; o < shape.out; ++o) {
    for (Index p = 0; p < result.cols(); ++p) {
      const Index corner = p / width * 2 * shape.width + p % width * 2;
      result(o, p) = std::max({image(o, corner), image(o, corner + 1), image(o, corner + shape.width),
                               image(o, corner + shape.width + 1)});
    }
  }
  return result;
}

TEST_F(BackboneTest, EqualsTheDefinition) {
  FloatRows expected = Eigen::Map<const FloatRows>(image_.data(), 2, 64);
  for (const auto& shape : net_.convolutions()) {
    expected = direct_convolution(shape, parameters_.data(), expected);
    if (shape.pooled) expected = direct_pooling(shape, expected);
  }
  ASSERT_EQ(net_.features(), 64 * 2 * 2);
  const FloatVector flat = Eigen::Map<const FloatVector>(expected.data(), expected.size());
  EXPECT_LT((features(parameters_) - flat).norm(), 1e-5F * flat.norm());
}

TEST_F(BackboneTest, GradientEqualsDifferenceQuotient) {
  const FloatVector seed = normal_rows(3, net_.features(), 1).col(0);
  ConvNet::Pass pass;
  FloatVector result(net_.features());
  net_.forward(parameters_.data(), image_.data(), nullptr, pass, result.data());
  FloatVector gradient = FloatVector::Zero(net_.parameter_count());
  net_.backward(parameters_.data(), pass, seed.data(), gradient.data());
  // Along directions rather than entries: kinks of relu and pooling average out.
  for (std::uint64_t trial = 0; trial < 10; ++trial) {
    const FloatVector direction = normal_rows(20 + trial, net_.parameter_count(), 1).col(0);
    const float step = 1e-5F;
    const FloatVector change =
        features(parameters_ + step * direction) - features(parameters_ - step * direction);
    const double quotient = seed.cast<double>().dot(change.cast<double>()) / (2.0 * step);
    const double slope = gradient.cast<double>().dot(direction.cast<double>());
    EXPECT_NEAR(slope, quotient, 0.03 * gradient.norm());
  }
}

TEST_F(BackboneTest, DropoutPassesTheSameEntriesBothWays) {
  const ConvNet dropping({2, 8, 8}, 0.5);
  Generator generator = make_generator(4, Stream::Example);
  ConvNet::Pass pass;
  FloatVector result(dropping.features());
  dropping.forward(parameters_.data(), image_.data(), &generator, pass, result.data());
  const double dropped = (result.array() == 0.0F).cast<double>().mean();
  EXPECT_GT(dropped, 0.3);
  // The loss looks at dropped features only: no gradient.
  const FloatVector seed = (pass.scales[3].row(0).transpose().array() == 0.0F).cast<float>();
  FloatVector gradient = FloatVector::Zero(dropping.parameter_count());
  dropping.backward(parameters_.data(), pass, seed.data(), gradient.data());
  EXPECT_EQ(gradient.norm(), 0.0F);
}

TEST(Backbone, RefusesImagesItCannotHalveTwice) {
  EXPECT_THROW(ConvNet({1, 30, 30}, 0.0), InvalidArgument);
  EXPECT_THROW(ConvNet({0, 0, 0}, 0.0), InvalidArgument);
}

}  // namespace
}  // namespace mixcert::lab
