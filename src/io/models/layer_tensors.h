// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The tensors of layers in a model file, in both directions.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "io/formats/safetensors.h"
#include "io/models/architecture.h"
#include "mixcert/io/array.h"
#include "mixcert/network/layer_spec.h"

namespace mixcert::io {

/// Every name that tensors of the layers, also of those inside other layers, may have; FileError where two
/// layers may own one.
std::vector<std::string> owned_names(const std::vector<LayerEntry>& layers, const std::string& file);
/// Ends of the names of a dense layer's tensors, and of those of an independent kernel with its bias.
std::span<const std::string_view> dense_tensor_endings();
std::span<const std::string_view> kernel_tensor_endings();

/// Which family is meant follows from which tensors are there; FileError where they contradict each other or
/// a shape is wrong, InvalidArgument where DenseLayer refuses the values.
DenseLayer read_dense(const SafetensorsReader& reader, const DenseEntry& entry);
std::vector<LayerSpec> read_layers(const SafetensorsReader& reader, const std::vector<LayerEntry>& layers);

/// Adds the tensors of all layers to `tensors`; InvalidArgument where two layers want one name.
void add_tensors(const std::vector<LayerSpec>& layers, std::map<std::string, Array>& tensors);
void add_dense_tensors(const DenseLayer& layer, std::map<std::string, Array>& tensors);

}  // namespace mixcert::io
