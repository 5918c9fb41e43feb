// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Which methods apply to a network with given options.
#include "certify/method_choice.h"

#include "methods/graph/graph_method.h"
#include "network/graph/layer_graph.h"

namespace mixcert {
namespace {

/// Entries of matrices with which a formal bound takes no more than seconds.
constexpr double kSmallMatrices = 0x1.0p20;

/// Can the network be certified as a graph (O.15)?
bool allows_graph(const Network& network, const Options& options) {
  const bool is_moment = options.method == Method::Moment || options.method == Method::Auto;
  if (network.graph() == nullptr || !is_moment || options.joint || options.simulate || !uses_metrics(options))
    return false;
  return options.predictive == Predictive::Network && graph_method_refusal(network).empty();
}

}  // namespace

bool uses_metrics(const Options& options) {
  return options.certificate == CertificateMode::Best || options.certificate == CertificateMode::Metric;
}

bool is_coupled(const Network& network, const Options& options) {
  if (options.method == Method::Coupled) return true;
  const LayerGraph* graph = network.graph();
  if (options.method != Method::Auto || !options.simulate || graph == nullptr) return false;
  // What cannot be written as a canonical network has no other method, and masks have no other simulation.
  if (!graph->has_canonical_form() || graph->has_masks()) return true;
  // Behind one hidden layer single outputs have better bounds (F.17).
  const bool is_line = graph->nonlinear_count() == 1 && (graph->outputs() == 1 || options.marginals);
  return graph->has_shared_noise() && !is_line;
}

bool may_be_closer_as_graph(const Network& network, const Options& options) {
  if (!allows_graph(network, options) || options.epsilon || options.pieces > 1) return false;
  return network.graph()->has_shared_noise() && network.graph()->nonlinear_count() > 1;
}

bool is_formal_graph(const Network& network, const Options& options) {
  if (!allows_graph(network, options)) return false;
  const LayerGraph& graph = *network.graph();
  return graph.written_out() > kSmallMatrices || !graph.has_canonical_form();
}

bool stays_graph(const Network& network, const Options& options) {
  return is_coupled(network, options) || is_formal_graph(network, options);
}

}  // namespace mixcert
