// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Preconditions are listed so that a later one may be looked at where an earlier one does not hold.
#include "certify/theorem_table.h"

#include <algorithm>
#include <string>
#include <variant>

#include "certify/convex_noise.h"
#include "certify/moment_error.h"
#include "certify/replaced_weights.h"
#include "certify/stein_push.h"
#include "certify/two_stage_parts.h"
#include "mixcert/core/error.h"

namespace mixcert {
namespace {

using Site = TheoremSite;

/// A theorem takes longer than (H.3), and pieces have little left to gain from it.
constexpr Index kMostSharpened = 16;

bool is_last(const Site& at) { return at.layer == at.network.hidden_count(); }
bool is_first_of_two(const Site& at) { return at.layer == 1 && at.network.hidden_count() == 2; }
bool is_last_of_several(const Site& at) { return is_last(at) && at.layer >= 2; }

bool has_one_output(const Site& at) { return at.network.layer(at.network.hidden_count()).outputs() == 1; }
bool has_few_pieces(const Site& at) { return at.trace.output.size() <= kMostSharpened; }

bool is_unmasked(const Site& at) {
  return at.network.mask(at.layer).kind() == Mask::Kind::None && at.traced().masks.size() == 1;
}
bool has_no_masks(const Site& at) { return !at.network.has_masks(); }

bool has_independent_next(const Site& at) { return has_independent_outputs(at.next()); }
bool has_random_next(const Site& at) {
  return !std::holds_alternative<DeterministicWeights>(at.next().weights());
}
bool has_noisy_output_bias(const Site& at) { return at.next().bias_variances().minCoeff() > 0.0; }

bool is_diagonal(const GaussianMixture& pieces) {
  for (Index i = 0; i < pieces.size(); ++i) {
    if (!pieces.component(i).covariance.is_diagonal()) return false;
  }
  return true;
}
bool has_independent_neurons(const Site& at) { return is_diagonal(at.traced().pieces); }
bool has_convex_activations(const Site& at) {
  return has_convex_sizes(at.network.activation(at.layer), at.next().inputs());
}
bool has_little_stein_work(const Site& at) {
  return stein_work(at.network.layer(at.network.hidden_count())) <= kMostSteinWork;
}

/// Of layers `first` and `first + 1`; true where the network ends before.
template <class Holds>
bool both_layers(const Site& at, Index first, const Holds& holds) {
  for (Index k = std::max<Index>(first, 1); k <= std::min(first + 1, at.network.hidden_count()); ++k) {
    if (!holds(k)) return false;
  }
  return true;
}
bool independent_from(const Site& at, Index first) {
  return both_layers(at, first, [&](Index k) { return has_independent_outputs(at.network.layer(k)); });
}
bool gaussian_from(const Site& at, Index first) {
  return both_layers(at, first, [&](Index k) { return !has_replaced_weights(at.network.layer(k)); });
}
bool one_piece(const MomentLayerTrace& layer) {
  return layer.pieces.size() == 1 && layer.surrogates.size() == 1;
}
bool one_piece_from(const Site& at, Index first) {
  return both_layers(at, first,
                     [&](Index k) { return one_piece(at.trace.layers[static_cast<std::size_t>(k - 1)]); });
}
/// Is every neuron of hidden layer k + 1 moved by the weights and biases in front of it?
bool has_noise_behind(const Site& at, Index k) {
  if (k < 1 || at.trace.layers[static_cast<std::size_t>(k - 1)].surrogates.empty()) return true;
  const SurrogateLaw& law = at.trace.layers[static_cast<std::size_t>(k - 1)].surrogates.front();
  return own_noise(at.network.layer(k), law).minCoeff() > 0.0;
}

const char* const kIndependentNext = "the layer's weights and biases are independent of each other";
const char* const kNeurons = "the neurons of each Gaussian piece are independent";
const char* const kUnmasked = "there is no dropout at this layer";
const char* const kFewPieces = "the output has at most 16 components";
const char* const kLast = "it is the last hidden layer";
const char* const kOneOutput = "the network has one output";
const char* const kNoMasks = "the network has no dropout";

/// (Y.20), and (Y.28) with what it needs in addition.
std::vector<Precondition> two_stage_preconditions() {
  return {
      {"it is the first of two hidden layers", is_first_of_two},
      {kNoMasks, has_no_masks},
      {kFewPieces, has_few_pieces},
      {"the first hidden layer is one Gaussian piece", [](const Site& at) { return one_piece(at.traced()); }},
      {kNeurons, has_independent_neurons},
      {"weights and biases of both layers behind are independent of each other",
       [](const Site& at) { return independent_from(at, 1); }},
      {"weights and biases of both layers behind are Gaussian",
       [](const Site& at) { return gaussian_from(at, 1); }},
      {"every neuron of the second hidden layer has noise of its own",
       [](const Site& at) { return has_noise_behind(at, 1); }},
      {"means and noise of the second hidden layer are known to 1e-7 of their sizes", nullptr}};
}

std::vector<Precondition> joined_preconditions() {
  std::vector<Precondition> all = two_stage_preconditions();
  all.push_back({"the second hidden layer is one Gaussian piece",
                 [](const Site& at) { return one_piece(at.trace.layers.back()); }});
  return all;
}

std::vector<Theorem> listed_theorems() {
  return {
      {"H.3", "Gaussian with the right mean and variances", {{kIndependentNext, has_independent_next}}},
      {"H.7", "the same behind weights that depend on each other", {}},
      {"Y.27",
       "Gaussian with the right mean and variances, noise convex",
       {{kUnmasked, is_unmasked},
        {kIndependentNext, has_independent_next},
        {"the layer's weights are random", has_random_next},
        {"the sizes of its activations are convex functions", has_convex_activations}}},
      {"Y.1",
       "law of the one output",
       {{kLast, is_last},
        {kOneOutput, has_one_output},
        {kUnmasked, is_unmasked},
        {kFewPieces, has_few_pieces},
        {kIndependentNext, has_independent_next},
        {kNeurons, has_independent_neurons},
        {"the output's bias is noisy", has_noisy_output_bias}}},
      {"Y.9",
       "sum of independent neurons",
       {{kLast, is_last},
        {kUnmasked, is_unmasked},
        {kFewPieces, has_few_pieces},
        {kIndependentNext, has_independent_next},
        {kNeurons, has_independent_neurons},
        {"neurons times outputs to the fourth power are at most 4e7", has_little_stein_work},
        {"the output's covariance is far from singular", nullptr}}},
      {"Y.20", "first layer carried through the second", two_stage_preconditions()},
      {"Y.28", "both hidden layers at once", joined_preconditions()},
      {"Y.30",
       "one output with the signal apart",
       {{"it is the last of two or more hidden layers", is_last_of_several},
        {kOneOutput, has_one_output},
        {kNoMasks, has_no_masks},
        {"this hidden layer and the one before are one Gaussian piece each",
         [](const Site& at) { return one_piece_from(at, at.layer - 1); }},
        {"weights and biases before and behind this hidden layer are independent of each other",
         [](const Site& at) { return independent_from(at, at.layer - 1); }},
        {"weights before and behind this hidden layer are random",
         [](const Site& at) {
           return both_layers(at, at.layer - 1, [&](Index k) {
             return !std::holds_alternative<DeterministicWeights>(at.network.layer(k).weights());
           });
         }},
        {"weights and biases before and behind this hidden layer are Gaussian",
         [](const Site& at) { return gaussian_from(at, at.layer - 1); }},
        {"every neuron of this hidden layer has noise of its own",
         [](const Site& at) { return has_noise_behind(at, at.layer - 1); }}}},
  };
}

}  // namespace

bool Theorem::may_hold(const TheoremSite& site) const {
  return std::all_of(preconditions.begin(), preconditions.end(),
                     [&](const Precondition& p) { return p.holds == nullptr || p.holds(site); });
}

const std::vector<Theorem>& theorem_table() {
  static const std::vector<Theorem> table = listed_theorems();
  return table;
}

const Theorem& theorem(std::string_view id) {
  const std::vector<Theorem>& table = theorem_table();
  const auto found = std::find_if(table.begin(), table.end(), [&](const Theorem& t) { return id == t.id; });
  if (found == table.end()) throw InvalidArgument("no theorem " + std::string(id));
  return *found;
}

}  // namespace mixcert
