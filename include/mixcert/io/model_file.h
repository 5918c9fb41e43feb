// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Networks as safetensors files, docs/model-format.md. Layers are independent of each
// other: a tensor that belongs to no layer is refused, not ignored.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "mixcert/io/array.h"
#include "mixcert/network/ensemble.h"
#include "mixcert/network/input_noise.h"
#include "mixcert/network/layer_spec.h"
#include "mixcert/network/network.h"

namespace mixcert {

/// The layers as the file lists them. Throws FileError naming file, field, expected and got; ResourceError
/// saying how much memory the file needs, before it is allocated.
std::vector<LayerSpec> load_layers(const std::filesystem::path& path, const ReadLimits& limits = {});
/// The same from memory; `label` stands for the file name in messages.
std::vector<LayerSpec> parse_layers(std::span<const std::byte> bytes, const std::string& label,
                                    const ReadLimits& limits = {});

/// The networks that the layers and a noise on the input make (network_builder.h). Layers written out as
/// matrices may take limits.max_bytes, at most 2 GiB.
Ensemble load_ensemble(const std::filesystem::path& path, const ReadLimits& limits = {},
                       const InputNoise& noise = {});
/// The same where the file holds no mixtures; FileError otherwise.
Network load_network(const std::filesystem::path& path, const ReadLimits& limits = {});
Network parse_network(std::span<const std::byte> bytes, const std::string& label,
                      const ReadLimits& limits = {});

/// Writes all tensors as F64, atomically. `metadata` is kept beside the format's own
/// entries. Throws InvalidArgument where the layers do not fit or could not be told apart by their names.
void save_layers(const std::filesystem::path& path, const std::vector<LayerSpec>& layers,
                 std::map<std::string, std::string> metadata = {});
/// What was assumed when a file was made (import_weights says it), one entry per assumption: metadata
/// `assumptions`, one line each. Empty for most files.
std::vector<std::string> load_assumptions(const std::filesystem::path& path);
std::string assumptions_text(const std::vector<std::string>& assumptions);
/// A network of dense layers, activations and dropout; InvalidArgument for others (they are kept as layers).
void save_network(const std::filesystem::path& path, const Network& network,
                  std::map<std::string, std::string> metadata = {});

}  // namespace mixcert
