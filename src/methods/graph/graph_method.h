// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Formal bounds of networks that stay graphs of operators (graph_chain.h), as a method: for those whose
// matrices, written out, would be large.
#pragma once

#include "methods/approximation_method.h"
#include "methods/graph/graph_chain.h"
#include "methods/prepared.h"

namespace mixcert {

/// Why the network has no bound of this kind; empty: it has.
std::string graph_method_refusal(const Network& network);

class GraphMethod {
 public:
  /// `prepared` must outlive this; its network has a graph.
  explicit GraphMethod(const Prepared& prepared);

  [[nodiscard]] Certified certify(ConstVectorRef input) const;
  /// Gives another method's result, one Gaussian, the graph's bound for it where that is smaller.
  void tighten(ConstVectorRef input, Certified& made) const;
  /// Where the bound of what certify() or tighten() returned comes from (X.1), a layer for each activation.
  [[nodiscard]] static BoundContributions explain(const Certified& made);

 private:
  const Prepared& prepared_;
  GraphChain chain_;
};

/// Gives the result of draws the bound of `formal`: the distance of the two Gaussians is added.
void give_formal_bound(const Certified& formal, const Options& options, Result& result);

}  // namespace mixcert
