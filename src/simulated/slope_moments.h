// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Moments of the slope of the coupling's cost in the normals that drive it: docs/theory/simulation.md (F.6).
#pragma once

#include "simulated/coupled_chain.h"

namespace mixcert {

/// What belongs to the network and not to an exponent.
class SlopeMoments {
 public:
  /// `chain` must outlive this.
  explicit SlopeMoments(const CoupledChain& chain);

  /// No less than the norm of order q >= 2 of the slope of |v| in the normals, without the chain's own part:
  /// (sum_k p_k^2 tau_k^2)^{1/2}.
  [[nodiscard]] double of_network(double q) const;

 private:
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

  const CoupledChain& chain_;
  std::vector<Layer> layers_;
  double first_sum_ = 0.0, first_largest_ = 0.0;
};

}  // namespace mixcert
