// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Row (D.17) of the table of theorems.
#include <utility>

#include "theorems/masked_layers/masked_layers.h"
#include "theorems/theorem_table.h"

namespace mixcert {
namespace {

/// The total is of both local terms: the first one is what the second leaves of it.
bool sharpen_by_masked_layers(const Situation& situation, Index /*layer*/, Certificate& certificate) {
  const MaskedLayersDistance both = masked_layers_distance(situation, false);
  take_both(both.w2, both.w1, "D.17", certificate.layers[0], certificate.layers[1]);
  return both.w2.upper < INFINITY;
}

/// The output's law is fitted where it is the second hidden layer's push; elsewhere nothing is found.
OutputFit fit_both_layers(const Situation& situation, Index most, double /*wanted*/) {
  OutputFit fit;
  if (situation.depth != 2) return fit;
  MaskedLayersDistance both = masked_layers_distance(situation, situation.components <= most);
  fit.gaussian = both.w2;
  fit.mixture = std::move(both.own);
  fit.covers = 2;
  return fit;
}

bool is_constant(const Situation& at, Index layer) {
  const GaussianMixture& pieces = at.traced(layer).pieces;
  return pieces.size() == 1 && pieces.component(0).covariance.variances().isZero(0.0);
}

bool is_fixed(const DenseLayer& layer) {
  return !layer.has_random_weights() && layer.bias_variances().isZero(0.0);
}

/// Of this hidden layer and the next one; true where the network ends before.
bool is_deterministic(const Situation& at, Index layer) {
  return is_fixed(at.network.layer(layer)) && (layer == at.depth || is_fixed(at.network.layer(layer + 1)));
}

/// One piece of the second hidden layer for each leaf of the first.
bool is_whole_behind(const Situation& at, Index layer) {
  if (layer == at.depth) return true;
  const MomentLayerTrace& second = at.traced(layer + 1);
  return second.plan.empty() && second.pieces.size() == at.traced(layer).masks.size();
}

}  // namespace

Theorem masked_layers_theorem() {
  Theorem row = {"D.17",
                 "two layers of masks at once",
                 "dropout-two-layers.md",
                 {{"it is the first of two or more hidden layers",
                   [](const Situation& at, Index layer) { return layer == 1 && at.depth >= 2; }},
                  {"behind it is Bernoulli dropout",
                   [](const Situation& at, Index layer) {
                     return at.network.mask(layer).kind() == Mask::Kind::Bernoulli;
                   }},
                  {"its inputs are constants", is_constant},
                  {"weights and biases of both layers behind are deterministic", is_deterministic},
                  {"the second hidden layer's law is neither compressed nor split", is_whole_behind},
                  precondition::kFewComponents},
                 sharpen_by_masked_layers};
  row.fit = fit_both_layers;
  row.of_gaussian = "D.17";
  return row;
}

}  // namespace mixcert
