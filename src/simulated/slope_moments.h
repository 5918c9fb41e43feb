// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Moments of slopes in the normals that drive a network, of the coupling's cost and of one output, and what
// they say of tails: docs/theory/simulation.md (F.3), (F.6), (F.11).
#pragma once

#include <array>
#include <functional>
#include <vector>

#include "simulated/coupled_chain.h"

namespace mixcert {

/// Coordinates of pre-activations z_1 .. z_K and of the output are multiplied by these powers of two, those
/// of the output by one: slopes in the normals do not change, and their bounds do (F.12).
using LayerUnits = std::vector<Vector>;
/// All one.
LayerUnits equal_units(const CoupledChain& chain);
/// Smaller for neurons with more noise.
LayerUnits noise_units(const CoupledChain& chain);

/// What belongs to the network and not to an exponent.
class SlopeMoments {
 public:
  SlopeMoments(const CoupledChain& chain, const LayerUnits& units);

  /// No less than the norm of order q >= 2 of the slope of |v| in the normals, without the chain's own part:
  /// (sum_k p_k^2 tau_k^2)^{1/2}.
  [[nodiscard]] double of_network(double q) const;
  /// The same of the network's one output y itself, all normals counted: (F.11).
  [[nodiscard]] double of_output(double q) const;

 private:
  /// (sum_k p_k^2 tau_k^2)^{1/2} over sources k = 1 .. last, the last layer's noise answering to its
  /// activations by `last_noise`.
  [[nodiscard]] double over_sources(double q, Index last, double last_noise) const;
  /// tau_k: norm of the largest deviation of source k.
  [[nodiscard]] double source(Index k, const Vector& deviations) const;
  struct Layer {
    Vector column_sums, column_largest;       ///< of V_lj over outputs l of the next layer
    double value_error = 0.0;                 ///< of the activations, computed against exact
    Vector activations;                       ///< of the deterministic path
    double largest_variance = 0.0;            ///< of all V_lj
    double row_sum = 0.0, row_largest = 0.0;  ///< of max_j V_lj over l
    double bias_sum = 0.0, bias_largest = 0.0;
    double path_deviation = 0.0;          ///< max_l S_l(activations)^{1/2}
    double bounded_deviation = INFINITY;  ///< no less than max_l S_l^{1/2} where activations are bounded
    double path_error = 0.0;              ///< of the next pre-activations of the path
  };
  [[nodiscard]] const Layer& layer(Index k) const { return layers_[static_cast<std::size_t>(k - 1)]; }
  /// phi_1 .. phi_K: norms of how far pre-activations are from the path.
  [[nodiscard]] Vector deviations(double q) const;

  static Layer layer_of(const CoupledStep& step, const Vector& path, const Vector& activations,
                        const Vector& unit, const Vector& next_unit);

  LayerRuns runs_;
  std::vector<Layer> layers_;
  double first_sum_ = 0.0, first_largest_ = 0.0;
};

/// What a function F of the normals has beyond a point: 2/log(1/eps) eps^{1-2/q} Gamma_q^2, smallest over q,
/// is no less than E (F - t)_+^2 where P(F > t) <= eps (F.3).
class SlopeTail {
 public:
  /// `norm(q)` is no less than the norm of order q of F's slope.
  explicit SlopeTail(const std::function<double(double)>& norm);
  /// The same with `norm(moments, q)`, of which the smallest over units is taken.
  SlopeTail(const CoupledChain& chain, const std::function<double(const SlopeMoments&, double)>& norm);

  [[nodiscard]] double square_beyond(double probability) const;

 private:
  static constexpr std::array<double, 12> kExponents = {2.5,  3.0,  4.0,  6.0,  9.0,   14.0,
                                                        20.0, 30.0, 48.0, 80.0, 130.0, 200.0};
  std::array<double, kExponents.size()> norms_{};
};

}  // namespace mixcert
