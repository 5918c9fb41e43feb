// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Convolutional networks that tests of simulation have in common.
#pragma once

#include <cstdint>
#include <string>

#include "mixcert/core/rng.h"
#include "network/graph/graph_paths.h"

namespace mixcert::testing {

struct GraphCase {
  LayerGraph graph;
  Vector input;
};

/// He-scaled means, deviations `noise` times their size.
Conv2dSpec convolution(Generator& generator, const LayerShape& shape, Index out, Index kernel, Index padding,
                       double noise, const std::string& name);
DenseSpec dense(Generator& generator, Index inputs, Index outputs, double noise, const std::string& name);
LayerSpec pool(bool is_maximum, Index size);

/// conv, relu or tanh, a residual block or none, a pool, dense: two outputs.
GraphCase small_graph_case(std::uint64_t seed);
/// One of every kind of layer that images have, in random order and of random geometry; one to three outputs.
GraphCase random_case(std::uint64_t seed);
/// The same with masks of every kind, also inside residual blocks.
GraphCase masked_random_case(std::uint64_t seed);
/// conv, relu, `mask`, dense.
GraphCase masked_case(std::uint64_t seed, const LayerSpec& mask, Index outputs);
/// 1 x 28 x 28, two convolutions with pooling, three dense layers; a picture for them.
std::vector<LayerSpec> lenet_layers(double noise, bool is_maximum);
Vector lenet_input();
GraphCase lenet(double noise, bool is_maximum);

/// The slope of all outputs in all normals at a draw, by differences: outputs x normals.
Matrix naive_slopes(const GraphCase& at, BlockRandomness randomness);

}  // namespace mixcert::testing
