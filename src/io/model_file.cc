// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Loading and saving networks.
#include "mixcert/io/model_file.h"

#include <algorithm>
#include <new>
#include <set>

#include "io/architecture.h"
#include "io/file_error.h"
#include "io/layer_tensors.h"
#include "mixcert/core/error.h"
#include "mixcert/io/safetensors.h"

namespace mixcert {
namespace {

constexpr const char* kFormat = "mixcert-network";

std::string metadata_entry(const SafetensorsReader& reader, const std::string& key) {
  const auto found = reader.metadata().find(key);
  if (found == reader.metadata().end())
    io::bad_file(reader.label(), "__metadata__", "entry '" + key + "'", "none");
  return found->second;
}

/// Each tensor belongs to exactly one layer.
void check_claims(const SafetensorsReader& reader, const io::Architecture& architecture) {
  std::set<std::string> known;
  for (const io::DenseEntry& layer : architecture.layers) {
    for (const std::string& name : io::layer_tensor_names(layer.name)) {
      if (known.insert(name).second) continue;
      io::bad_file(reader.label(), "architecture", "layer names that cannot be confused",
                   "two layers that may own tensor " + io::in_quotes(name));
    }
  }
  for (const auto& [name, info] : reader.tensors()) {
    if (known.contains(name)) continue;
    io::bad_file(reader.label(), "tensor " + io::in_quotes(name),
                 "tensors of single layers (layers are independent of each other)",
                 "one that no layer of the architecture has");
  }
}

/// Values are held twice while one tensor is put in place.
void check_total_memory(const SafetensorsReader& reader) {
  double total = 0.0;
  double largest = 0.0;
  for (const auto& [name, info] : reader.tensors()) {
    const double bytes = 8.0 * static_cast<double>(io::element_count(info.shape).value_or(0));
    total += bytes;
    largest = std::max(largest, bytes);
  }
  io::check_memory(reader.label(), "the network", total + largest, reader.limits().max_bytes);
}

Network build_network(const SafetensorsReader& reader) {
  const std::string format = metadata_entry(reader, "format");
  if (format != kFormat) {
    io::bad_file(reader.label(), "__metadata__.format", io::in_quotes(kFormat), io::in_quotes(format));
  }
  io::Architecture architecture =
      io::parse_architecture(metadata_entry(reader, "architecture"), reader.label());
  check_claims(reader, architecture);
  check_total_memory(reader);
  std::vector<DenseLayer> layers;
  try {
    for (const io::DenseEntry& entry : architecture.layers) layers.push_back(io::read_layer(reader, entry));
    return {std::move(layers), std::move(architecture.activations)};
  } catch (const InvalidArgument& error) {
    throw FileError(reader.label() + ": " + error.what());
  } catch (const std::bad_alloc&) {
    throw ResourceError(reader.label() + ": not enough memory for the network");
  }
}

}  // namespace

Network load_network(const std::filesystem::path& path, const ReadLimits& limits) {
  return build_network(SafetensorsReader(path, limits));
}

Network parse_network(std::span<const std::byte> bytes, const std::string& label, const ReadLimits& limits) {
  return build_network(SafetensorsReader(bytes, label, limits));
}

void save_network(const std::filesystem::path& path, const Network& network,
                  std::map<std::string, std::string> metadata) {
  std::map<std::string, Array> tensors;
  std::set<std::string> names;
  for (Index k = 0; k < network.layer_count(); ++k) {
    const DenseLayer& layer = network.layer(k);
    for (const std::string& name : io::layer_tensor_names(layer.name())) {
      require(
          names.insert(name).second,
          "save_network: expected layer names that differ, got two layers that own " + io::in_quotes(name));
    }
    io::add_layer_tensors(layer, tensors);
  }
  metadata["format"] = kFormat;
  metadata["architecture"] = io::architecture_text(network);
  write_safetensors(path, tensors, metadata);
}

}  // namespace mixcert
