// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The noise of a layer's weights depends on the activations: S_l(a) = B_l + sum_j V_lj a_j^2. What its
// smallness costs is an integral over the Laplace transform of zeta_l = S_l/N_l, a product over neurons
// (Y.12).
#pragma once

#include <vector>

#include "mixcert/activation/activation.h"
#include "mixcert/mixture/gaussian_mixture.h"
#include "mixcert/network/dense_layer.h"
#include "theorems/stein/neuron_kernels.h"

namespace mixcert {

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

}  // namespace mixcert
