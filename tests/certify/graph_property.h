// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Certificates of random graphs, against samples. The quick and the heavy test differ in numbers only.
#pragma once

#include "mixcert/core/types.h"

namespace mixcert::testing {

/// Graphs from number `first` on with `samples` samples each, and a summary line at the end.
void check_graphs(Index first, Index graphs, Index samples);

/// Chains, and the same written with names: all that certification and simulation return, bit by bit.
void check_chains(Index chains, Index samples);

}  // namespace mixcert::testing
