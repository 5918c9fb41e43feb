// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Small random networks of every kind of layer, at an input each.
#pragma once

#include <cstdint>
#include <vector>

#include "mixcert/core/types.h"
#include "mixcert/network/ensemble.h"

namespace mixcert::testing {

struct LayerKindCase {
  const char* name;
  Ensemble ensemble;
  Vector input;
  bool has_density;  ///< is the output's law smooth, so that points may not stand for it?
  double tolerance;  ///< what auto's deviations may be off by, beside sampling
};

/// Three outputs each.
std::vector<LayerKindCase> layer_kind_cases(std::uint64_t seed);

}  // namespace mixcert::testing
