// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Random noise of the outputs along the flow, docs/theory/stein.md (Y.12).
#pragma once

#include <vector>

#include "mixcert/activation/activation.h"
#include "mixcert/core/types.h"
#include "mixcert/mixture/gaussian_mixture.h"
#include "mixcert/network/dense_layer.h"
#include "theorems/stein/neuron_kernels.h"

namespace mixcert {

// E exp(-y a^2) of one neuron, from both sides (Y.12): closed form for piecewise linear activations, moments
// where y is small, quadrature otherwise.

/// Bounds of E exp(-y a^2) are at least this.
inline constexpr double kLeastDamping = 1e-200;

class NeuronDamping {
 public:
  /// z = m + s x; both arguments outlive the object.
  NeuronDamping(const Activation& activation, double m, double s, const NeuronKernels& kernels);

  /// lower <= E exp(-y a^2) <= upper, both in (0, 1]; y >= 0.
  struct Range {
    double lower, upper;
    double logarithm = 0.0;  ///< no less than that of the expectation, at most 0
  };
  [[nodiscard]] Range at(double y) const;
  /// No less than E a^2.
  [[nodiscard]] double second() const { return most_; }

 private:
  /// Whether y^2 E a^4 is so small that moments are good enough.
  [[nodiscard]] bool is_small(double y) const;
  [[nodiscard]] Range of_lines(double y) const;
  [[nodiscard]] Range of_nodes(double y) const;

  const NeuronKernels* kernels_;
  bool is_linear_;
  double kink_, right_;           ///< -m/s, and s^2
  double mean_;                   ///< m
  double left_slope_ = 0.0;       ///< of the left branch; that of the right one is 1
  double below_ = 0.0;            ///< P(x < kink)
  double least_, most_, fourth_;  ///< bounds of E a^2, and no less than E a^4
};

// E exp(-y a^2) of all neurons of a layer. It and its logarithm are convex functions of y: between the nodes
// of a table they are below chords, the logarithm above continuations of the chord on the left (Y.12). Nodes
// of the tables have the same ratio as the arguments of the transforms, so an output's place in a table is
// found once.

/// Arguments theta of the transforms are this times powers of the root of 2.
inline constexpr double kLeastArgument = 0.125;
/// Of these powers, and of those that tables hold below the least one.
inline constexpr int kArgumentCount = 34;
inline constexpr int kBelow = 20;

class DampingTables {
 public:
  /// `scales`: for each neuron the largest y/theta that is asked for.
  DampingTables(std::vector<NeuronDamping> neurons, Vector scales);

  /// Makes the nodes known that theta up to `arguments` powers need.
  void know(int arguments);

  /// A neuron at y = theta scale: at the n-th theta E exp(-y a^2) is below (1 - x) upper[n] + x upper[n + 1],
  /// its logarithm below the same chord of `logarithm`, its inverse below inverse[n + 1] and inverse[n] + x
  /// rise[n].
  struct Place {
    const double *logarithm, *upper, *inverse, *rise;
    double x;
    bool exists;  ///< else y is so small that 1 - y E a^2 and 1 are good enough
  };
  [[nodiscard]] Place place(Index neuron, double scale) const;
  /// No less than E a^2.
  [[nodiscard]] double second(Index neuron) const {
    return neurons_[static_cast<std::size_t>(neuron)].second();
  }

 private:
  void know_node(Index j, int i);

  std::vector<NeuronDamping> neurons_;
  Vector scales_;
  int known_ = 0;
  Matrix logarithm_, upper_, inverse_, rise_;  ///< one column per neuron
};

// The noise of a layer's weights depends on the activations: S_l(a) = B_l + sum_j V_lj a_j^2. What its
// smallness costs is an integral over the Laplace transform of zeta_l = S_l/N_l, a product over neurons
// (Y.12).

/// Arguments of the transforms: 0, then rising; each of them but the first is half of a later one.
inline constexpr int kTransformNodes = 28;
double transform_node(int k);

/// At the nodes, of one output.
struct OutputTransform {
  int count = 0;                  ///< nodes that are known; later ones follow from the last one and `least`
  double least = 0.0;             ///< no more than zeta
  std::vector<double> logarithm;  ///< no less than log E exp(-theta zeta)
  std::vector<double> spread;     ///< chi: how far means under the tilted law move, in deviations
  std::vector<double> growth;     ///< rho: no less than 1/E exp(-theta V_j a_j^2/N) - 1 of every neuron
};

struct NoiseTransform {
  std::vector<OutputTransform> outputs;
  /// t_j in [0, 1]: neuron j's own growth is at most t_j rho, for all outputs and nodes.
  Vector shares;
};

/// `noise` N: outputs with N_l = 0 have no transform (count 0).
NoiseTransform noise_transform(const ActivationMap& activation, const DenseLayer& layer,
                               const Gaussian& piece, const std::vector<NeuronKernels>& kernels,
                               const Vector& noise);

// What the randomness of the noise adds along the flow (Y.12): with h_l = 1/(1 - w^2 (1 - zeta_l)), powers of
// h_l are integrals of exp(-theta zeta_l) over theta, weighed by an exponential that the flow's time decides.

inline constexpr int kFlowCells = 32;
/// Nodes of the flow that accumulate at w = 1; node 0 is 0.
double flow_node(int i);
/// At earlier nodes noise is bounded without its law.
int first_transform_flow_node();

/// Integrals against E exp(-theta zeta_l) times 1, chi, chi^2 and rho: one row per node of the flow, one
/// column per output.
struct NoiseMoments {
  Matrix plain, cross, square, growth;
};

/// Of h^2 and of h^3.
struct NoisePowers {
  NoiseMoments second, third;
};
NoisePowers noise_moments(const NoiseTransform& transform);

}  // namespace mixcert
