// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// One hidden layer of the coupled simulation: compression, splits, activation and the next dense layer.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "methods/moment/moment_trace.h"
#include "mixcert/network/network.h"
#include "statistics/split_map.h"

namespace mixcert {

/// Samples on their way through both chains. Given its label, a column of `surrogate` has the law of that
/// component of the current mixture.
struct CoupledState {
  Matrix network;
  Matrix surrogate;
  std::vector<Index> labels;
};

class CoupledLayer {
 public:
  /// `next` must have independent outputs. All arguments must outlive this.
  CoupledLayer(const ActivationMap& activation, const Mask& mask, const DenseLayer& next,
               const MomentLayerTrace& layer);

  /// From z_k to z_{k+1}. Safe to call from several threads at once.
  void advance(CoupledState& state, Generator& generator) const;

 private:
  void compress(CoupledState& state, Generator& generator) const;
  void split(CoupledState& state, Generator& generator) const;
  struct MaskDraws {
    Matrix factors;
    Matrix normals;
  };
  [[nodiscard]] MaskDraws draw_masks(const Matrix& activations, Generator& generator) const;
  void add_leaves(const Matrix& factors, std::vector<Index>& labels) const;
  [[nodiscard]] Matrix surrogate_activations(const CoupledState& state) const;
  void push(CoupledState& state, Generator& generator) const;

  const ActivationMap& activation_;
  const Mask& mask_;
  const DenseLayer& next_;
  const MomentLayerTrace& layer_;
  /// Targets of each source component and where its plan's mass ends; empty when nothing is compressed.
  std::vector<std::vector<std::pair<Index, double>>> targets_;
  std::map<std::pair<Index, Index>, GaussianMap> maps_;
  std::vector<SplitMap> splits_;
  std::vector<Index> first_piece_;
  Matrix slopes_;       ///< gain_j / s_j, one column per piece and leaf
  Matrix noise_roots_;  ///< root of the surrogate's noise variances, one column per piece and leaf
};

}  // namespace mixcert
