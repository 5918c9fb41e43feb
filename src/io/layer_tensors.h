// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The tensors of one dense layer in a model file, in both directions.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "io/architecture.h"
#include "mixcert/io/array.h"
#include "mixcert/io/safetensors.h"
#include "mixcert/network/dense_layer.h"

namespace mixcert::io {

/// Every name that a layer called `layer` may use.
std::vector<std::string> layer_tensor_names(const std::string& layer);

/// Which family is meant follows from which tensors are there; FileError where they
/// contradict each other or a shape is wrong, InvalidArgument where DenseLayer refuses
/// the values.
DenseLayer read_layer(const SafetensorsReader& reader, const DenseEntry& entry);

/// Adds the layer's tensors to `tensors`.
void add_layer_tensors(const DenseLayer& layer, std::map<std::string, Array>& tensors);

}  // namespace mixcert::io
