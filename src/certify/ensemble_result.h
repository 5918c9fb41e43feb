// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// One result of several networks: the weighted union of their mixtures, and the bound of the mixture of their
// laws, docs/theory/ensembles.md (B.1), (B.2).
#pragma once

#include <vector>

#include "mixcert/certificate/options.h"
#include "mixcert/certificate/result.h"

namespace mixcert {

/// `results`: one per member, of the same input; `weights` positive, summing to one up to rounding.
Result combine_results(std::vector<Result> results, const Vector& weights, const Options& options);

}  // namespace mixcert
