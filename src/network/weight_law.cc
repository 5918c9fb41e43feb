// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Names of the weight and bias families.
#include "mixcert/network/weight_law.h"

#include "core/overloaded.h"

namespace mixcert {

std::string_view family_name(const WeightCovariance& law) {
  return std::visit(
      Overloaded{[](const DeterministicWeights&) -> std::string_view { return "deterministic"; },
                 [](const MeanFieldWeights&) -> std::string_view { return "mean-field"; },
                 [](const KroneckerWeights&) -> std::string_view { return "kronecker"; },
                 [](const KroneckerEigenbasisWeights&) -> std::string_view { return "kronecker-eigenbasis"; },
                 [](const LowRankWeights&) -> std::string_view { return "diagonal-plus-low-rank"; },
                 [](const FullWeights&) -> std::string_view { return "full"; },
                 [](const JointWeights&) -> std::string_view { return "full-with-bias"; },
                 [](const SharedWeights&) -> std::string_view { return "shared"; }},
      law);
}

std::string_view family_name(const BiasCovariance& law) {
  return std::visit(Overloaded{[](const DeterministicBias&) -> std::string_view { return "deterministic"; },
                               [](const IndependentBias&) -> std::string_view { return "independent"; },
                               [](const CorrelatedBias&) -> std::string_view { return "correlated"; }},
                    law);
}

}  // namespace mixcert
