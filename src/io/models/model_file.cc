// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Loading and saving networks.
#include "mixcert/io/model_file.h"

#include <algorithm>
#include <new>

#include "io/files/file_error.h"
#include "io/formats/safetensors.h"
#include "io/models/architecture.h"
#include "io/models/layer_tensors.h"
#include "mixcert/core/error.h"
#include "mixcert/network/layer_spec.h"
#include "mixcert/network/network_builder.h"

namespace mixcert {
namespace {

constexpr const char* kFormat = "mixcert-network";
constexpr const char* kAssumptions = "assumptions";
constexpr std::size_t kMaxAssumptions = 4096;  // bytes

std::string metadata_entry(const SafetensorsReader& reader, const std::string& key) {
  const auto found = reader.metadata().find(key);
  if (found == reader.metadata().end())
    io::bad_file(reader.label(), "__metadata__", "entry '" + key + "'", "none");
  return found->second;
}

/// Each tensor belongs to exactly one layer.
void check_claims(const SafetensorsReader& reader, const std::vector<io::LayerEntry>& architecture) {
  const std::vector<std::string> known = io::owned_names(architecture, reader.label());  // sorted
  for (const auto& [name, info] : reader.tensors()) {
    if (std::binary_search(known.begin(), known.end(), name)) continue;
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

/// What `work` finds wrong is wrong with the file.
template <class Work>
auto blaming_the_file(const std::string& file, Work work) {
  try {
    return work();
  } catch (const InvalidArgument& error) {
    throw FileError(file + ": " + error.what());
  } catch (const ResourceError& error) {
    if (std::string_view(error.what()).starts_with(file)) throw;
    throw ResourceError(file + ": " + error.what());
  } catch (const std::bad_alloc&) {
    throw ResourceError(file + ": not enough memory for the network");
  }
}

std::vector<LayerSpec> read_specs(const SafetensorsReader& reader) {
  const std::string format = metadata_entry(reader, "format");
  if (format != kFormat) {
    io::bad_file(reader.label(), "__metadata__.format", io::in_quotes(kFormat), io::in_quotes(format));
  }
  const std::vector<io::LayerEntry> architecture =
      io::parse_architecture(metadata_entry(reader, "architecture"), reader.label());
  check_claims(reader, architecture);
  check_total_memory(reader);
  return blaming_the_file(reader.label(), [&] {
    std::vector<LayerSpec> layers = io::read_layers(reader, architecture);
    (void)layer_shapes(layers);  // checks what needs the tensors
    return layers;
  });
}

BuildLimits build_limits(const ReadLimits& limits) {
  BuildLimits result;
  result.max_bytes = std::min(result.max_bytes, limits.max_bytes);
  return result;
}

Network read_network(const SafetensorsReader& reader) {
  const std::vector<LayerSpec> layers = read_specs(reader);
  return blaming_the_file(reader.label(),
                          [&] { return build_network(layers, {}, build_limits(reader.limits())); });
}

/// The layers of a network as save_network keeps them.
std::vector<LayerSpec> layers_of(const Network& network) {
  require(network.front() == nullptr,
          "save_network: expected a network without layers evaluated in front, got one with");
  std::vector<LayerSpec> layers;
  for (Index k = 0; k < network.layer_count(); ++k) {
    const ActivationMap& activation = network.activation(k);
    require(activation.is_uniform(),
            "save_network: expected one activation for all neurons of a layer, got several");
    if (activation.common().function() != ActivationFunction::Identity) {
      layers.emplace_back(ActivationSpec{activation.common()});
    }
    const Mask& mask = network.mask(k);
    if (mask.kind() == Mask::Kind::Bernoulli) layers.emplace_back(DropoutSpec{mask.rate()});
    if (mask.kind() == Mask::Kind::Gaussian) layers.emplace_back(GaussianDropoutSpec{mask.rate()});
    layers.emplace_back(DenseSpec{network.layer(k)});
  }
  return layers;
}

}  // namespace

std::vector<LayerSpec> load_layers(const std::filesystem::path& path, const ReadLimits& limits) {
  return read_specs(SafetensorsReader(path, limits));
}

std::vector<LayerSpec> parse_layers(std::span<const std::byte> bytes, const std::string& label,
                                    const ReadLimits& limits) {
  return read_specs(SafetensorsReader(bytes, label, limits));
}

Ensemble load_ensemble(const std::filesystem::path& path, const ReadLimits& limits, const InputNoise& noise) {
  const SafetensorsReader reader(path, limits);
  const std::vector<LayerSpec> layers = read_specs(reader);
  return blaming_the_file(reader.label(),
                          [&] { return build_ensemble(layers, noise, build_limits(limits)); });
}

Network load_network(const std::filesystem::path& path, const ReadLimits& limits) {
  return read_network(SafetensorsReader(path, limits));
}

Network parse_network(std::span<const std::byte> bytes, const std::string& label, const ReadLimits& limits) {
  return read_network(SafetensorsReader(bytes, label, limits));
}

std::vector<std::string> load_assumptions(const std::filesystem::path& path) {
  const SafetensorsReader reader(path);
  const auto found = reader.metadata().find(kAssumptions);
  std::vector<std::string> assumptions;
  if (found == reader.metadata().end()) return assumptions;
  const std::string& text = found->second;
  const bool printable =
      std::all_of(text.begin(), text.end(), [](char c) { return c == '\n' || (c >= 0x20 && c < 0x7F); });
  if (!printable || text.size() > kMaxAssumptions) {
    io::bad_file(reader.label(), "__metadata__.assumptions",
                 "printable text of at most " + std::to_string(kMaxAssumptions) + " bytes", "another");
  }
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    if (end > begin) assumptions.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return assumptions;
}

std::string assumptions_text(const std::vector<std::string>& assumptions) {
  std::string text;
  for (const std::string& assumption : assumptions) text += (text.empty() ? "" : "\n") + assumption;
  return text;
}

void save_layers(const std::filesystem::path& path, const std::vector<LayerSpec>& layers,
                 std::map<std::string, std::string> metadata) {
  (void)layer_shapes(layers);
  metadata["format"] = kFormat;
  metadata["architecture"] = io::architecture_text(layers);
  try {  // what could not be read back is not written
    const std::string label = "save_layers";
    (void)io::owned_names(io::parse_architecture(metadata["architecture"], label), label);
  } catch (const FileError& error) {
    throw InvalidArgument(error.what());
  }
  std::map<std::string, Array> tensors;
  io::add_tensors(layers, tensors);
  write_safetensors(path, tensors, metadata);
}

void save_network(const std::filesystem::path& path, const Network& network,
                  std::map<std::string, std::string> metadata) {
  save_layers(path, layers_of(network), std::move(metadata));
}

}  // namespace mixcert
