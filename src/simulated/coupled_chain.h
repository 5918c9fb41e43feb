// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The network behind its first pre-activations and the moment method's affine chain beside it, as numbers:
// what certificates by simulation are about, docs/theory/simulation.md (F.3), (F.7).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "methods/moment/moment_trace.h"
#include "mixcert/core/rounding.h"
#include "mixcert/network/network.h"
#include "simulated/layer_runs.h"

namespace mixcert {

/// Hidden layer k and the dense layer behind it: z -> a = s(z) -> M a + b + S(a)^{1/2} g in the network, and
/// zh -> bh = mean + gain (zh - center) -> M bh + b + noise g in the chain. Numbers of the chain are taken as
/// they are stored: nothing is assumed of them.
struct CoupledStep {
  const ActivationMap* activation = nullptr;
  const DenseLayer* next = nullptr;
  Matrix variances;           ///< V of the next layer's weights
  Vector mean, gain, center;  ///< of the chain's activations
  Vector noise;               ///< N^{1/2}
  // Norms that bound rounding, none too small.
  double weight_norm = 0.0;  ///< |M|
  double weight_size = 0.0;  ///< |M|_F
  double gained_size = 0.0;  ///< |M diag gain|_F
  LayerSlopes slopes;        ///< of the activations
  Vector largest_variances;  ///< max_j V_lj for each output l of the next layer
};

/// The chain's own last layer, bh -> weights bh + bias + noise g: the network's mean weights, or these moved
/// and stretched.
struct ChainHead {
  Matrix weights;
  Vector bias, noise;
  // Norms that bound rounding, none too small.
  double size = 0.0;         ///< |weights|_F
  double gained_size = 0.0;  ///< |weights diag gain|_F
};

struct CoupledChain {
  /// The first hidden layer's pre-activations, the same on both sides: independent normals.
  Vector first_mean, first_variance;
  std::vector<CoupledStep> steps;  ///< hidden layers 1 .. K
  ChainHead head;

  /// Where simulation_refusal() is empty.
  CoupledChain(const Network& network, const MomentTrace& trace);
  /// Output l of the chain becomes factor(l) times itself plus shift(l).
  [[nodiscard]] CoupledChain stretched(const Vector& factor, const Vector& shift) const;

  [[nodiscard]] Index depth() const { return static_cast<Index>(steps.size()); }
  [[nodiscard]] const CoupledStep& last() const { return steps.back(); }
  /// Standard normals of one draw: those before the last layer's own noise.
  [[nodiscard]] Index normal_count() const;
};

/// Did the moment method leave one Gaussian in each layer, as it came, with independent coordinates in the
/// first?
bool is_simulable(const MomentTrace& trace);

/// The chain's output: factors of its covariance, so that it is N(mean, signal signal' + diag(noise^2)), and
/// what separates it from a stored Gaussian.
class ChainOutput {
 public:
  explicit ChainOutput(const CoupledChain& chain);

  /// No less than |P|^{1/2}, P the covariance without the last layer's noise.
  [[nodiscard]] double signal_norm() const { return signal_norm_; }
  /// As computed.
  [[nodiscard]] const Vector& mean() const { return mean_; }
  [[nodiscard]] Vector signal_variances() const { return signal_.rowwise().squaredNorm(); }
  /// No less than W2 between the chain's output and `stored` (F.8).
  [[nodiscard]] double distance_to(const Gaussian& stored) const;

 private:
  Vector mean_, noise_;
  Matrix signal_;  ///< m x normals
  double mean_error_ = 0.0;
  double factor_error_ = 0.0;  ///< of the signal, in Frobenius norm
  double signal_norm_ = 0.0;
};

}  // namespace mixcert
