// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The theorems that may bound a local term of the moment method, and what each of them needs: the one place
// where method auto decides whether a theorem may be used. Proofs: docs/theory.
#pragma once

#include <string_view>
#include <vector>

#include "mixcert/certify/moment_trace.h"
#include "mixcert/network/network.h"

namespace mixcert {

/// Hidden layer `layer` (1..K), whose local term a theorem would bound. The network has it, and the trace is
/// the network's.
struct TheoremSite {
  const Network& network;
  const MomentTrace& trace;
  Index layer;

  [[nodiscard]] const MomentLayerTrace& traced() const {
    return trace.layers[static_cast<std::size_t>(layer - 1)];
  }
  /// The layer behind the activations.
  [[nodiscard]] const DenseLayer& next() const { return network.layer(layer); }
};

struct Precondition {
  const char* sentence;
  /// Null: only the theorem's own computation can tell; its bound is infinite where the sentence is false.
  bool (*holds)(const TheoremSite& site);
};

struct Theorem {
  const char* id;    ///< number in docs/theory, as in LayerTerms::theorem
  const char* name;  ///< for readers
  std::vector<Precondition> preconditions;

  /// Do all preconditions hold that can be told beforehand?
  [[nodiscard]] bool may_hold(const TheoremSite& site) const;
};

const std::vector<Theorem>& theorem_table();
/// Throws InvalidArgument where there is no such theorem.
const Theorem& theorem(std::string_view id);

}  // namespace mixcert
