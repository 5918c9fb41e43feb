// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// One output behind dropout: docs/theory/dropout-laws.md (D.7), from a network and its trace to the masked
// sum and back.
#pragma once

#include <memory>
#include <optional>

#include "methods/moment/theorem.h"
#include "theorems/output_law/lattice_law.h"
#include "theorems/output_law/line_mixture.h"

namespace mixcert {

/// The output is mean + (sum less its mean) + noise g, g a standard normal that is independent of the masks,
/// but for `moved`.
struct MaskedOutput {
  MaskedSum sum;
  double mean = 0.0;
  double mean_error = 0.0;
  double noise = 0.0;
  double moved = 0.0;  ///< W2: what neurons and weights add to the masks' randomness, and rounding
};

/// Of the last hidden layer's one piece; the mask is Bernoulli and there is one output.
MaskedOutput masked_output(const Situation& situation);

/// No less than W2 between the output and the mixture on the line as it is stored.
UpperBound masked_distance(const MaskedOutput& output, const LatticeLaw& law, const GaussianMixture& mixture);

/// The law of the output for answers (U.20); null where there is noise beside the masks.
std::shared_ptr<OutputDistribution> kept_lattice(const MaskedOutput& output, const LatticeLaw& law);

/// The law as a fit sees it, in deviations of the sum; a choice.
FitTarget fit_target(const LatticeLaw& law);

/// Distances of the trace's output and, where it is clearly closer, of a fitted mixture (D.7).
OutputFit fit_masked_output(const Situation& situation, Index most, double wanted);

}  // namespace mixcert
