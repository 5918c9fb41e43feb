// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// From the summands under the roots of a term to amounts that add up to it: a summand x of the sum S adds
// x / sqrt(S) (X.1).
#include "certificate/contributions.h"

#include <cmath>
#include <utility>

namespace mixcert {
namespace {

void add_to(Vector& sum, double weight, const Vector& part) {
  if (part.size() == 0) return;
  if (sum.size() == 0) sum = Vector::Zero(part.size());
  if (sum.size() < part.size()) sum.conservativeResizeLike(Vector::Zero(part.size()));
  sum.head(part.size()) += weight * part;
}

/// `terms` with the amounts of its local term; what they leave of it is rounding.
LayerContributions layer_contributions(const LayerTerms& terms, const std::vector<RootParts>& roots) {
  const double whole = terms.is_whole ? terms.local.nominal : 0.0;
  SquareParts amounts;
  for (const RootParts& root : roots) {
    const double sum = root.parts.sum();
    if (sum > 0.0) amounts.add(root.factor / std::sqrt(sum), root.parts);
  }
  LayerContributions layer;
  layer.total = (terms.compression + terms.local).upper;
  layer.directions = amounts.directions;
  const auto add = [&layer](Source source, Vector neurons, Vector outputs = {}) {
    Contribution part{source, (neurons.size() > 0 ? neurons : outputs).sum(), std::move(neurons),
                      std::move(outputs)};
    if (part.amount != 0.0) layer.parts.push_back(std::move(part));
  };
  const double splitting = terms.splitting.nominal;
  const double compression = terms.compression.nominal - splitting;
  const double rounding = layer.total - whole - amounts.sum() - terms.compression.nominal;
  add(Source::Activations, std::move(amounts.activations));
  add(Source::WeightNoise, std::move(amounts.noise_neurons), std::move(amounts.noise));
  add(Source::CorrelatedNoise, std::move(amounts.correlated_noise));
  add(Source::Masks, std::move(amounts.masks));
  add(Source::ReplacedWeights, {}, std::move(amounts.replaced));
  for (const auto& [source, amount] :
       {std::pair(Source::OutputLaw, whole), std::pair(Source::Compression, compression),
        std::pair(Source::Splitting, splitting), std::pair(Source::Rounding, rounding)}) {
    if (amount != 0.0) layer.parts.push_back({source, amount, {}, {}});
  }
  return layer;
}

}  // namespace

void SquareParts::add(double weight, const SquareParts& other) {
  add_to(activations, weight, other.activations);
  add_to(correlated_noise, weight, other.correlated_noise);
  add_to(masks, weight, other.masks);
  add_to(noise, weight, other.noise);
  add_to(replaced, weight, other.replaced);
  add_to(noise_neurons, weight, other.noise_neurons);
  add_to(directions, weight, other.directions);
}

double SquareParts::sum() const {
  return activations.sum() + correlated_noise.sum() + masks.sum() + noise.sum() + replaced.sum();
}

std::string_view to_string(Source source) {
  switch (source) {
    case Source::Activations:
      return "activations";
    case Source::CorrelatedNoise:
      return "correlated-noise";
    case Source::Masks:
      return "masks";
    case Source::WeightNoise:
      return "weight-noise";
    case Source::ReplacedWeights:
      return "replaced-weights";
    case Source::OutputLaw:
      return "output-law";
    case Source::Compression:
      return "compression";
    case Source::Splitting:
      return "splitting";
    case Source::Rounding:
      return "rounding";
  }
  return "?";
}

BoundContributions contributions_of(const Certificate& certificate, const PartsOf& parts_of) {
  BoundContributions all;
  all.bound = certificate.w2.value;
  all.first = (certificate.first + certificate.moved).upper;
  for (std::size_t k = 0; k < certificate.layers.size(); ++k) {
    const LayerTerms& terms = certificate.layers[k];
    all.layers.push_back(
        layer_contributions(terms, terms.is_whole ? std::vector<RootParts>() : parts_of(k, terms)));
  }
  return all;
}

}  // namespace mixcert
