// Licensed under the Apache License, Version 2.0; see LICENSE.
#include "statistics/simulate/normal_source.h"

#include <gtest/gtest.h>

#include <cmath>

namespace mixcert {
namespace normal_source_test {

TEST(NormalSource, HasNormalMomentsAndTails) {
  Generator generator = make_generator(1, Stream::Network);
  Matrix x(1000, 1000);
  fill_normal(generator, x);
  const double n = static_cast<double>(x.size());
  EXPECT_NEAR(x.mean(), 0.0, 5.0 / std::sqrt(n));
  EXPECT_NEAR(x.array().square().mean(), 1.0, 5.0 * std::sqrt(2.0 / n));
  EXPECT_NEAR(x.array().pow(4).mean(), 3.0, 5.0 * std::sqrt(96.0 / n));
  // P(|x| > 3.5) = 4.6526e-4; the ziggurat's own tail begins at 3.4426.
  const double tail = static_cast<double>((x.array().abs() > 3.5).count()) / n;
  EXPECT_NEAR(tail, 4.6526e-4, 5.0 * std::sqrt(4.6526e-4 / n));
  EXPECT_GT(x.maxCoeff(), 4.0);
  EXPECT_LT(x.minCoeff(), -4.0);
}

TEST(NormalSource, FillsColumnByColumnWhateverTheStride) {
  Generator first = make_generator(2, Stream::Network);
  Generator second = make_generator(2, Stream::Network);
  Matrix whole(3, 4);
  fill_normal(first, whole);
  Matrix frame = Matrix::Zero(5, 6);
  fill_normal(second, frame.block(1, 2, 3, 4));
  EXPECT_EQ(frame.block(1, 2, 3, 4), whole);
  EXPECT_EQ(frame.cwiseAbs().sum(), whole.cwiseAbs().sum());
}

TEST(NormalSource, IsTheSameEverywhere) {
  Generator generator(12345);
  Matrix x(4, 1);
  fill_normal(generator, x);
  const Vector expected{{-0.40644255083736797, 0.63585356731802845, 0.25015751076791226, -1.324262361414231}};
  EXPECT_LE((x.col(0) - expected).cwiseAbs().maxCoeff(), 1e-15);
}

}  // namespace normal_source_test
}  // namespace mixcert
