// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Kernels of the scaled distance r^2 = sum_d (x_d - y_d)^2 / l_d^2: k = v h(r^2). With
// t = -2 h'(r^2), the derivative in log l_d is v t (x_d - y_d)^2 / l_d^2 (K.2).
#include <cmath>

#include "gp/kernel_node.h"

namespace mixcert::gp {
namespace {

using Eigen::ArrayXXd;

struct Rbf {
  static ArrayXXd value(const ArrayXXd& squares) { return (-0.5 * squares).exp(); }
  static ArrayXXd slope(const ArrayXXd& squares) { return value(squares); }
};

struct Matern12 {
  static ArrayXXd value(const ArrayXXd& squares) { return (-squares.sqrt()).exp(); }
  /// e^-r / r; where r = 0 it multiplies zero.
  static ArrayXXd slope(const ArrayXXd& squares) {
    const ArrayXXd r = squares.sqrt();
    return (r > 0.0).select((-r).exp() / r, 0.0);
  }
};

struct Matern32 {
  static ArrayXXd value(const ArrayXXd& squares) {
    const ArrayXXd s = (3.0 * squares).sqrt();
    return (1.0 + s) * (-s).exp();
  }
  static ArrayXXd slope(const ArrayXXd& squares) { return 3.0 * (-(3.0 * squares).sqrt()).exp(); }
};

struct Matern52 {
  static ArrayXXd value(const ArrayXXd& squares) {
    const ArrayXXd s = (5.0 * squares).sqrt();
    return (1.0 + s + s.square() / 3.0) * (-s).exp();
  }
  static ArrayXXd slope(const ArrayXXd& squares) {
    const ArrayXXd s = (5.0 * squares).sqrt();
    return 5.0 / 3.0 * (1.0 + s) * (-s).exp();
  }
};

constexpr std::size_t kStationaryLengthscale = 0;
constexpr std::size_t kStationaryVariance = 1;

Vector scales(const Arguments& arguments, Index dimension) {
  return per_coordinate("lengthscale", arguments[kStationaryLengthscale], dimension);
}

/// Differences before squares: |x|^2 + |y|^2 - 2 x'y would lose the digits of close points.
ArrayXXd scaled_squares(const Vector& lengthscales, const PointPair& points) {
  const Vector inverse = lengthscales.cwiseInverse();
  const Matrix a = inverse.asDiagonal() * points.a;
  const Matrix b = inverse.asDiagonal() * points.b;
  ArrayXXd squares(a.cols(), b.cols());
  for (Index j = 0; j < b.cols(); ++j) squares.col(j) = (a.colwise() - b.col(j)).colwise().squaredNorm();
  return squares;
}

template <class Profile>
Matrix stationary_values(const Arguments& arguments, const PointPair& points) {
  const ArrayXXd squares = scaled_squares(scales(arguments, points.a.rows()), points);
  return arguments[kStationaryVariance].values(0) * Profile::value(squares).matrix();
}

Vector stationary_variances(const Arguments& arguments, ConstMatrixRef inputs) {
  require_dimension("lengthscale", arguments[kStationaryLengthscale], inputs.rows());
  return Vector::Constant(inputs.cols(), arguments[kStationaryVariance].values(0));
}

template <class Profile>
Vector stationary_gradient(const Arguments& arguments, ConstMatrixRef inputs, const Matrix& weights) {
  const Vector lengthscales = scales(arguments, inputs.rows());
  const ArrayXXd squares = scaled_squares(lengthscales, {inputs, inputs, true});
  const double variance = arguments[kStationaryVariance].values(0);
  const Matrix slopes = (variance * weights.array() * Profile::slope(squares)).matrix();
  const Matrix scaled = lengthscales.cwiseInverse().asDiagonal() * inputs;
  Vector by_coordinate = Vector::Zero(inputs.rows());
  for (Index j = 0; j < inputs.cols(); ++j) {
    by_coordinate += (scaled.colwise() - scaled.col(j)).cwiseAbs2() * slopes.col(j);
  }
  const Index count = arguments[kStationaryLengthscale].values.size();
  Vector gradient(count + 1);
  if (arguments[kStationaryLengthscale].is_list) {
    gradient.head(count) = by_coordinate;
  } else {
    gradient(0) = by_coordinate.sum();
  }
  gradient(count) = variance * (weights.array() * Profile::value(squares)).sum();
  return gradient;
}

template <class Profile>
KernelFamily stationary_family(std::string_view name) {
  return {name,
          {{"lengthscale", 1.0, true, true}, {"variance", 1.0, true, false}},
          &stationary_values<Profile>,
          &stationary_variances,
          &stationary_gradient<Profile>};
}

}  // namespace

const KernelFamily& rbf_family() {
  static const KernelFamily family = stationary_family<Rbf>("rbf");
  return family;
}

const KernelFamily& matern12_family() {
  static const KernelFamily family = stationary_family<Matern12>("matern12");
  return family;
}

const KernelFamily& matern32_family() {
  static const KernelFamily family = stationary_family<Matern32>("matern32");
  return family;
}

const KernelFamily& matern52_family() {
  static const KernelFamily family = stationary_family<Matern52>("matern52");
  return family;
}

}  // namespace mixcert::gp
