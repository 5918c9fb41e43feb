// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Kernels against their formulas entry by entry, semidefiniteness, derivatives against difference quotients,
// and text: round trips and errors.
#include "mixcert/gp/kernel.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numbers>

#include "mixcert/core/error.h"
#include "mixcert/core/rng.h"
#include "mixture/symmetric_eigen.h"
#include "statistics/simulate/normal_source.h"

namespace mixcert {
namespace kernel_test {

Matrix random_points(Index coordinates, Index count, std::uint64_t seed) {
  Matrix points(coordinates, count);
  Generator generator = make_generator(seed, Stream::Example);
  fill_normal(generator, points);
  return points;
}

double distance(const Vector& x, const Vector& y, const Vector& scale) {
  double sum = 0.0;
  for (Index d = 0; d < x.size(); ++d) sum += std::pow((x(d) - y(d)) / scale(d), 2);
  return std::sqrt(sum);
}

using Formula = std::function<double(const Vector&, const Vector&)>;

struct Family {
  const char* text;
  Formula formula;
};

std::vector<Family> families() {
  const Vector same = Vector::Constant(3, 0.7);
  const Vector ard = Eigen::Vector3d(1.0, 2.0, 0.5);
  return {
      {"rbf(lengthscale=0.7, variance=2)",
       [=](const Vector& x, const Vector& y) {
         return 2.0 * std::exp(-0.5 * std::pow(distance(x, y, same), 2));
       }},
      {"rbf(lengthscale=[1,2,0.5])",
       [=](const Vector& x, const Vector& y) { return std::exp(-0.5 * std::pow(distance(x, y, ard), 2)); }},
      {"matern12(lengthscale=[1,2,0.5], variance=3)",
       [=](const Vector& x, const Vector& y) { return 3.0 * std::exp(-distance(x, y, ard)); }},
      {"matern32(lengthscale=0.7)",
       [=](const Vector& x, const Vector& y) {
         const double s = std::sqrt(3.0) * distance(x, y, same);
         return (1.0 + s) * std::exp(-s);
       }},
      {"matern52(variance=0.5, lengthscale=[1,2,0.5])",
       [=](const Vector& x, const Vector& y) {
         const double s = std::sqrt(5.0) * distance(x, y, ard);
         return 0.5 * (1.0 + s + s * s / 3.0) * std::exp(-s);
       }},
      {"periodic(period=1.3, lengthscale=0.9, variance=1.1)",
       [](const Vector& x, const Vector& y) {
         double product = 1.1;
         for (Index d = 0; d < x.size(); ++d) {
           product *= std::exp(-2.0 * std::pow(std::sin(std::numbers::pi * (x(d) - y(d)) / 1.3) / 0.9, 2));
         }
         return product;
       }},
      {"linear(variance=1.5, center=0.3)",
       [](const Vector& x, const Vector& y) {
         double sum = 0.0;
         for (Index d = 0; d < x.size(); ++d) sum += (x(d) - 0.3) * (y(d) - 0.3);
         return 1.5 * sum;
       }},
      {"constant(variance=0.4)", [](const Vector&, const Vector&) { return 0.4; }},
  };
}

TEST(Kernel, FollowsTheFormulaOfEachFamily) {
  const Matrix a = random_points(3, 6, 1);
  const Matrix b = random_points(3, 4, 2);
  for (const Family& family : families()) {
    SCOPED_TRACE(family.text);
    const Kernel kernel = Kernel::parse(family.text);
    const Matrix covariance = kernel.covariance(a);
    const Matrix cross = kernel.cross(a, b);
    for (Index i = 0; i < a.cols(); ++i) {
      for (Index j = 0; j < a.cols(); ++j)
        EXPECT_NEAR(covariance(i, j), family.formula(a.col(i), a.col(j)), 1e-14);
      for (Index j = 0; j < b.cols(); ++j)
        EXPECT_NEAR(cross(i, j), family.formula(a.col(i), b.col(j)), 1e-14);
    }
    EXPECT_TRUE(kernel.variances(a).isApprox(covariance.diagonal(), 1e-14));
  }
}

TEST(Kernel, WhiteNoiseIsOnTheDiagonalOnly) {
  Matrix points = random_points(2, 5, 3);
  points.col(1) = points.col(0);
  const Kernel kernel = Kernel::parse("constant(variance=2) + white(variance=0.25)");
  const Matrix expected = Matrix::Constant(5, 5, 2.0) + 0.25 * Matrix::Identity(5, 5);
  EXPECT_TRUE(kernel.covariance(points).isApprox(expected, 1e-15));
  EXPECT_TRUE(kernel.cross(points, points).isApprox(Matrix::Constant(5, 5, 2.0), 1e-15));
  EXPECT_TRUE(kernel.variances(points).isApprox(expected.diagonal(), 1e-15));
}

constexpr const char* kComposed =
    "(rbf(lengthscale=[1,2,0.5]) + linear(variance=0.3, center=-0.2) * matern52(lengthscale=0.8)) * "
    "(periodic(period=2, lengthscale=1.5) + constant(variance=0.7)) * matern12 + white(variance=0.1) * "
    "matern32(lengthscale=[0.4,1,3], variance=2)";

TEST(Kernel, SumsAndProductsAreThoseOfTheirEntries) {
  const Matrix x = random_points(3, 5, 4);
  const auto entries = [&](const char* text) { return Kernel::parse(text).covariance(x).array().eval(); };
  const Matrix expected =
      ((entries("rbf(lengthscale=[1,2,0.5])") +
        entries("linear(variance=0.3, center=-0.2)") * entries("matern52(lengthscale=0.8)")) *
           (entries("periodic(period=2, lengthscale=1.5)") + 0.7) * entries("matern12") +
       entries("white(variance=0.1)") * entries("matern32(lengthscale=[0.4,1,3], variance=2)"))
          .matrix();
  EXPECT_TRUE(Kernel::parse(kComposed).covariance(x).isApprox(expected, 1e-14));
  const Kernel sum = Kernel::parse("rbf") + Kernel::parse("white");
  EXPECT_EQ((sum * Kernel::parse("linear")).text(),
            "(rbf(lengthscale=1, variance=1) + white(variance=1)) * linear(variance=1, center=0)");
}

TEST(Kernel, IsPositiveSemidefinite) {
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    const Matrix points = random_points(3, 40, 10 + seed);
    for (const Family& family : families()) {
      const Matrix covariance = Kernel::parse(family.text).covariance(points);
      EXPECT_TRUE(covariance == covariance.transpose());
      EXPECT_GE(symmetric_eigen(covariance).values(0), -1e-12 * covariance.trace()) << family.text;
    }
    EXPECT_GE(symmetric_eigen(Kernel::parse(kComposed).covariance(points)).values(0), -1e-10);
  }
}

/// Weights are not symmetric: the sum has no factor of two to hide.
void check_gradient(const Kernel& kernel) {
  SCOPED_TRACE(kernel.text());
  const Matrix x = random_points(3, 7, 5);
  const Matrix weights = random_points(7, 7, 6);
  const Vector start = kernel.parameters();
  const Vector gradient = kernel.weighted_gradient(x, weights);
  ASSERT_EQ(gradient.size(), start.size());
  ASSERT_EQ(kernel.parameter_names().size(), static_cast<std::size_t>(start.size()));
  const auto value = [&](const Vector& parameters) {
    return kernel.with_parameters(parameters).covariance(x).cwiseProduct(weights).sum();
  };
  constexpr double kStep = 1e-4;
  for (Index i = 0; i < start.size(); ++i) {
    const Vector step = kStep * Vector::Unit(start.size(), i);
    const double quotient = (8.0 * (value(start + step) - value(start - step)) - value(start + 2.0 * step) +
                             value(start - 2.0 * step)) /
                            (12.0 * kStep);
    EXPECT_NEAR(gradient(i), quotient, 1e-8 * std::max(1.0, gradient.norm())) << kernel.parameter_names()[i];
  }
}

TEST(Kernel, GradientIsTheDifferenceQuotient) {
  for (const Family& family : families()) check_gradient(Kernel::parse(family.text));
  check_gradient(Kernel::parse("white(variance=0.3)"));
  check_gradient(Kernel::parse(kComposed));
}

TEST(Kernel, GradientSurvivesEqualPoints) {
  const Matrix x = Matrix::Ones(2, 4);
  const Matrix weights = Matrix::Ones(4, 4);
  for (const char* text : {"matern12", "matern32", "matern52", "rbf"}) {
    EXPECT_TRUE(Kernel::parse(text).weighted_gradient(x, weights).isApprox(Eigen::Vector2d(0.0, 16.0)))
        << text;
  }
}

TEST(Kernel, TextRoundTripsToTheLastBit) {
  Vector parameters = Kernel::parse(kComposed).parameters();
  parameters.array() += std::log(1.0 / 3.0);
  const Kernel kernel = Kernel::parse(kComposed).with_parameters(parameters);
  const Kernel again = Kernel::parse(kernel.text());
  EXPECT_EQ(again.text(), kernel.text());
  EXPECT_TRUE(again.parameters() == kernel.parameters());
  const Matrix x = random_points(3, 5, 7);
  EXPECT_TRUE(again.covariance(x) == kernel.covariance(x));
  EXPECT_EQ(Kernel().text(), "rbf(lengthscale=1, variance=1)");
  EXPECT_EQ(Kernel::rbf(Eigen::Vector2d(1.0, 0.5), 3.0).text(), "rbf(lengthscale=[1, 0.5], variance=3)");
  EXPECT_EQ(Kernel::parse(" rbf ( ) * ( ( white ) ) ").text(),
            "rbf(lengthscale=1, variance=1) * white(variance=1)");
}

void expect_refused(const std::string& text, const std::string& part) {
  try {
    Kernel::parse(text);
    ADD_FAILURE() << "accepted: " << text.substr(0, 80);
  } catch (const InvalidArgument& error) {
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
  }
}

TEST(Kernel, RefusesBadText) {
  expect_refused(
      "", "a kernel (rbf, matern12, matern32, matern52, periodic, linear, constant, white) at character 1");
  expect_refused("rbf(", "argument (lengthscale, variance) at character 5, got the end of the text");
  expect_refused("rbf(lengthscale)", "'=' at character 16");
  expect_refused("rbf(lengthscale=[1,2)", "',' or ']' at character 21");
  expect_refused("rbf(lengthscale=[])", "a finite number at character 18");
  expect_refused("rbf(lengthscale=0)", "a number in 1e-100..1e+100 for lengthscale at character 17");
  expect_refused("rbf(variance=-1)", "for variance");
  expect_refused("rbf(variance=nan)", "a finite number at character 14");
  expect_refused("rbf(variance=1e999)", "a finite number");
  expect_refused("rbf(variance=[1,2])", "one number for variance, not a list at character 14");
  expect_refused("rbf(variance=1, variance=2)", "variance at most once at character 17");
  expect_refused("rbf(period=1)", "argument (lengthscale, variance) at character 5");
  expect_refused("rbf + ", "a kernel");
  expect_refused("rbf rbf", "'+', '*' or the end of the text at character 5, got 'rbf'");
  expect_refused("(rbf + white", "'+', '*' or ')' at character 13");
  expect_refused("rbf)\x01\xff", "got ')\?\?'");
  expect_refused(std::string(200, '(') + "rbf", "nested parentheses");
  expect_refused(std::string(200000, ' '), "at most 100000 characters");
  std::string many = "rbf";
  for (int i = 0; i < 64; ++i) many += "+rbf";
  expect_refused(many, "at most 64 kernels");
  std::string list = "rbf(lengthscale=[1";
  for (int i = 0; i < 5000; ++i) list += ",1";
  expect_refused(list + "])", "a list of at most 4096 numbers");
}

TEST(Kernel, RefusesWhatDoesNotFit) {
  const Kernel ard = Kernel::parse("rbf(lengthscale=[1,2])");
  EXPECT_THROW((void)ard.covariance(random_points(3, 4, 1)), InvalidArgument);
  EXPECT_THROW((void)ard.variances(random_points(3, 4, 1)), InvalidArgument);
  EXPECT_THROW((void)ard.cross(random_points(2, 4, 1), random_points(3, 4, 1)), InvalidArgument);
  EXPECT_THROW((void)ard.covariance(Matrix::Constant(2, 2, std::nan(""))), InvalidArgument);
  EXPECT_THROW((void)ard.with_parameters(Vector::Zero(2)), InvalidArgument);
  EXPECT_THROW((void)ard.with_parameters(Vector::Constant(3, 1e4)), InvalidArgument);
  EXPECT_THROW((void)ard.weighted_gradient(random_points(2, 4, 1), Matrix::Zero(3, 4)), InvalidArgument);
}

}  // namespace kernel_test
}  // namespace mixcert
