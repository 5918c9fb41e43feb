// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Safetensors files. Reading: everything the header says is checked against the size of the file before any
// tensor is read.
#include "io/formats/safetensors.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "io/files/atomic_file.h"
#include "io/files/byte_source.h"
#include "io/files/file_error.h"
#include "io/files/strict_json.h"
#include "io/formats/elements.h"
#include "mixcert/core/error.h"

namespace mixcert {
namespace {

using nlohmann::json;

constexpr std::uint64_t kMaxHeaderBytes = std::uint64_t{100} << 20U;
constexpr std::uint64_t kLengthBytes = 8;
constexpr std::size_t kMaxRank = 8;
/// Memory of a parsed header per byte of its text; the densest text tried took 27.
constexpr double kTreeExpansion = 32.0;

/// Bytes per element; nothing for types we do not know, whose sizes are not checked.
std::optional<std::uint64_t> element_bytes(const std::string& dtype) {
  static const std::map<std::string, std::uint64_t, std::less<>> kBytes = {
      {"F64", 8}, {"I64", 8},  {"U64", 8}, {"F32", 4}, {"I32", 4}, {"U32", 4},  {"F16", 2},
      {"I16", 2}, {"BF16", 2}, {"U16", 2}, {"I8", 1},  {"U8", 1},  {"BOOL", 1},
  };
  const auto found = kBytes.find(dtype);
  return found == kBytes.end() ? std::nullopt : std::optional(found->second);
}

std::map<std::string, std::string> parse_metadata(const json& value, const std::string& file) {
  const std::string field = "safetensors header '__metadata__'";
  if (!value.is_object()) io::bad_file(file, field, "a JSON object", io::json_text(value));
  std::map<std::string, std::string> metadata;
  for (const auto& item : value.items()) {
    metadata.emplace(item.key(), io::json_string(value, item.key(), file, field));
  }
  return metadata;
}

std::vector<Index> parse_sizes(const json& tensor, const char* key, std::size_t least, std::size_t most,
                               const std::string& file, const std::string& field) {
  const auto found = tensor.find(key);
  if (found == tensor.end() || !found->is_array() || found->size() < least || found->size() > most) {
    io::bad_file(file, field + ": " + key,
                 "a list of " + std::to_string(least) + " to " + std::to_string(most) + " integers",
                 found == tensor.end() ? "none" : io::json_text(*found));
  }
  std::vector<Index> sizes;
  for (const json& size : *found) sizes.push_back(io::json_size(size, file, field + ": " + key));
  return sizes;
}

TensorInfo parse_tensor(const json& value, std::uint64_t data_begin, std::uint64_t file_size,
                        const std::string& file, const std::string& field) {
  io::require_keys(value, {"dtype", "shape", "data_offsets"}, file, field);
  TensorInfo info;
  info.dtype = io::json_string(value, "dtype", file, field);
  info.shape = parse_sizes(value, "shape", 0, kMaxRank, file, field);
  const std::vector<Index> offsets = parse_sizes(value, "data_offsets", 2, 2, file, field);
  const auto begin = static_cast<std::uint64_t>(offsets[0]);
  const auto end = static_cast<std::uint64_t>(offsets[1]);
  if (begin > end || end > file_size - data_begin) {
    io::bad_file(file, field + ": data_offsets",
                 "begin <= end <= " + std::to_string(file_size - data_begin) + " (bytes of data in the file)",
                 io::shape_text(offsets));
  }
  const auto count = io::element_count(info.shape);
  const auto bytes = element_bytes(info.dtype);
  if (!count || (bytes && static_cast<std::uint64_t>(*count) > (end - begin) / *bytes) ||
      (bytes && static_cast<std::uint64_t>(*count) * *bytes != end - begin)) {
    io::bad_file(
        file, field,
        "data_offsets that fit " + io::in_quotes(info.dtype) + " of shape " + io::shape_text(info.shape),
        std::to_string(end - begin) + " bytes");
  }
  info.begin = data_begin + begin;
  info.end = data_begin + end;
  return info;
}

void require_disjoint(const std::map<std::string, TensorInfo>& tensors, const std::string& file) {
  std::vector<const std::pair<const std::string, TensorInfo>*> order;
  for (const auto& item : tensors) {
    if (item.second.begin < item.second.end) order.push_back(&item);
  }
  std::sort(order.begin(), order.end(),
            [](const auto* a, const auto* b) { return a->second.begin < b->second.begin; });
  for (std::size_t i = 1; i < order.size(); ++i) {
    if (order[i]->second.begin >= order[i - 1]->second.end) continue;
    io::bad_file(file, "tensor " + io::in_quotes(order[i]->first), "bytes of its own",
                 "bytes shared with " + io::in_quotes(order[i - 1]->first));
  }
}

}  // namespace

SafetensorsReader::SafetensorsReader(const std::filesystem::path& path, const ReadLimits& limits)
    : source_(std::make_shared<io::FileSource>(path)), limits_(limits) {
  read_header();
}

SafetensorsReader::SafetensorsReader(std::span<const std::byte> bytes, const std::string& label,
                                     const ReadLimits& limits)
    : source_(std::make_shared<io::MemorySource>(bytes, label)), limits_(limits) {
  read_header();
}

const std::string& SafetensorsReader::label() const { return source_->label(); }

void SafetensorsReader::read_header() {
  std::array<unsigned char, kLengthBytes> prefix{};
  source_->read(0, prefix.data(), prefix.size(), "safetensors header length");
  std::uint64_t length = 0;
  for (std::size_t i = 0; i < prefix.size(); ++i) length |= std::uint64_t{prefix[i]} << (8 * i);
  const std::uint64_t most = std::min(kMaxHeaderBytes, source_->size() - kLengthBytes);
  if (length > most) {
    io::bad_file(label(), "safetensors header length", "at most " + std::to_string(most),
                 std::to_string(length));
  }
  io::check_memory(label(), "the header", kTreeExpansion * static_cast<double>(length), limits_.max_bytes);
  std::string text(length, '\0');
  source_->read(kLengthBytes, text.data(), text.size(), "safetensors header");
  const json header = io::parse_strict_json(text, label(), "safetensors header");
  if (!header.is_object())
    io::bad_file(label(), "safetensors header", "a JSON object", io::json_text(header));
  for (const auto& item : header.items()) {
    if (item.key() == "__metadata__") {
      metadata_ = parse_metadata(item.value(), label());
    } else {
      const std::string field = "tensor " + io::in_quotes(item.key());
      tensors_.emplace(item.key(),
                       parse_tensor(item.value(), kLengthBytes + length, source_->size(), label(), field));
    }
  }
  require_disjoint(tensors_, label());
}

Array SafetensorsReader::read(const std::string& name) const {
  const std::string field = "tensor " + io::in_quotes(name);
  const auto found = tensors_.find(name);
  if (found == tensors_.end()) io::bad_file(label(), field, "to be in the file", "no such tensor");
  const TensorInfo& info = found->second;
  if (info.dtype != "F32" && info.dtype != "F64") {
    io::bad_file(label(), field, "dtype F32 or F64", io::in_quotes(info.dtype));
  }
  const auto count = static_cast<double>(*io::element_count(info.shape));
  io::check_memory(label(), field, 8.0 * count, limits_.max_bytes);
  const io::ElementType type{info.dtype == "F32" ? io::ElementKind::Float32 : io::ElementKind::Float64,
                             false};
  Array array{info.shape, io::read_elements(*source_, info.begin, info.shape, type, field)};
  io::require_finite(array.values, array.shape, label(), field);
  return array;
}

// Writing safetensors files.

void append_safetensors(const std::map<std::string, Array>& tensors,
                        const std::map<std::string, std::string>& metadata, AtomicFile& file) {
  nlohmann::ordered_json header = {{"__metadata__", metadata}};
  std::uint64_t offset = 0;
  for (const auto& [name, array] : tensors) {
    require(io::element_count(array.shape) == array.size(),
            "safetensors: tensor " + io::in_quotes(name) + ": expected values for shape " +
                io::shape_text(array.shape) + ", got " + std::to_string(array.size()));
    const std::uint64_t end = offset + array.values.size() * sizeof(double);
    header[name] = {{"dtype", "F64"}, {"shape", array.shape}, {"data_offsets", {offset, end}}};
    offset = end;
  }
  std::string text = header.dump();
  text.append((8 - text.size() % 8) % 8, ' ');
  std::string prefix;
  for (unsigned i = 0; i < 8; ++i)
    prefix += static_cast<char>((std::uint64_t{text.size()} >> (8 * i)) & 0xFFU);
  file.write(prefix);
  file.write(text);
  for (const auto& [name, array] : tensors)
    file.write(array.values.data(), array.values.size() * sizeof(double));
}

void write_safetensors(const std::filesystem::path& path, const std::map<std::string, Array>& tensors,
                       const std::map<std::string, std::string>& metadata) {
  AtomicFile file(path);
  append_safetensors(tensors, metadata, file);
  file.commit();
}

}  // namespace mixcert
