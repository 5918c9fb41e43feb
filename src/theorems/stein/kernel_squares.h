// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Second moments of the Stein kernels of one neuron (Y.10), (Y.11): with d = a - E a, v = Var a and h_c =
// (1/phi) int_x^inf c phi, the kernels are products of a' with h_d, h_{d^2 - v} and combinations of the two.
// On every cell of a grid a kernel is its chord up to a remainder; second moments of the chords are exact,
// and the remainders are bounded.
#pragma once

#include <array>

#include "activation/gaussian_moments.h"

namespace mixcert {

/// The kernels of a neuron, in the notation of (Y.10).
// NOLINTNEXTLINE(readability-identifier-naming): indices
enum KernelName { kTauValue, kKernel, kSquare, kKernelValue, kSquareValue, kTau, kKernelCount };

using KernelArray = std::array<double, kKernelCount>;

struct KernelSquares {
  Eigen::Matrix3d second = Eigen::Matrix3d::Zero();  ///< E (K_p - c_p)(K_q - c_q) of tau a, Dt, Dq
  Eigen::Matrix2d third = Eigen::Matrix2d::Zero();   ///< of a Dt, a Dq
  double tau = 0.0;                                  ///< of tau
  KernelArray rest{};                                ///< no less than the L2 norm of kernel less chords

  /// Fills what is below the diagonals.
  void mirror() {
    second.triangularView<Eigen::StrictlyLower>() = second.transpose();
    third(1, 0) = third(0, 1);
  }
};

/// z = m + s x, s > 0. `mean` and `variance` enclose E a and Var a; `centers` c may be any numbers.
KernelSquares kernel_squares(const Activation& activation, double m, double s, const Enclosed& mean,
                             const Enclosed& variance, const KernelArray& centers);

}  // namespace mixcert
