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
  Mask mask;               ///< on the activations
  double lipschitz = 0.0;  ///< of the activations
  double bound = 0.0;      ///< of their sizes; infinite where they are unbounded
};

/// Var m of (D.1).
double mask_variance(const Mask& mask);
/// Right side of (H.1); with `whole`, of its variant for a - mu: c_1 in place of p.
double naive_hermite_error(const NaivePiece& piece, const Matrix& b, bool whole);
/// E[(W - M)' diag(metric) (W - M)].
Matrix naive_noise_gram(const DenseLayer& layer, const Vector& metric);
/// E S of (N.4), with K~ of (H.7); index `inputs` is the bias.
Matrix naive_expected_noise(const NaivePiece& piece, const DenseLayer& layer);
/// Per output, the noise's cost by (H.8); empty where (H.7) is used.
Vector naive_root_costs(const NaivePiece& piece, const DenseLayer& layer);

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
