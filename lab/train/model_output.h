// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Trained networks as files: dense layers as docs/model-format.md has them, backbones and dropout as
// docs/training.md describes.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "mixcert/network/network.h"
#include "train/stack_net.h"

namespace mixcert::lab {

using Metadata = std::map<std::string, std::string>;

/// The law of the parameters of the dense layers, or of the convolutions; an empty variance: exactly the
/// mean.
struct ParameterLaw {
  FloatVector mean;
  FloatVector variance;
};

/// Layers "0", "1", .., activations and dropout.
void write_dense_network(const std::filesystem::path& path, const DenseNet& net, const ParameterLaw& law,
                         const Metadata& metadata);

/// Convolutions alone, not random: tensors NAME.weight [out, in, kernel, kernel] and NAME.bias [out].
void write_backbone(const std::filesystem::path& path, const ConvNet& conv, const float* parameters,
                    const Metadata& metadata);
/// Throws FileError where a tensor is missing or has another shape.
FloatVector read_backbone(const std::filesystem::path& path, const ConvNet& conv);

/// Backbone, dense layers and dropout in one file. The network must have convolutions.
void write_full_network(const std::filesystem::path& path, const StackNet& net, const ParameterLaw& kernels,
                        const ParameterLaw& dense, const Metadata& metadata);

/// "net.safetensors" with "features.npy" gives "net.features.npy".
std::filesystem::path sibling(const std::filesystem::path& out, const std::string& ending);

}  // namespace mixcert::lab
