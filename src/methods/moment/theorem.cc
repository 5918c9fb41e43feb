// Licensed under the Apache License, Version 2.0; see LICENSE.
#include "methods/moment/theorem.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <string_view>
#include <utility>

#include "activation/neuron/neuron_nodes.h"
#include "certificate/replaced_weights.h"
#include "methods/moment/moment_error.h"
#include "mixcert/core/error.h"

namespace mixcert {

namespace {

bool is_diagonal(const GaussianMixture& pieces) {
  for (Index i = 0; i < pieces.size(); ++i) {
    if (!pieces.component(i).covariance.is_diagonal()) return false;
  }
  return true;
}

LayerSituation situation_of(const Network& network, const MomentLayerTrace& traced, Index number) {
  const DenseLayer& next = network.layer(number);
  LayerSituation layer;
  layer.is_unmasked = network.mask(number).is_none() && traced.masks.size() == 1;
  layer.is_one_piece = traced.pieces.size() == 1 && traced.surrogates.size() == 1;
  layer.has_independent_neurons = is_diagonal(traced.pieces);
  layer.has_convex_sizes = has_convex_sizes(network.activation(number), next.inputs());
  layer.has_neuron_nodes = has_neuron_nodes(network.activation(number).common());
  layer.next_is_independent = next.has_independent_outputs();
  layer.next_is_random = next.has_random_weights();
  layer.next_is_gaussian = next.is_gaussian();
  layer.next_has_noisy_bias = next.bias_variances().minCoeff() > 0.0;
  layer.next_has_noise =
      traced.surrogates.empty() || own_noise(next, traced.surrogates.front()).minCoeff() > 0.0;
  return layer;
}

}  // namespace

Vector own_noise(const DenseLayer& layer, const SurrogateLaw& law) {
  return layer.weight_variances() * law.second + layer.bias_variances();
}

Situation::Situation(const Network& of, const ErrorNorms& norms, const MomentTrace& made)
    : network(of),
      error_norms(norms),
      trace(made),
      depth(of.hidden_count()),
      outputs(of.outputs()),
      components(made.output.size()),
      has_masks(of.has_masks()) {
  for (Index k = 1; k <= depth; ++k) layers.push_back(situation_of(of, traced(k), k));
}

namespace {

/// A theorem takes longer than (H.3), and pieces have little left to gain from it.
constexpr Index kMostComponents = 16;

}  // namespace

namespace precondition {

const Precondition kLastLayer = {"it is the last hidden layer",
                                 [](const Situation& at, Index layer) { return layer == at.depth; }};
const Precondition kOneOutput = {"the network has one output",
                                 [](const Situation& at, Index) { return at.outputs == 1; }};
const Precondition kUnmasked = {"there is no dropout at this layer",
                                [](const Situation& at, Index layer) { return at.layer(layer).is_unmasked; }};
const Precondition kNoMasks = {"the network has no dropout",
                               [](const Situation& at, Index) { return !at.has_masks; }};
const Precondition kFewComponents = {"the output has at most 16 components", [](const Situation& at, Index) {
                                       return at.components <= kMostComponents;
                                     }};
const Precondition kIndependentNext = {
    "the layer's weights and biases are independent of each other",
    [](const Situation& at, Index layer) { return at.layer(layer).next_is_independent; }};
const Precondition kIndependentNeurons = {
    "the neurons of each Gaussian piece are independent",
    [](const Situation& at, Index layer) { return at.layer(layer).has_independent_neurons; }};
const Precondition kNeuronNodes = {
    "its activations are smooth or have one kink at zero",
    [](const Situation& at, Index layer) { return at.layer(layer).has_neuron_nodes; }};

}  // namespace precondition

bool Theorem::may_hold(const Situation& situation, Index layer) const {
  return std::all_of(preconditions.begin(), preconditions.end(),
                     [&](const Precondition& p) { return p.holds == nullptr || p.holds(situation, layer); });
}

UpperBound distance_over_pieces(const Situation& situation, PushDistance push_distance) {
  const Index last = situation.depth;
  const MomentLayerTrace& layer = situation.traced(last);
  const DenseLayer& next = situation.network.layer(last);
  UpperBound squared, replaced;
  for (Index i = 0; i < layer.pieces.size(); ++i) {
    const SurrogateLaw& law = layer.surrogates[static_cast<std::size_t>(i)];
    const UpperBound distance =
        push_distance(situation.network.activation(last), next, layer.pieces.component(i), law,
                      situation.trace.output.component(i));
    const UpperBound weight = UpperBound::exact(layer.pieces.weights()(i));
    squared = squared + weight * distance * distance;
    if (!(squared.upper < INFINITY)) return {INFINITY, INFINITY};
    if (next.is_gaussian()) continue;
    const Vector errors = replaced_weight_errors(next, law.second + law.second_error, 1);
    replaced = replaced + weight * UpperBound::of_sum(errors.sum(), errors.size() + 8);
  }
  return sqrt(squared) + sqrt(replaced);
}

bool take_smaller(const UpperBound& local, const char* id, LayerTerms& terms) {
  if (local.upper < terms.local.upper) {
    terms.local = local;
    terms.local_w1 = min(terms.local_w1, local);
    terms.theorem = id;
    terms.is_whole = true;
  }
  return local.upper < INFINITY;
}

void take_both(const UpperBound& w2, const UpperBound& w1, const char* id, LayerTerms& first,
               const LayerTerms& second) {
  if (!(w2.upper < first.local.upper + second.local.upper)) return;
  const auto rest = [](const UpperBound& total, const UpperBound& other) -> UpperBound {
    return {positive_part(total.nominal - other.nominal), positive_part(next_up(total.upper - other.upper))};
  };
  if (!first.is_shared) first.alone = std::make_shared<const LayerTerms>(first);
  first.local = rest(w2, second.local);
  first.local_w1 = min(first.local_w1, rest(w1, second.local_w1));
  first.theorem = id;
  first.is_whole = true;
  first.is_shared = true;
}

namespace {

/// The rows of the table one after the other.
class Sharpening {
 public:
  Sharpening(const Situation& situation, const OutputRequest& request, Certificate& certificate)
      : situation_(situation), request_(request), certificate_(certificate) {}

  void run(const TheoremTable& theorems) {
    for (const Theorem& one : theorems) {
      for (Index layer = 1; layer <= situation_.depth; ++layer) use(one, layer);
    }
    certificate_.add_up();
  }
  /// The mixture of the theorem that lowers the terms that it stands for most; moments count for it.
  std::optional<GaussianMixture> take_fitted() {
    Fit* best = nullptr;
    double most = 0.0;
    for (Fit& fit : fitted_) {
      const double worth = fit.output.has_own_moments ? request_.worth_of_moments : 1.0;
      const double saved = worth * replaced_by(fit) - kept_in_front(fit) - fit.output.distance.upper;
      if (!(saved > most)) continue;
      most = saved;
      best = &fit;
    }
    if (best == nullptr) return {};
    if (const auto alone = alone_in_front(*best)) *(first_covered(*best) - 1) = *alone;
    for (auto terms = first_covered(*best); terms != certificate_.layers.end(); ++terms) {
      terms->local = terms->local_w1 = {};
      terms->theorem = best->theorem;
      terms->is_whole = true;
      terms->is_shared = false;
    }
    LayerTerms& first = *first_covered(*best);
    first.local = first.local_w1 = best->output.distance;
    certificate_.add_up();
    return std::move(best->output.mixture);
  }
  /// The network's law is as far from the computed one as everything but the last term says (U.20). Behind
  /// several hidden layers one theorem may have put the terms of two into one.
  std::shared_ptr<const OutputDistribution> take_law() {
    if (!law_ || situation_.depth != 1) return nullptr;
    Certificate others = certificate_;
    others.layers.back().local = others.layers.back().local_w1 = {};
    others.add_up();
    law_->moved = enlarged(law_->moved + others.w2.value);
    return std::isfinite(law_->moved) ? std::move(law_) : nullptr;
  }

 private:
  struct Fit {
    FittedOutput output;
    std::string theorem;
    Index covers;
  };
  using Terms = std::vector<LayerTerms>::iterator;
  [[nodiscard]] Terms first_covered(const Fit& fit) const { return certificate_.layers.end() - fit.covers; }
  /// Terms in front that count on one of those that are covered, as they were by themselves; null: none do.
  [[nodiscard]] std::shared_ptr<const LayerTerms> alone_in_front(const Fit& fit) const {
    const Terms first = first_covered(fit);
    return first == certificate_.layers.begin() ? nullptr : (first - 1)->alone;
  }
  [[nodiscard]] double kept_in_front(const Fit& fit) const {
    const auto alone = alone_in_front(fit);
    return alone ? alone->local.upper : 0.0;
  }
  /// What the mixture's distance, and the term in front by itself where it is shared, would stand for.
  [[nodiscard]] double replaced_by(const Fit& fit) const {
    double sum = 0.0;
    for (auto terms = first_covered(fit) - (alone_in_front(fit) ? 1 : 0); terms != certificate_.layers.end();
         ++terms)
      sum += terms->local.upper;
    return sum;
  }
  void use(const Theorem& one, Index layer) {
    const bool fits = one.fit != nullptr && request_.most > 1;
    if ((one.sharpen == nullptr && !fits) || !one.may_hold(situation_, layer)) return;
    if (one.unless != nullptr && with_bound_.contains({one.unless, layer})) return;
    const std::vector<LayerTerms> before = certificate_.layers;
    bool has_bound = fits && fit(one);
    if (has_bound) with_bound_.insert({one.of_gaussian, layer});
    if (!has_bound && one.sharpen != nullptr) has_bound = one.sharpen(situation_, layer, certificate_);
    if (has_bound) with_bound_.insert({one.id, layer});
    keep_shared(before);
  }
  /// A term that the one in front counts on stays as it was.
  void keep_shared(const std::vector<LayerTerms>& before) {
    for (std::size_t k = 1; k < before.size(); ++k) {
      LayerTerms& now = certificate_.layers[k];
      const bool is_lower =
          now.local.upper < before[k].local.upper || now.local_w1.upper < before[k].local_w1.upper;
      if (before[k - 1].is_shared && is_lower) now = before[k];
    }
  }
  /// A theorem that fits bounds the Gaussian too.
  bool fit(const Theorem& one) {
    OutputFit found = one.fit(situation_, request_.most, request_.wanted);
    if (found.mixture) fitted_.push_back({*std::move(found.mixture), one.id, found.covers});
    if (!law_) law_ = std::move(found.law);
    LayerTerms& last = certificate_.layers.back();
    if (found.covers == 1) return take_smaller(found.gaussian, one.of_gaussian, last);
    take_both(found.gaussian, found.gaussian, one.of_gaussian, *(certificate_.layers.end() - 2), last);
    return found.gaussian.upper < INFINITY;
  }

  const Situation& situation_;
  const OutputRequest& request_;
  Certificate& certificate_;
  std::set<std::pair<std::string_view, Index>> with_bound_;
  std::vector<Fit> fitted_;
  std::shared_ptr<OutputDistribution> law_;
};

bool may_sharpen(const Theorem& one) { return one.sharpen != nullptr || one.fit != nullptr; }

}  // namespace

SharpenedOutput sharpened_output(const TheoremTable& theorems, const Network& network,
                                 const ErrorNorms& error_norms, const Sealed<MomentTrace>& trace,
                                 const OutputRequest& request, Certificate certificate) {
  if (std::none_of(theorems.begin(), theorems.end(), may_sharpen)) return {std::move(certificate), {}};
  const Situation situation(network, error_norms, *trace);
  Sharpening sharpening(situation, request, certificate);
  sharpening.run(theorems);
  std::optional<GaussianMixture> mixture = sharpening.take_fitted();
  std::shared_ptr<const OutputDistribution> law = sharpening.take_law();
  return {std::move(certificate), std::move(mixture), std::move(law)};
}

Certificate sharpened_certificate(const TheoremTable& theorems, const Network& network,
                                  const ErrorNorms& error_norms, const Sealed<MomentTrace>& trace,
                                  Certificate certificate) {
  return sharpened_output(theorems, network, error_norms, trace, {}, std::move(certificate)).certificate;
}

BoundContributions moment_contributions(const TheoremTable& theorems, const Network& network,
                                        const ErrorNorms& error_norms, const Sealed<MomentTrace>& trace,
                                        const Certificate& certificate) {
  const Situation situation(network, error_norms, *trace);
  return contributions_of(certificate, [&](std::size_t k, const LayerTerms& terms) {
    const auto used = std::find_if(theorems.begin(), theorems.end(),
                                   [&](const Theorem& one) { return terms.theorem == one.id; });
    require(used != theorems.end() && used->parts != nullptr,
            "certificate: no parts of theorem " + terms.theorem);
    return used->parts(situation, static_cast<Index>(k) + 1, terms);
  });
}

}  // namespace mixcert
