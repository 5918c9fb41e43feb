// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// A chain whose output has the mean and the deviations that draws say: at depth the moment method's are off
// by several per cent, docs/theory/simulation.md (F.13).
#pragma once

#include <optional>

#include "methods/moment/second_order.h"
#include "mixture/stretched_mixture.h"
#include "simulated/coupled_paths.h"

namespace mixcert {

/// Mean and variances of the outputs: the chain's own, and the difference of both sides from draws.
OutputMoments simulated_output_moments(const CoupledChain& chain, const CoupledOutputs& draws);

struct StretchedChain {
  CoupledChain chain;
  StretchedMixture output;  ///< its Gaussian, and how far that is from the first chain's
};

/// `own` is the Gaussian of the chain. Nothing where it is as good already.
std::optional<StretchedChain> with_simulated_moments(const CoupledChain& chain, const GaussianMixture& own,
                                                     const CoupledOutputs& draws);

}  // namespace mixcert
