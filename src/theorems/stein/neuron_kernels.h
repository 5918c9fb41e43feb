// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Stein kernels of one neuron and their second moments, docs/theory/stein.md (Y.10), (Y.11).
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "activation/activation_traits.h"
#include "activation/gaussian_moments.h"
#include "activation/neuron/neuron_nodes.h"

namespace mixcert {

// Second moments of the Stein kernels of one neuron (Y.10), (Y.11): with d = a - E a, v = Var a and h_c =
// (1/phi) int_x^inf c phi, the kernels are products of a' with h_d, h_{d^2 - v} and combinations of the two.
// On every cell of a grid a kernel is its chord up to a remainder; second moments of the chords are exact,
// and the remainders are bounded.

// Cells of a half-line for the Stein kernels of a neuron (Y.11), with the integrals of products of their two
// hat functions under the normal density: with them the integral of a product of two functions that are
// linear on a cell is exact.

/// Cells end here.
inline constexpr double kFarKernel = 7.0;

struct KernelNode {
  double x = 0.0;
  double tail = 0.0;             ///< P(Z > x)
  double inverse_density = 0.0;  ///< 1/phi(x)
};

/// [left, right]: hats la = (right - x)/w and lb = (x - left)/w.
struct KernelCell {
  KernelNode left, right;
  double aa = 0.0, ab = 0.0, bb = 0.0;  ///< int la^2 phi, int la lb phi, int lb^2 phi

  [[nodiscard]] double width() const { return right.x - left.x; }
  [[nodiscard]] double mass() const { return aa + 2.0 * ab + bb; }
};

KernelNode kernel_node(double x);
/// Relative error of the integrals and of the mass below 1e-12.
KernelCell kernel_cell(const KernelNode& left, const KernelNode& right);

/// Cells of [0, kFarKernel] from the left to the right, narrow enough for an activation of z = m + s x.
const std::vector<KernelCell>& kernel_cells(double s);

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

// How far the Stein kernels of a neuron are from their chords on one cell (Y.11).

/// sup |u|, |u'|, |u''| on a cell.
struct Sups {
  double value, slope, bend;

  [[nodiscard]] Sups times(const Sups& b) const {
    return {value * b.value, slope * b.value + value * b.slope,
            bend * b.value + 2.0 * slope * b.slope + value * b.bend};
  }
};

/// An end of a cell: a, a', a'' there; h = h_d and k = h_{d^2 - v}, and what they may be off by.
struct KernelEnd {
  double x = 0.0, value = 0.0, slope = 0.0, bend = 0.0;
  double h = 0.0, k = 0.0, h_error = 0.0, k_error = 0.0;

  [[nodiscard]] KernelArray kernels(double mean) const {
    const double tau = h * slope;
    const double t = (k - (value - mean) * h) * slope;
    const double q = (k + 2.0 * mean * h) * slope;
    return {tau * value, t, q, value * t, value * q, tau};
  }
};

/// a and a' with their derivatives; how far d = a - E a is from its chord; what d and a' may be off by at an
/// end.
struct CellFunction {
  Sups value, slope;
  double bend, node_error, slope_error;
};

/// Adds no less than the integrals of squared remainders to `rest`.
void add_remainders(const KernelCell& cell, const KernelEnd& left, const KernelEnd& right,
                    const CellFunction& a, const Enclosed& mean, const Enclosed& variance, KernelArray& rest);

// Bounds of the second and third derivative of an activation on an interval (Y.11). A saturated neuron hardly
// bends, so the global bounds would be of no use for it.

/// f''(z), given f(z) and f'(z); at the kink of elu that of its left side.
double second_derivative(const Activation& f, double z, double value, double slope);

/// Between z0 and z1, on one side of a kink if there is one; f' at the two ends is given.
Bends bends_between(const Activation& f, double z0, double z1, double slope0, double slope1);

// What the Stein bound takes from one neuron (Y.10): means and deviations of its kernels.

/// One kernel.
struct KernelLaw {
  Enclosed mean;
  double deviation = 0.0;  ///< no less than the standard deviation
};

/// E a, Var a, and third and fourth central moments of a neuron.
struct CentralMoments {
  Enclosed mean, second, third, fourth;
};

struct NeuronKernels {
  NeuronKernels() = default;
  /// Means of all kernels (Y.10), and no deviations yet.
  explicit NeuronKernels(const CentralMoments& a);
  /// What the squares are about: the means' values.
  [[nodiscard]] KernelArray centers() const;
  /// Deviations from the squares.
  void take_squares(const KernelSquares& taken);
  /// From a neuron to s times it.
  void scale(double s);

  Enclosed variance;        ///< Var a
  Enclosed second;          ///< E a^2
  double fourth = 0.0;      ///< no less than E a^4
  KernelLaw tau;            ///< mean Var a
  KernelLaw tau_value;      ///< tau a, mean Cov(a, a^2)/2
  KernelLaw kernel;         ///< Dt, mean E d^3/2
  KernelLaw square;         ///< Dq, mean Cov(a, a^2)
  KernelLaw kernel_value;   ///< a Dt, mean Cov(tau, a^2)/2
  KernelLaw square_value;   ///< a Dq, mean Var(a^2)/2
  double tau_square = 0.0;  ///< no less than E tau^2
  KernelSquares squares;    ///< second moments of kernels less the means above
  double moved = 0.0;       ///< no less than the L2 distance between a and the neuron described here
  /// Quadrature of a; none where it is constant or piecewise linear.
  std::optional<NeuronNodes> nodes;
};

/// `mean` encloses E a. Infinite errors where nothing is known.
NeuronKernels neuron_kernels(const Activation& activation, double m, double s, const Enclosed& mean);

// The Stein kernels of a ReLU neuron in closed form (Y.11).

/// Whether relu_kernels knows the neuron (m + s x)_+, s > 0.
bool has_relu_kernels(double m, double s);
/// Of (s (x - k))_+, k = -m/s as rounded: within `moved` of the neuron in L2.
NeuronKernels relu_kernels(double m, double s);

// int_k^inf (x - k)^n P(Z > x)^2/phi(x) dx, n = 0..4: the only integrals in the second moments of a ReLU
// neuron's Stein kernels that have no closed form (Y.11).

/// Integrals are known for |k| up to this.
inline constexpr double kFarthestKink = 20.0;
inline constexpr int kTailPowers = 5;

struct SquaredTails {
  std::array<double, kTailPowers> value{};
  std::array<double, kTailPowers> error{};
};

/// |k| <= kFarthestKink.
SquaredTails squared_tails(double k);

}  // namespace mixcert
