// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// What (D.17) needs of a trace behind one leaf of enumerated masks of the first hidden layer, and one of the
// second.
#pragma once

#include <vector>

#include "methods/moment/theorem.h"
#include "theorems/masked_layers/masked_pair.h"

namespace mixcert {

/// Which masks of the first hidden layer are random and matter, and the activations in front of all of them.
struct FirstLeaf {
  const SurrogateLaw& law;
  std::vector<Index> active;
  std::vector<bool> is_random;
};
FirstLeaf first_leaf(const SurrogateLaw& law, const MaskLeaf& leaf);

/// The second hidden layer behind one leaf of the first; without exponents where there is no bound.
MaskedLayer layer_behind(const Situation& at, const FirstLeaf& leaf);

/// Factors of the second layer's masks that a leaf knows, one elsewhere.
Vector known_factors(const MaskLeaf& leaf, double keep, Index neurons);

/// Masks of both hidden layers, given a leaf of the second.
MaskedPair masked_pair(const Situation& at, const MaskLeaf& second, Index neurons);

/// The trace's Gaussian: mean + gain x + mask_gain g', x the standardised second layer, which is linear in
/// the normals of the first layer's masks. In units of one.
MaskedStandIn traced_stand_in(const Situation& at, const FirstLeaf& leaf, const Gaussian& piece,
                              const SurrogateLaw& law);

/// Units that neither the neurons nor what stands for them exceed.
std::vector<int> common_units(const MaskedStandIn& stand_in, std::vector<int> exponents);

/// From units of one.
void change_units(const std::vector<int>& exponents, MaskedStandIn& stand_in);

}  // namespace mixcert
