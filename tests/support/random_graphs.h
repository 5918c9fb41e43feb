// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Random graphs of layers: sums, concatenations, values that several layers see, heads that meet at the end.
#pragma once

#include <cstdint>
#include <vector>

#include "mixcert/network/layer_spec.h"

namespace mixcert::testing {

struct RandomGraph {
  std::vector<LayerSpec> layers;
  LayerShape input;
};

/// Deviations of weights are `noise` times their size; zero: all is deterministic. One or two outputs.
RandomGraph random_graph(std::uint64_t seed, bool is_image, double noise);

/// The same list with a name and the input of every entry written out: a chain as a graph.
std::vector<LayerSpec> written_as_graph(std::vector<LayerSpec> chain);

}  // namespace mixcert::testing
