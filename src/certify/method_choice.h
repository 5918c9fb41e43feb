// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Which methods apply to a network with given options: as a graph of operators or written out, by draws or
// formally.
#pragma once

#include "mixcert/certificate/options.h"
#include "mixcert/network/network.h"

namespace mixcert {

/// Does the certificate carry errors in metrics? The paper's and the scalar constants are the signature
/// method's.
bool uses_metrics(const Options& options);

/// Is the network's law made of draws alone: asked for, or because its layers keep their structure and bounds
/// by simulation are wanted?
bool is_coupled(const Network& network, const Options& options);

/// Is the network certified formally as the graph that it is (O.15)?
bool is_formal_graph(const Network& network, const Options& options);

/// One of both: nothing may ask for its canonical form, which would write matrices out.
bool stays_graph(const Network& network, const Options& options);

/// May its graph be closer than its canonical form? Forms are two to eight times closer than the canonical
/// network's metrics wherever weights are shared; behind one activation theorems about the law of the output
/// are closer still.
bool may_be_closer_as_graph(const Network& network, const Options& options);

}  // namespace mixcert
