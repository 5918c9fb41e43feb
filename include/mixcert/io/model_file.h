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

#include "mixcert/io/array.h"
#include "mixcert/network/network.h"

namespace mixcert {

/// Throws FileError naming file, field, expected and got; ResourceError saying how much
/// memory the file needs, before it is allocated.
Network load_network(const std::filesystem::path& path, const ReadLimits& limits = {});
/// The same from memory; `label` stands for the file name in messages.
Network parse_network(std::span<const std::byte> bytes, const std::string& label,
                      const ReadLimits& limits = {});

/// Writes all tensors as F64, atomically. `metadata` is kept beside the format's own
/// entries. Throws InvalidArgument where two layers have one name.
void save_network(const std::filesystem::path& path, const Network& network,
                  std::map<std::string, std::string> metadata = {});

}  // namespace mixcert
