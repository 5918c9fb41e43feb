// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Numbers as files hold them: their elements to doubles, arrays to and from Eigen, and dictionaries of arrays
// from the files that other libraries write.
#include "mixcert/io/array.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "io/files/file_error.h"
#include "io/formats/elements.h"
#include "io/formats/npy.h"
#include "io/formats/safetensors.h"
#include "io/formats/torch_file.h"
#include "mixcert/core/error.h"
#include "mixcert/io/weight_conventions.h"

namespace mixcert::io {
namespace {

constexpr std::size_t kChunkElements = 8192;
constexpr std::int64_t kLargestExactInteger = std::int64_t{1} << 53;

template <class T>
T load(const std::byte* bytes, bool big_endian) {
  std::byte ordered[sizeof(T)];
  std::memcpy(ordered, bytes, sizeof(T));
  if (big_endian) std::reverse(std::begin(ordered), std::end(ordered));
  T value;
  std::memcpy(&value, ordered, sizeof(T));
  return value;
}

/// IEEE half precision: 1 sign bit, 5 bits of exponent with bias 15, 10 bits of fraction.
double from_half(std::uint16_t bits) {
  const int exponent = (bits >> 10) & 0x1F;
  const int fraction = bits & 0x3FF;
  const double sign = (bits & 0x8000) != 0 ? -1.0 : 1.0;
  if (exponent == 0x1F) {
    return fraction == 0 ? sign * std::numeric_limits<double>::infinity() : std::nan("");
  }
  if (exponent == 0) return sign * std::ldexp(fraction, -24);
  return sign * std::ldexp(fraction + 1024, exponent - 25);
}

/// NaN for what has no exact double: the caller knows that such kinds hold no NaN.
double decode(const std::byte* bytes, ElementType type) {
  switch (type.kind) {
    case ElementKind::Float16:
      return from_half(load<std::uint16_t>(bytes, type.big_endian));
    case ElementKind::BFloat16:  // the upper half of a float
      return static_cast<double>(std::bit_cast<float>(
          static_cast<std::uint32_t>(load<std::uint16_t>(bytes, type.big_endian)) << 16U));
    case ElementKind::Int8:
      return static_cast<double>(load<std::int8_t>(bytes, false));
    case ElementKind::Int16:
      return static_cast<double>(load<std::int16_t>(bytes, type.big_endian));
    case ElementKind::Float32:
      return static_cast<double>(load<float>(bytes, type.big_endian));
    case ElementKind::Float64:
      return load<double>(bytes, type.big_endian);
    case ElementKind::Int32:
      return static_cast<double>(load<std::int32_t>(bytes, type.big_endian));
    case ElementKind::Int64: {
      const auto value = load<std::int64_t>(bytes, type.big_endian);
      const bool exact = -kLargestExactInteger <= value && value <= kLargestExactInteger;
      return exact ? static_cast<double>(value) : std::nan("");
    }
    case ElementKind::UInt8:
      return static_cast<double>(load<std::uint8_t>(bytes, false));
    case ElementKind::Bool:
      break;
  }
  const auto value = load<std::uint8_t>(bytes, false);
  return value <= 1 ? static_cast<double>(value) : std::nan("");
}

bool is_float(ElementKind kind) {
  return kind == ElementKind::Float16 || kind == ElementKind::BFloat16 || kind == ElementKind::Float32 ||
         kind == ElementKind::Float64;
}

}  // namespace

std::size_t ElementType::bytes() const {
  switch (kind) {
    case ElementKind::Float16:
    case ElementKind::BFloat16:
    case ElementKind::Int16:
      return 2;
    case ElementKind::Float32:
    case ElementKind::Int32:
      return 4;
    case ElementKind::Float64:
    case ElementKind::Int64:
      return 8;
    case ElementKind::Int8:
    case ElementKind::UInt8:
    case ElementKind::Bool:
      break;
  }
  return 1;
}

std::vector<double> read_elements(ByteSource& source, std::uint64_t offset, const std::vector<Index>& shape,
                                  ElementType type, const std::string& field) {
  const auto count = static_cast<std::size_t>(element_count(shape).value_or(0));
  std::vector<double> values;
  reserve_values(values, static_cast<Index>(count), source.label());
  std::vector<std::byte> chunk(kChunkElements * type.bytes());
  while (values.size() < count) {
    const std::size_t now = std::min(kChunkElements, count - values.size());
    source.read(offset, chunk.data(), now * type.bytes(), field);
    offset += now * type.bytes();
    for (std::size_t i = 0; i < now; ++i) {
      const double value = decode(chunk.data() + i * type.bytes(), type);
      if (std::isnan(value) && !is_float(type.kind)) {
        bad_file(source.label(), field,
                 type.kind == ElementKind::Bool ? "0 or 1" : "integers of magnitude at most 2^53",
                 "another value at flat index " + std::to_string(values.size()));
      }
      values.push_back(value);
    }
  }
  return values;
}

void require_finite(const std::vector<double>& values, const std::vector<Index>& shape,
                    const std::string& file, const std::string& field) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (std::isfinite(values[i])) continue;
    const char* got = std::isnan(values[i]) ? "nan" : (values[i] > 0 ? "inf" : "-inf");
    bad_file(file, field, "finite values", got + (" at index " + index_text(shape, static_cast<Index>(i))));
  }
}

}  // namespace mixcert::io

namespace mixcert {

ConstMatrixView as_matrix(const Array& array) {
  require(array.rank() == 2,
          "as_matrix: expected an array of rank 2, got shape " + io::shape_text(array.shape));
  return {array.values.data(), array.shape[0], array.shape[1]};
}

Array to_array(ConstMatrixRef matrix) {
  Array array{{matrix.rows(), matrix.cols()}, std::vector<double>(static_cast<std::size_t>(matrix.size()))};
  Eigen::Map<Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>(
      array.values.data(), matrix.rows(), matrix.cols()) = matrix;
  return array;
}

Array vector_to_array(ConstVectorRef vector) {
  return {{vector.size()}, std::vector<double>(vector.data(), vector.data() + vector.size())};
}

NamedArrays read_named_arrays(const std::vector<std::filesystem::path>& paths, const ReadLimits& limits) {
  NamedArrays all;
  all.keeps_order = true;
  for (const std::filesystem::path& path : paths) {
    const std::string ending = path.extension().string();
    NamedArrays part;
    if (ending == ".pt" || ending == ".pth") {
      part = read_torch_file(path, limits);
    } else if (ending == ".npz") {
      for (auto& [name, array] : read_npz(path, limits)) part.entries.emplace_back(name, std::move(array));
    } else if (ending == ".safetensors") {
      const SafetensorsReader reader(path, limits);
      for (const auto& [name, info] : reader.tensors()) part.entries.emplace_back(name, reader.read(name));
    } else {
      throw InvalidArgument(path.string() + ": expected a file .safetensors, .npz, .pt or .pth, got " +
                            io::in_quotes(ending));
    }
    all.keeps_order = all.keeps_order && part.keeps_order;
    for (auto& entry : part.entries) {
      if (all.find(entry.first) != nullptr) {
        io::bad_file(path.string(), "key " + io::in_quotes(entry.first), "each key in one file", "two");
      }
      all.entries.push_back(std::move(entry));
    }
  }
  return all;
}

}  // namespace mixcert
