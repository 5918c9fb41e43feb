// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Rows (Y.20) and (Y.28) of the table of theorems.
#include "theorems/theorem_table.h"
#include "theorems/two_layers/two_layer_distance.h"

namespace mixcert {
namespace {

/// One computation gives (Y.20) and, where it holds too, (Y.28).
bool sharpen_by_two_layer(const Situation& situation, Index /*layer*/, Certificate& certificate) {
  static const Theorem both = both_layers_theorem();
  const TwoLayerDistance distance = two_layer_distance(situation, both.may_hold(situation, 1));
  take_smaller(distance.first, "Y.20", certificate.layers.front());
  take_both(distance.both, distance.both, "Y.28", certificate.layers.front(), certificate.layers.back());
  return distance.first.upper < INFINITY;
}

/// Of this hidden layer and the next one; true where the network ends before.
template <class Holds>
bool holds_from(const Situation& at, Index layer, const Holds& holds) {
  return holds(at.layer(layer)) && (layer == at.depth || holds(at.layer(layer + 1)));
}

std::vector<Precondition> two_layer_preconditions() {
  return {{"it is the first of two hidden layers",
           [](const Situation& at, Index layer) { return layer == 1 && at.depth == 2; }},
          precondition::kNoMasks,
          precondition::kFewComponents,
          {"the first hidden layer is one Gaussian piece",
           [](const Situation& at, Index) { return at.layer(1).is_one_piece; }},
          precondition::kIndependentNeurons,
          {"weights and biases of both layers behind are independent of each other",
           [](const Situation& at, Index layer) {
             return holds_from(at, layer, [](const LayerSituation& l) { return l.next_is_independent; });
           }},
          {"weights and biases of both layers behind are Gaussian",
           [](const Situation& at, Index layer) {
             return holds_from(at, layer, [](const LayerSituation& l) { return l.next_is_gaussian; });
           }},
          {"activations of both hidden layers are smooth or have one kink at zero",
           [](const Situation& at, Index layer) {
             return holds_from(at, layer, [](const LayerSituation& l) { return l.has_neuron_nodes; });
           }},
          {"every neuron of the second hidden layer has noise of its own",
           [](const Situation& at, Index) { return at.layer(1).next_has_noise; }},
          {"means and noise of the second hidden layer are known to 1e-7 of their sizes", nullptr}};
}

}  // namespace

Theorem first_layer_theorem() {
  return {"Y.20", "first layer given its inputs", "two_layers.md", two_layer_preconditions(),
          sharpen_by_two_layer};
}

Theorem both_layers_theorem() {
  std::vector<Precondition> preconditions = two_layer_preconditions();
  preconditions.push_back({"the second hidden layer is one Gaussian piece",
                           [](const Situation& at, Index) { return at.layers.back().is_one_piece; }});
  return {"Y.28", "both hidden layers at once", "two_layers.md", std::move(preconditions)};
}

}  // namespace mixcert
