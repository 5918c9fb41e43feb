// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The text of mixcert explain: which layer, source and neurons make the bound, and what other options gave.
#pragma once

#include <string>
#include <vector>

#include "mixcert/certify/explain.h"
#include "mixcert/certify/trial.h"

namespace mixcert {

/// Neurons by what they add, largest first, `top` at most; and how many of them make half of the whole.
struct LargestNeurons {
  std::vector<Index> neurons;
  Index half = 0;
};
LargestNeurons largest_neurons(ConstVectorRef amounts, Index top);

/// A table of layers and sources with the largest neurons of each, then the main points in words.
std::string contributions_text(const Explanation& explanation, Index top);

/// A table of trials, smallest bound first, then the advice in words. The first trial is the present one.
std::string trials_text(const std::vector<Trial>& trials);

}  // namespace mixcert
