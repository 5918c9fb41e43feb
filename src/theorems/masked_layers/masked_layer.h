// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The neurons of the second hidden layer as functions of the first one's dropout masks, and what stands for
// them: the parts of docs/theory/dropout-two-layers.md (D.17), one neuron at a time.
#pragma once

#include <vector>

#include "mixcert/core/types.h"
#include "theorems/masked_layers/lattice_neuron.h"

namespace mixcert {

/// The neurons h_l of the second hidden layer as functions of the first one's standardised masks X, each in
/// units of 2^exponent. Mean, slopes and curves are exact for functions that are `moved` from the h_l in L2.
struct MaskedLayer {
  std::vector<int> exponents;
  Vector mean;
  Matrix slopes;      ///< E h_l X_j; one row for each neuron
  Vector curve;       ///< E h_l Q_l, Q_l = sum_{i<j} v_li v_lj X_i X_j
  Matrix directions;  ///< v; rows of zeros where curve is zero
  Vector rest;        ///< no less than the L2 norm of what is left of h_l
  Vector second;      ///< no less than E h_l^2
  Vector absolute;    ///< no more than E |h_l|
  Vector moved;

  /// Does every neuron have moments?
  [[nodiscard]] bool exists() const {
    return !exponents.empty() && exponents.size() == static_cast<std::size_t>(mean.size());
  }
};
/// Without exponents where one of the neurons has no bound.
MaskedLayer masked_layer(const std::vector<LatticeMoments>& neurons, Index masks);
/// The same in units that are no smaller.
MaskedLayer in_units(MaskedLayer layer, const std::vector<int>& exponents);
/// Every h_l times a factor of at least zero.
MaskedLayer with_factors(MaskedLayer layer, const Vector& factors);

/// E Q_l Q_k, up to rounding.
Matrix curve_products(const MaskedLayer& layer);
/// Neurons up to which it is worth its n^3 operations.
inline constexpr Index kMostProjected = 1024;

/// What stands for the layer's masked activations: mean_l + lines_l . g + mask_gain_l g'_l in the same units,
/// g and g' standard normals.
struct MaskedStandIn {
  Vector mean;
  Matrix lines;
  Vector mask_gain;
};
/// Means and variances in front of the masks and behind them are those of the layer, and so are its slopes up
/// to a factor for each neuron.
MaskedStandIn own_stand_in(const MaskedLayer& layer, const std::vector<bool>& is_masked, double variance);

/// Deviations of the sums of columns times masked activations, about: what is left of the neurons counts as
/// uncorrelated. A choice; mask gains are those of the stand-in.
Vector about_deviations(const Matrix& columns, const MaskedLayer& layer, const Vector& mask_gain);

}  // namespace mixcert
