// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// What the Stein bound takes from one neuron (Y.10): means and deviations of its kernels.
#pragma once

#include <optional>

#include "activation/neuron/neuron_nodes.h"
#include "theorems/stein/kernel_squares.h"

namespace mixcert {

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

}  // namespace mixcert
