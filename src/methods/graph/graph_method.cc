// Licensed under the Apache License, Version 2.0; see LICENSE.
#include "methods/graph/graph_method.h"

#include <cmath>
#include <utility>

#include "certificate/contributions.h"
#include "mixcert/core/error.h"
#include "mixcert/transport/gaussian_transport.h"

namespace mixcert {
namespace {

/// Tangents of one input, of which every thread has its own.
constexpr GraphChainLimits kLimits{.most_dense = 3000, .tangent_bytes = 0x1.0p28};

LayerTerms terms_of(const GraphTerm& term) {
  LayerTerms terms;
  terms.local = terms.local_w1 = UpperBound::exact(term.upper());
  terms.metric = kFormsMetric;
  terms.theorem = "O.15";
  return terms;
}

/// A row for each activation and each round of a maximum.
std::vector<LayerReport> rows_of(const Certificate& certificate) {
  std::vector<LayerReport> rows;
  for (const LayerTerms& terms : certificate.layers) {
    LayerReport row;
    row.layer = static_cast<Index>(rows.size()) + 1;
    row.local = terms.local.upper;
    row.components = row.points = 1;
    row.metric = terms.metric;
    row.theorem = terms.theorem;
    rows.push_back(std::move(row));
  }
  return rows;
}

/// The bound of `formal` for another Gaussian: their distance is added.
Certificate moved_to(const GaussianMixture& mixture, const Certified& formal) {
  const Vector metric = Vector::Ones(mixture.dimension());
  const UpperBound squared =
      gaussian_transport_cost(formal.result.mixture.component(0), mixture.component(0), metric);
  Certificate certificate = formal.certificate;
  certificate.moved = UpperBound::exact(enlarged(std::sqrt(squared.upper)));
  certificate.add_up();
  return certificate;
}

}  // namespace

std::string graph_method_refusal(const Network& network) {
  if (network.graph() == nullptr) return "the network is no graph of operators";
  return graph_chain_refusal(*network.graph(), kLimits);
}

GraphMethod::GraphMethod(const Prepared& prepared)
    : prepared_(prepared),
      chain_(*prepared.network.graph(),
             {kLimits.most_dense, kLimits.tangent_bytes, prepared.services.cancel}) {}

Certified GraphMethod::certify(ConstVectorRef input) const {
  const Stopwatch watch;
  const Network::Features features = prepared_.network.features(input);
  GraphChain::Bound bound = chain_.certify(features.values.col(0), features.errors(0));
  Certified made;
  made.result.method = Method::Moment;
  made.result.mixture = GaussianMixture(std::move(bound.gaussian));
  // The layers in front of the first activation add rounding, and noise where inputs have some.
  made.certificate.first =
      UpperBound::exact(bound.output_rounding) + UpperBound::exact(bound.terms.front().upper());
  bound.terms.erase(bound.terms.begin());
  for (const GraphTerm& term : bound.terms) made.certificate.layers.push_back(terms_of(term));
  made.graph = GraphTrace{std::move(bound.terms)};
  made.certificate.add_up();
  made.result.layers = rows_of(made.certificate);
  attach_certificate(made.certificate, prepared_.options, Shortage::Method, made.result);
  made.result.seconds = watch.seconds();
  return made;
}

BoundContributions GraphMethod::explain(const Certified& made) {
  const auto& terms = made.graph->terms;
  BoundContributions all = contributions_of(made.certificate, [&](std::size_t k, const LayerTerms&) {
    RootParts root;
    root.parts.activations = Vector::Constant(1, terms[k].activations);
    root.parts.noise = Vector::Constant(1, terms[k].noise);
    return std::vector{std::move(root)};
  });
  for (std::size_t k = 0; k < terms.size(); ++k) {
    all.layers[k].title = terms[k].title;
    // No amounts by neuron: a form takes them together.
    for (Contribution& part : all.layers[k].parts) part.neurons = part.outputs = {};
  }
  return all;
}

void GraphMethod::tighten(ConstVectorRef input, Certified& made) const {
  if (made.result.mixture.size() != 1 || !made.result.w2.exists()) return;
  const Stopwatch watch;
  Certified formal;
  try {
    formal = certify(input);
  } catch (const InvalidArgument&) {
    return;  // numbers are too large for forms, which are squares: the other bound stands
  }
  Certified other = made;
  other.certificate = moved_to(made.result.mixture, formal);
  attach_certificate(other.certificate, prepared_.options, Shortage::Method, other.result);
  if (other.result.w2.value < made.result.w2.value) {
    made = std::move(other);
    made.result.layers = rows_of(made.certificate);
    made.graph = std::move(formal.graph);
  }
  made.result.seconds += watch.seconds();
}

void give_formal_bound(const Certified& formal, const Options& options, Result& result) {
  require(result.mixture.size() == 1, "its mixture has several components");
  const Certificate certificate = moved_to(result.mixture, formal);
  attach_certificate(certificate, options, Shortage::Method, result);
  result.layers = rows_of(certificate);
}

}  // namespace mixcert
