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

/// What a random graph may hold beside convolutions, independent weights, scales, blocks, sums and
/// concatenations behind relu, tanh and leaky_relu.
enum class GraphParts {
  Plain,      ///< no more
  Operators,  ///< all that a graph of operators has: every activation, pools, batch norm, masks, noise, heads
  AnyLaw,     ///< mixtures, and weights of every family and shape, too; some have no canonical form
};

/// Deviations of weights are `noise` times their size; zero: all is deterministic. One to three outputs.
RandomGraph random_graph(std::uint64_t seed, bool is_image, double noise,
                         GraphParts parts = GraphParts::Plain);

/// A list without names, in which every entry sees the one before.
RandomGraph random_chain(std::uint64_t seed, bool is_image, double noise, GraphParts parts);

/// The same list with a name and the input of every entry written out: a chain as a graph.
std::vector<LayerSpec> written_as_graph(std::vector<LayerSpec> chain);

}  // namespace mixcert::testing
