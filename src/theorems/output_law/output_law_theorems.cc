// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Rows (Y.1), (Y.30) and (Y.40) of the table of theorems, and behind dropout (D.7) and (D.8).
#include <algorithm>

#include "theorems/output_law/masked_output.h"
#include "theorems/output_law/output_law_distance.h"
#include "theorems/theorem_table.h"

namespace mixcert {
namespace {

bool sharpen_by_output_law(const Situation& situation, Index /*layer*/, Certificate& certificate) {
  return take_smaller(distance_over_pieces(situation, output_law_distance), "Y.1", certificate.layers.back());
}

bool sharpen_by_weak_signal(const Situation& situation, Index /*layer*/, Certificate& certificate) {
  LayerTerms& last = certificate.layers.back();
  return take_smaller(weak_signal_distance(situation, last.local.upper), "Y.30", last);
}

bool sharpen_by_lattice(const Situation& situation, Index /*layer*/, Certificate& certificate) {
  return take_smaller(fit_masked_output(situation, 1, 0.0).gaussian, "D.7", certificate.layers.back());
}

bool sharpen_by_noisy_law(const Situation& situation, Index /*layer*/, Certificate& certificate) {
  return take_smaller(fit_noisy_masked_output(situation, 1, 0.0).gaussian, "D.8", certificate.layers.back());
}

/// Of this hidden layer and the one before it; true where there is none before.
template <class Holds>
bool here_and_before(const Situation& at, Index layer, const Holds& holds) {
  return holds(at.layer(layer)) && (layer == 1 || holds(at.layer(layer - 1)));
}

const Precondition kNoisyBias = {"the output's bias is noisy", [](const Situation& at, Index layer) {
                                   return at.layer(layer).next_has_noisy_bias;
                                 }};
const Precondition kBernoulliMask = {
    "there is Bernoulli dropout at this layer",
    [](const Situation& at, Index layer) { return at.network.mask(layer).kind() == Mask::Kind::Bernoulli; }};
const Precondition kOnePiece = {
    "the last hidden layer is one Gaussian piece",
    [](const Situation& at, Index layer) { return at.layer(layer).is_one_piece; }};

}  // namespace

Theorem output_law_theorem() {
  Theorem row = {"Y.1",
                 "law of the one output",
                 "stein.md",
                 {precondition::kLastLayer, precondition::kOneOutput, precondition::kUnmasked,
                  precondition::kFewComponents, precondition::kIndependentNext,
                  precondition::kIndependentNeurons, precondition::kNeuronNodes, kNoisyBias},
                 sharpen_by_output_law};
  row.unless = "Y.40";  // which has computed the law
  return row;
}

Theorem fitted_law_theorem() {
  Theorem row = {"Y.40",
                 "law of the one output, fitted",
                 "stein.md",
                 {precondition::kLastLayer, precondition::kOneOutput, precondition::kUnmasked, kOnePiece,
                  precondition::kIndependentNext, precondition::kIndependentNeurons,
                  precondition::kNeuronNodes, kNoisyBias}};
  row.fit = fit_output;
  row.of_gaussian = "Y.1";
  return row;
}

Theorem masked_output_theorem() {
  Theorem row = {"D.7",
                 "law of the one output behind dropout",
                 "dropout-laws.md",
                 {precondition::kLastLayer,
                  precondition::kOneOutput,
                  kBernoulliMask,
                  {"the last hidden layer's law is one Gaussian",
                   [](const Situation& at, Index layer) { return at.traced(layer).pieces.size() == 1; }},
                  precondition::kIndependentNext,
                  {"the layer's weights and biases are Gaussian",
                   [](const Situation& at, Index layer) { return at.layer(layer).next_is_gaussian; }},
                  {"masks make most of what is random", nullptr}},
                 sharpen_by_lattice};
  row.fit = fit_masked_output;
  row.of_gaussian = "D.7";
  return row;
}

Theorem noisy_masked_output_theorem() {
  Theorem row = {"D.8",
                 "law of the one output, noise behind dropout",
                 "dropout-laws.md",
                 {precondition::kLastLayer, precondition::kOneOutput, kBernoulliMask, kOnePiece,
                  precondition::kIndependentNext, precondition::kIndependentNeurons,
                  precondition::kNeuronNodes, kNoisyBias},
                 sharpen_by_noisy_law};
  row.fit = fit_noisy_masked_output;
  row.of_gaussian = "D.8";
  return row;
}

Theorem weak_signal_theorem() {
  return {
      "Y.30",
      "law of the one output, weak signal",
      "two_layers.md",
      {{"it is the last of two or more hidden layers",
        [](const Situation& at, Index layer) { return layer == at.depth && layer >= 2; }},
       precondition::kOneOutput,
       precondition::kNoMasks,
       {"this hidden layer and the one before are one Gaussian piece each",
        [](const Situation& at, Index layer) {
          return here_and_before(at, layer, [](const LayerSituation& l) { return l.is_one_piece; });
        }},
       {"weights and biases before and behind this hidden layer are independent of each other",
        [](const Situation& at, Index layer) {
          return here_and_before(at, layer, [](const LayerSituation& l) { return l.next_is_independent; });
        }},
       {"weights before and behind this hidden layer are random",
        [](const Situation& at, Index layer) {
          return here_and_before(at, layer, [](const LayerSituation& l) { return l.next_is_random; });
        }},
       {"weights and biases before and behind this hidden layer are Gaussian",
        [](const Situation& at, Index layer) {
          return here_and_before(at, layer, [](const LayerSituation& l) { return l.next_is_gaussian; });
        }},
       {"activations of this hidden layer and the one before are smooth or have one kink at zero",
        [](const Situation& at, Index layer) {
          return here_and_before(at, layer, [](const LayerSituation& l) { return l.has_neuron_nodes; });
        }},
       {"every neuron of this hidden layer has noise of its own",
        [](const Situation& at, Index layer) { return layer == 1 || at.layer(layer - 1).next_has_noise; }}},
      sharpen_by_weak_signal};
}

}  // namespace mixcert
