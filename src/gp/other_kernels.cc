// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The other kernels of (K.1):
//     periodic  v exp(-2 sum_d sin^2(pi (x_d - y_d) / p) / l^2)
//     linear    v sum_d (x_d - c)(y_d - c)
//     constant  v
//     white     v for an observation with itself, 0 otherwise.
#include <cmath>
#include <numbers>

#include "gp/kernel_node.h"

namespace mixcert::gp {
namespace {

double scalar(const Arguments& arguments, std::size_t place) { return arguments[place].values(0); }

constexpr std::size_t kPeriod = 0;
constexpr std::size_t kPeriodicLengthscale = 1;
constexpr std::size_t kPeriodicVariance = 2;

/// pi (x - y) / p, coordinates in rows, of all columns of `a` against one point.
Eigen::ArrayXXd phases(const Arguments& arguments, ConstMatrixRef a, ConstVectorRef point) {
  return (a.colwise() - point).array() * (std::numbers::pi / scalar(arguments, kPeriod));
}

Matrix periodic_values(const Arguments& arguments, const PointPair& points) {
  const double inverse_square =
      1.0 / (scalar(arguments, kPeriodicLengthscale) * scalar(arguments, kPeriodicLengthscale));
  Matrix values(points.a.cols(), points.b.cols());
  for (Index j = 0; j < points.b.cols(); ++j) {
    values.col(j) = phases(arguments, points.a, points.b.col(j)).sin().square().colwise().sum().transpose();
  }
  return scalar(arguments, kPeriodicVariance) * (-2.0 * inverse_square * values.array()).exp().matrix();
}

Vector periodic_variances(const Arguments& arguments, ConstMatrixRef inputs) {
  return Vector::Constant(inputs.cols(), scalar(arguments, kPeriodicVariance));
}

Vector periodic_gradient(const Arguments& arguments, ConstMatrixRef inputs, const Matrix& weights) {
  const double inverse_square =
      1.0 / (scalar(arguments, kPeriodicLengthscale) * scalar(arguments, kPeriodicLengthscale));
  const Matrix weighted = weights.cwiseProduct(periodic_values(arguments, {inputs, inputs, true}));
  double by_period = 0.0;
  double by_lengthscale = 0.0;
  for (Index j = 0; j < inputs.cols(); ++j) {
    const Eigen::ArrayXXd phase = phases(arguments, inputs, inputs.col(j));
    const Vector turns = (phase * (2.0 * phase).sin()).colwise().sum().transpose();
    const Vector squares = phase.sin().square().colwise().sum().transpose();
    by_period += 2.0 * inverse_square * weighted.col(j).dot(turns);
    by_lengthscale += 4.0 * inverse_square * weighted.col(j).dot(squares);
  }
  return Eigen::Vector3d(by_period, by_lengthscale, weighted.sum());
}

constexpr std::size_t kVariance = 0;
constexpr std::size_t kCenter = 1;

Matrix linear_values(const Arguments& arguments, const PointPair& points) {
  const double center = scalar(arguments, kCenter);
  const Matrix a = points.a.array() - center;
  const Matrix b = points.b.array() - center;
  return scalar(arguments, kVariance) * (a.transpose() * b);
}

Vector linear_variances(const Arguments& arguments, ConstMatrixRef inputs) {
  const double center = scalar(arguments, kCenter);
  return scalar(arguments, kVariance) * (inputs.array() - center).square().colwise().sum().transpose();
}

Vector linear_gradient(const Arguments& arguments, ConstMatrixRef inputs, const Matrix& weights) {
  const Matrix centered = inputs.array() - scalar(arguments, kCenter);
  const double variance = scalar(arguments, kVariance);
  const double by_variance = variance * centered.cwiseProduct(centered * weights).sum();
  const Vector sums = centered.colwise().sum().transpose();
  const double by_center =
      -variance * (sums.dot(weights.rowwise().sum()) + sums.dot(weights.colwise().sum()));
  return Eigen::Vector2d(by_variance, by_center);
}

Matrix constant_values(const Arguments& arguments, const PointPair& points) {
  return Matrix::Constant(points.a.cols(), points.b.cols(), scalar(arguments, kVariance));
}

Vector constant_variances(const Arguments& arguments, ConstMatrixRef inputs) {
  return Vector::Constant(inputs.cols(), scalar(arguments, kVariance));
}

Vector constant_gradient(const Arguments& arguments, ConstMatrixRef /*inputs*/, const Matrix& weights) {
  return Vector::Constant(1, scalar(arguments, kVariance) * weights.sum());
}

Matrix white_values(const Arguments& arguments, const PointPair& points) {
  const double variance = points.same ? scalar(arguments, kVariance) : 0.0;
  return variance * Matrix::Identity(points.a.cols(), points.b.cols());
}

Vector white_gradient(const Arguments& arguments, ConstMatrixRef /*inputs*/, const Matrix& weights) {
  return Vector::Constant(1, scalar(arguments, kVariance) * weights.trace());
}

}  // namespace

const KernelFamily& periodic_family() {
  static const KernelFamily family{"periodic",
                                   {{"period"}, {"lengthscale"}, {"variance"}},
                                   &periodic_values,
                                   &periodic_variances,
                                   &periodic_gradient};
  return family;
}

const KernelFamily& linear_family() {
  static const KernelFamily family{"linear",
                                   {{"variance"}, {"center", 0.0, false, false}},
                                   &linear_values,
                                   &linear_variances,
                                   &linear_gradient};
  return family;
}

const KernelFamily& constant_family() {
  static const KernelFamily family{
      "constant", {{"variance"}}, &constant_values, &constant_variances, &constant_gradient};
  return family;
}

const KernelFamily& white_family() {
  static const KernelFamily family{
      "white", {{"variance"}}, &white_values, &constant_variances, &white_gradient};
  return family;
}

const std::vector<const KernelFamily*>& kernel_families() {
  static const std::vector<const KernelFamily*> families = {
      &rbf_family(),      &matern12_family(), &matern32_family(), &matern52_family(),
      &periodic_family(), &linear_family(),   &constant_family(), &white_family()};
  return families;
}

}  // namespace mixcert::gp
