// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Convolutions against their definition and against difference quotients, for every network and pooling.
#include "train/conv_net.h"

#include <gtest/gtest.h>

#include "lab/train/synthetic_data.h"
#include "mixcert/core/error.h"

namespace mixcert::lab {
namespace conv_net_test {

struct Front {
  const char* name;
  Backbone backbone;
  BackbonePooling pooling;
  Index side;
  Index features;
};

const Front kFronts[] = {
    {"Vgg2", Backbone::Vgg2, BackbonePooling::Usual, 8, 64 * 2 * 2},
    {"Vgg2Average", Backbone::Vgg2, BackbonePooling::Average, 8, 64 * 2 * 2},
    {"Lenet5", Backbone::Lenet5, BackbonePooling::Usual, 16, 16 * 2 * 2},
    {"Lenet5Max", Backbone::Lenet5, BackbonePooling::Max, 16, 16 * 2 * 2},
};

std::ostream& operator<<(std::ostream& stream, const Front& front) { return stream << front.name; }

ConvNet make_front(const Front& front, const BlockDropout& dropout) {
  return make_backbone(front.backbone, front.pooling, {2, front.side, front.side}, dropout);
}

class BackboneTest : public ::testing::TestWithParam<Front> {
 protected:
  const ConvNet net_ = make_front(GetParam(), {});
  const FloatRows image_ = normal_rows(1, 1, net_.inputs());
  FloatVector parameters_ = 0.2F * normal_rows(2, net_.parameter_count(), 1).col(0);

  [[nodiscard]] FloatVector features(const FloatVector& parameters) const {
    ConvNet::Pass pass;
    FloatVector result(net_.features());
    net_.forward(parameters.data(), image_.data(), nullptr, pass, result.data());
    return result;
  }
};

/// relu(convolution) by its definition.
FloatRows direct_convolution(const Convolution& shape, const float* parameters, const FloatRows& image) {
  const Index height = shape.height + 2 * shape.padding - shape.kernel + 1;
  const Index width = shape.width + 2 * shape.padding - shape.kernel + 1;
  FloatRows result(shape.out, height * width);
  for (Index o = 0; o < shape.out; ++o) {
    for (Index p = 0; p < height * width; ++p) {
      double sum = parameters[shape.bias_offset() + o];
      for (Index c = 0; c < shape.in; ++c) {
        for (Index i = 0; i < shape.kernel; ++i) {
          for (Index j = 0; j < shape.kernel; ++j) {
            const Index y = p / width + i - shape.padding;
            const Index x = p % width + j - shape.padding;
            if (y < 0 || x < 0 || y >= shape.height || x >= shape.width) continue;
            const Index tap = ((o * shape.in + c) * shape.kernel + i) * shape.kernel + j;
            sum += parameters[shape.offset + tap] * image(c, y * shape.width + x);
          }
        }
      }
      result(o, p) = std::max(0.0F, static_cast<float>(sum));
    }
  }
  return result;
}

FloatRows direct_pooling(const Convolution& shape, const FloatRows& image) {
  FloatRows result(image.rows(), image.cols() / 4);
  const Index full = shape.result_width();
  for (Index o = 0; o < image.rows(); ++o) {
    for (Index p = 0; p < result.cols(); ++p) {
      const Index corner = p / (full / 2) * 2 * full + p % (full / 2) * 2;
      const Eigen::Vector4f window(image(o, corner), image(o, corner + 1), image(o, corner + full),
                                   image(o, corner + full + 1));
      result(o, p) = shape.pooling == Pooling::Average ? window.mean() : window.maxCoeff();
    }
  }
  return result;
}

TEST_P(BackboneTest, EqualsTheDefinition) {
  FloatRows expected = Eigen::Map<const FloatRows>(image_.data(), 2, net_.inputs() / 2);
  for (const Convolution& shape : net_.convolutions()) {
    expected = direct_convolution(shape, parameters_.data(), expected);
    if (shape.is_pooled()) expected = direct_pooling(shape, expected);
  }
  ASSERT_EQ(net_.features(), GetParam().features);
  const FloatVector flat = Eigen::Map<const FloatVector>(expected.data(), expected.size());
  EXPECT_LT((features(parameters_) - flat).norm(), 1e-5F * flat.norm());
}

TEST_P(BackboneTest, GradientEqualsDifferenceQuotient) {
  const FloatVector seed = normal_rows(3, net_.features(), 1).col(0);
  ConvNet::Pass pass;
  FloatVector result(net_.features());
  net_.forward(parameters_.data(), image_.data(), nullptr, pass, result.data());
  FloatVector gradient = FloatVector::Zero(net_.parameter_count());
  net_.backward(parameters_.data(), pass, seed.data(), {gradient.data(), nullptr});
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

TEST_P(BackboneTest, SquaresAreThoseOfEachImage) {
  const FloatVector seed = normal_rows(3, net_.features(), 1).col(0);
  const FloatRows images = normal_rows(4, 3, net_.inputs());
  FloatVector expected = FloatVector::Zero(net_.parameter_count());
  FloatVector sums = expected;
  for (Index n = 0; n < images.rows(); ++n) {
    ConvNet::Pass pass;
    FloatVector result(net_.features());
    net_.forward(parameters_.data(), images.row(n).data(), nullptr, pass, result.data());
    FloatVector gradient = FloatVector::Zero(net_.parameter_count());
    net_.backward(parameters_.data(), pass, seed.data(), {gradient.data(), nullptr});
    expected += gradient.cwiseAbs2();
    net_.backward(parameters_.data(), pass, seed.data(), {nullptr, sums.data()});
  }
  EXPECT_LT((sums - expected).norm(), 1e-5F * expected.norm());
}

TEST_P(BackboneTest, DropoutPassesTheSameEntriesBothWays) {
  const ConvNet dropping = make_front(GetParam(), {0.5, DropoutUnit::Value});
  Generator generator = make_generator(4, Stream::Example);
  ConvNet::Pass pass;
  FloatVector result(dropping.features());
  dropping.forward(parameters_.data(), image_.data(), &generator, pass, result.data());
  const FloatVector scale = pass.scales.back().row(0).transpose();
  const FloatVector dropped = (scale.array() == 0.0F).cast<float>();
  EXPECT_NEAR(dropped.mean(), 0.5, 0.25);
  EXPECT_TRUE(((scale.array() == 0.0F) || (scale.array() == 2.0F)).all());
  EXPECT_EQ(result.cwiseProduct(dropped).norm(), 0.0F);
  // The loss looks at dropped features only: no gradient.
  FloatVector gradient = FloatVector::Zero(dropping.parameter_count());
  dropping.backward(parameters_.data(), pass, dropped.data(), {gradient.data(), nullptr});
  EXPECT_EQ(gradient.norm(), 0.0F);
  // The next pass has masks of its own.
  dropping.forward(parameters_.data(), image_.data(), &generator, pass, result.data());
  EXPECT_NE(FloatVector(pass.scales.back().row(0).transpose()), scale);
}

TEST_P(BackboneTest, ChannelDropoutHasOneFactorForAllPixels) {
  const ConvNet dropping = make_front(GetParam(), {0.25, DropoutUnit::Channel});
  Generator generator = make_generator(5, Stream::Example);
  ConvNet::Pass pass;
  FloatVector result(dropping.features());
  dropping.forward(parameters_.data(), image_.data(), &generator, pass, result.data());
  const Convolution& last = dropping.convolutions().back();
  const Index pixels = last.result_size() / last.out;
  const Eigen::Map<const FloatRows> factors(pass.scales.back().data(), last.out, pixels);
  EXPECT_EQ(FloatRows(factors.col(0).rowwise().replicate(pixels)), FloatRows(factors));
  EXPECT_EQ(factors.minCoeff(), 0.0F);
  EXPECT_EQ(factors.maxCoeff(), static_cast<float>(1.0 / 0.75));
}

INSTANTIATE_TEST_SUITE_P(Fronts, BackboneTest, ::testing::ValuesIn(kFronts),
                         [](const auto& parameter) { return std::string(parameter.param.name); });

TEST(Backbone, RefusesImagesThatDoNotFit) {
  const auto make = [](Backbone backbone, const std::array<Index, 3>& shape) {
    return make_backbone(backbone, BackbonePooling::Usual, shape, {});
  };
  EXPECT_THROW(make(Backbone::Vgg2, {1, 30, 30}), InvalidArgument);
  EXPECT_THROW(make(Backbone::Vgg2, {0, 0, 0}), InvalidArgument);
  EXPECT_THROW(make(Backbone::Lenet5, {1, 8, 8}), InvalidArgument);
  EXPECT_EQ(make(Backbone::Lenet5, {1, 28, 28}).features(), 400);
  EXPECT_EQ(make(Backbone::Vgg2, {3, 32, 32}).features(), 4096);
}

}  // namespace conv_net_test
}  // namespace mixcert::lab
