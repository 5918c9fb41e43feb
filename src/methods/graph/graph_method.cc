// Licensed under the Apache License, Version 2.0; see LICENSE.
#include "methods/graph/graph_method.h"

#include <cmath>
#include <utility>

#include "mixcert/core/error.h"
#include "mixcert/transport/gaussian_transport.h"

namespace mixcert {
namespace {

/// Tangents of one input, of which every thread has its own.
constexpr GraphChainLimits kLimits{.most_dense = 3000, .tangent_bytes = 0x1.0p28};

LayerTerms terms_of(const GraphChain::Term& term) {
  LayerTerms terms;
  terms.local = terms.local_w1 = UpperBound::exact(term.upper());
  terms.metric = "forms";
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

}  // namespace

std::string graph_method_refusal(const Network& network) {
  if (network.graph() == nullptr) return "the network is no graph of operators";
  return graph_chain_refusal(*network.graph(), kLimits);
}

GraphMethod::GraphMethod(const Prepared& prepared)
    : prepared_(prepared), chain_(*prepared.network.graph(), kLimits) {}

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
  for (std::size_t i = 1; i < bound.terms.size(); ++i)
    made.certificate.layers.push_back(terms_of(bound.terms[i]));
  made.certificate.add_up();
  made.result.layers = rows_of(made.certificate);
  attach_certificate(made.certificate, prepared_.options, Shortage::Method, made.result);
  made.result.seconds = watch.seconds();
  return made;
}

void give_formal_bound(const Certified& formal, const Options& options, Result& result) {
  require(result.mixture.size() == 1, "its mixture has several components");
  const Vector metric = Vector::Ones(result.mixture.dimension());
  const UpperBound squared =
      gaussian_transport_cost(formal.result.mixture.component(0), result.mixture.component(0), metric);
  Certificate certificate = formal.certificate;
  certificate.first.upper = enlarged(certificate.first.upper + std::sqrt(squared.upper));
  certificate.add_up();
  attach_certificate(certificate, options, Shortage::Method, result);
  result.layers = rows_of(certificate);
}

}  // namespace mixcert
