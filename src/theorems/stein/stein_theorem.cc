// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Row (Y.9) of the table of theorems. For one output (Y.1) is next to exact.
#include "theorems/stein/stein_distance.h"
#include "theorems/theorem_table.h"

namespace mixcert {
namespace {

bool sharpen_by_stein(const Situation& situation, Index /*layer*/, Certificate& certificate) {
  return take_smaller(distance_over_pieces(situation, stein_distance), "Y.9", certificate.layers.back());
}

}  // namespace

Theorem stein_theorem() {
  return {
      "Y.9",
      "sum of independent neurons",
      "stein.md",
      {precondition::kLastLayer,
       precondition::kUnmasked,
       precondition::kFewComponents,
       precondition::kIndependentNext,
       precondition::kIndependentNeurons,
       precondition::kNeuronNodes,
       {"neurons times outputs to the fourth power are at most 4e7",
        [](const Situation& at, Index) { return stein_work(at.network.layer(at.depth)) <= kMostSteinWork; }},
       {"the output's covariance is far from singular", nullptr}},
      sharpen_by_stein,
      nullptr,
      "Y.1"};
}

}  // namespace mixcert
