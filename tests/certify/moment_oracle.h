// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The moment method a second time, straight from docs/theory/moment-method.md (H.1) to (H.4), for one
// Gaussian that is never split: one-dimensional integrals by brute force, plain loops over pairs of neurons.
// No outward rounding. It shares no numerical code with the engine.
#pragma once

#include <vector>

#include "mixcert/network/network.h"

namespace mixcert::testing {

/// One-dimensional integrals of a = f(m + s x), x ~ N(0,1), and what (H.1), (H.2) make of them.
struct NaiveNeuron {
  double mean = 0.0;          ///< mu = E a
  double gain = 0.0;          ///< k = sign(c_1) (Var a)^{1/2}
  double linear = 0.0;        ///< p = c_1 - k
  double quadratic = 0.0;     ///< q = c_2
  double rest = 0.0;          ///< t
  double second = 0.0;        ///< E a^2
  double square_slope = 0.0;  ///< e = E[a^2 x]
  double square_rest = 0.0;   ///< w
};

NaiveNeuron naive_neuron(const Activation& activation, double mean, double deviation);

/// One Gaussian before an activation.
struct NaivePiece {
  Vector mean;
  Vector deviation;
  Matrix correlation;  ///< zero beside a constant
  std::vector<NaiveNeuron> neurons;
  Mask mask;  ///< on the activations
};

/// Sb of output l (H.2).
double naive_mean_noise(const NaivePiece& piece, const DenseLayer& layer, Index l);

struct NaiveMomentCertificate {
  Vector mean;  ///< of the outputs
  Matrix covariance;
  std::vector<NaivePiece> pieces;  ///< one per hidden layer
  std::vector<double> local;       ///< what each hidden layer adds, the least over the chains of (M.5)
  double w2 = 0.0;
};

NaiveMomentCertificate naive_moment_certificate(const Network& network, const Vector& input);

}  // namespace mixcert::testing
