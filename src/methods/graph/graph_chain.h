// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Formal bounds of networks as graphs, without simulation and without matrices of convolutions:
// docs/theory/graphs.md (O.11) - (O.17). Network and Gaussian surrogate run with the same weights; what every
// activation, and the layers behind it up to the next, add to their difference is an exact second moment,
// carried to the output by quadratic forms.
#pragma once

#include <string>
#include <vector>

#include "methods/graph/graph_forms.h"
#include "methods/graph/graph_term.h"
#include "mixcert/mixture/gaussian_mixture.h"

namespace mixcert {

struct GraphChainLimits {
  Index most_dense = 3000;             ///< values of a node whose form is written out
  double tangent_bytes = 0x1.0p30;     ///< of all tangents that are kept at once
  const CancelFlag* cancel = nullptr;  ///< asked between nodes
};

/// Why a graph has no bound of this kind, in a sentence; empty: it has.
std::string graph_chain_refusal(const LayerGraph& graph, const GraphChainLimits& limits = {});

/// The most that tangents of nodes, those that are still needed, take together; of a graph in rounds of
/// pairs.
double most_tangent_bytes(const LayerGraph& graph);

class GraphChain {
 public:
  /// Throws InvalidArgument with the refusal.
  explicit GraphChain(const LayerGraph& graph, const GraphChainLimits& limits = {});
  GraphChain(const GraphChain&) = delete;
  GraphChain& operator=(const GraphChain&) = delete;

  struct Bound {
    Gaussian gaussian;
    double w2 = 0.0;               ///< no less than the distance of the output's law to `gaussian`
    std::vector<GraphTerm> terms;  ///< first that of the layers in front of all activations
    double output_rounding = 0.0;
  };
  /// `input` is off by at most `error`. Throws InvalidArgument where numbers are too large to be carried.
  [[nodiscard]] Bound certify(ConstVectorRef input, double error = 0.0) const;

 private:
  LayerGraph graph_;  ///< in rounds of pairs
  GraphForms forms_;
  const CancelFlag* cancel_;
};

}  // namespace mixcert
