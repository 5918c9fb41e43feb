// Licensed under the Apache License, Version 2.0; see LICENSE.
#include "simulated/stein/stein_tensors.h"

#include <cmath>
#include <numbers>

namespace mixcert {
namespace {

constexpr Index kPoints = 4;  ///< of each integral over s in a group

/// s omega + (1 - s^2)^{1/2} omega'.
Vector between(double s, const Vector& one, const Vector& other) {
  return s * one + std::sqrt(1.0 - s * s) * other;
}

/// T at a point, H there from one further one.
Matrix rough_kernel(const CoupledChain& chain, const Vector& at, double s, const Vector& other) {
  const NetworkSlopes own = slopes_at(chain, at), further = slopes_at(chain, between(s, at, other));
  Matrix kernel = further.mean_slopes * own.mean_slopes.transpose();
  kernel.diagonal() += own.variances;
  return kernel;
}

}  // namespace

SteinDraw stein_tensors(const CoupledChain& chain, const std::function<Vector()>& draw,
                        const std::function<double()>& uniform) {
  const Vector omega = draw();
  const NetworkSlopes own = slopes_at(chain, omega);
  const Index outputs = own.mean.size();
  SteinDraw made;
  made.variances = own.variances;
  for (SteinTensors& group : made.groups) {
    // H_i = int_0^1 E' grad u_i(omega_s) ds, s stratified.
    Matrix integral = Matrix::Zero(outputs, omega.size());
    for (Index r = 0; r < kPoints; ++r) {
      const double s = (static_cast<double>(r) + uniform()) / static_cast<double>(kPoints);
      integral += slopes_at(chain, between(s, omega, draw())).mean_slopes / static_cast<double>(kPoints);
    }
    group.first = integral * own.mean_slopes.transpose();
    group.first.diagonal() += own.variances;
    group.first_noise = 0.5 * integral * own.variance_slopes.transpose();
    // H[T] = int (1-s^2)^{-1/2} E'[T(omega_s) omega'] ds with s = sin(theta), directions with both signs.
    group.second.assign(static_cast<std::size_t>(outputs), Matrix::Zero(outputs, outputs));
    group.second_noise = group.second;
    for (Index r = 0; r < kPoints; ++r) {
      const double theta =
          0.5 * std::numbers::pi * (static_cast<double>(r) + uniform()) / static_cast<double>(kPoints);
      const Vector direction = draw(), other = draw();
      const double s = uniform();
      const Matrix difference = rough_kernel(chain, between(std::sin(theta), omega, direction), s, other) -
                                rough_kernel(chain, between(std::sin(theta), omega, -direction), s, other);
      const Matrix weighted = 0.25 * std::numbers::pi / static_cast<double>(kPoints) * difference;
      const Vector along = own.mean_slopes * direction, along_noise = 0.5 * own.variance_slopes * direction;
      for (Index i = 0; i < outputs; ++i) {
        const auto place = static_cast<std::size_t>(i);
        group.second[place] += weighted.row(i).transpose() * along.transpose();
        group.second_noise[place] += weighted.row(i).transpose() * along_noise.transpose();
      }
    }
  }
  return made;
}

}  // namespace mixcert
