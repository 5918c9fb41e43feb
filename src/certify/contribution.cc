// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// From the summands under the roots of a term to amounts that add up to it: a summand x of the sum S adds
// x / sqrt(S) (X.1).
#include "mixcert/certify/contribution.h"

#include <cmath>
#include <utility>

#include "certify/layer_parts.h"
#include "mixcert/certify/joint_certificate.h"
#include "mixcert/certify/moment_certificate.h"

namespace mixcert {
namespace {

void add_to(Vector& sum, double weight, const Vector& part) {
  if (part.size() == 0) return;
  if (sum.size() == 0) sum = Vector::Zero(part.size());
  if (sum.size() < part.size()) sum.conservativeResizeLike(Vector::Zero(part.size()));
  sum.head(part.size()) += weight * part;
}

/// Is the local term about the law of the output as a whole (Y.1), (Y.9), (Y.20), (Y.28), (Y.30)? Then it is
/// no sum over neurons.
bool is_whole(const LayerTerms& terms) {
  return terms.theorem == "Y.1" || terms.theorem == "Y.9" || terms.theorem == "Y.20" ||
         terms.theorem == "Y.28" || terms.theorem == "Y.30";
}

/// `terms` with the amounts of its local term; what they leave of it is rounding.
LayerContributions contributions_of(const LayerTerms& terms, const std::vector<RootParts>& roots) {
  const double whole = is_whole(terms) ? terms.local.nominal : 0.0;
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

/// `roots_of` gives the roots of hidden layer k.
template <class RootsOf>
BoundContributions contributions_of(const Certificate& certificate, const RootsOf& roots_of) {
  BoundContributions all;
  all.bound = certificate.w2.value;
  all.first = certificate.first.upper;
  for (std::size_t k = 0; k < certificate.layers.size(); ++k) {
    const LayerTerms& terms = certificate.layers[k];
    all.layers.push_back(contributions_of(terms, is_whole(terms) ? std::vector<RootParts>() : roots_of(k)));
  }
  return all;
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

BoundContributions moment_contributions(const Network& network, const Sensitivity& sensitivity,
                                        const Carriers& carriers, const Sealed<MomentTrace>& trace,
                                        bool sharpen) {
  Certificate certificate = evaluate_moment_certificate(network, sensitivity, carriers, trace);
  if (sharpen) certificate = sharpened_certificate(network, carriers, trace, std::move(certificate));
  return contributions_of(certificate, [&](std::size_t k) {
    return moment_parts(network, carriers, trace->layers[k], static_cast<Index>(k) + 1,
                        certificate.layers[k]);
  });
}

BoundContributions joint_contributions(const Network& network, const Sensitivity& sensitivity,
                                       const Carriers& carriers, const Sealed<JointTrace>& trace) {
  const Certificate certificate = evaluate_joint_certificate(network, sensitivity, carriers, trace);
  return contributions_of(certificate, [&](std::size_t k) {
    return joint_parts(network, carriers, trace->layers[k], static_cast<Index>(k) + 1, trace->input_count,
                       certificate.layers[k]);
  });
}

BoundContributions signature_contributions(const Network& network, const Sensitivity& sensitivity,
                                           const Sealed<Trace>& trace, CertificateForm form) {
  const Certificate certificate = evaluate_certificate(network, sensitivity, trace, form);
  return contributions_of(certificate, [&](std::size_t k) {
    return signature_parts(network, sensitivity, trace->layers[k], static_cast<Index>(k) + 1,
                           trace->input_count, form, certificate.layers[k]);
  });
}

}  // namespace mixcert
