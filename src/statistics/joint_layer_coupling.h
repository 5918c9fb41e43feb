// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// One hidden layer of the coupled simulation over several inputs jointly.
#pragma once

#include <vector>

#include "methods/joint/joint_trace.h"
#include "mixcert/core/rng.h"
#include "mixcert/network/network.h"

namespace mixcert {

/// Columns are samples, rows neuron * input_count + input.
struct JointCoupledState {
  Matrix network;
  Matrix surrogate;
};

/// Z with Z Z' = Y Y' that maximises tr(Z root): with e standard normal, Z e and `root` e are the optimal
/// coupling of N(0, Y Y') and N(0, root^2), singular matrices included. `transposed` is Y'.
Matrix coupled_factor(const Matrix& transposed, const Matrix& root);

class JointLayerCoupling {
 public:
  /// `next` must have independent weights and biases. All arguments must outlive this.
  JointLayerCoupling(const ActivationMap& activation, const DenseLayer& next, const JointLayerTrace& layer,
                     Index input_count);

  /// From z_k to z_{k+1}. Safe to call from several threads at once.
  void advance(JointCoupledState& state, Generator& generator) const;

 private:
  /// Rows l of the next layer with one S_l(a) and one T_l.
  struct RowGroup {
    std::vector<Index> rows;
    Vector deviations;     ///< of the weights V_l^{1/2}
    double bias_variance;  ///< beta_l
    Matrix noise_root;     ///< T_l^{1/2}
    bool is_fixed;         ///< S_l(a) = T_l whatever a is
  };

  [[nodiscard]] Matrix signal(const Matrix& activations) const;
  void add_noise(const RowGroup& group, const Matrix& activations, Generator& generator,
                 JointCoupledState& state) const;

  const ActivationMap& activation_;
  const DenseLayer& next_;
  const JointLayerTrace& layer_;
  Index input_count_;
  Vector slopes_;  ///< gain / deviation
  std::vector<RowGroup> groups_;
};

}  // namespace mixcert
