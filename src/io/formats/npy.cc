// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Reading and writing .npy files.
#include "io/formats/npy.h"

#include <algorithm>
#include <array>

#include "io/files/byte_source.h"
#include "io/files/file_error.h"
#include "mixcert/core/error.h"

namespace mixcert {
namespace io {
namespace {

constexpr std::size_t kMaxNpyHeaderBytes = 65536;

struct HeaderPlace {
  std::uint64_t offset;
  std::size_t length;
};

HeaderPlace find_header(ByteSource& source) {
  std::array<unsigned char, 12> prefix{};
  source.read(0, prefix.data(), 8, "npy magic and version");
  if (!std::equal(prefix.begin(), prefix.begin() + 6, reinterpret_cast<const unsigned char*>("\x93NUMPY"))) {
    bad_file(source.label(), "npy magic", "\\x93NUMPY",
             in_quotes({reinterpret_cast<char*>(prefix.data()), 6}));
  }
  const unsigned major = prefix[6];
  if (major < 1 || major > 3 || prefix[7] != 0) {
    bad_file(source.label(), "npy version", "1.0, 2.0 or 3.0",
             std::to_string(major) + "." + std::to_string(prefix[7]));
  }
  const std::size_t width = major == 1 ? 2 : 4;
  source.read(8, prefix.data() + 8, width, "npy header length");
  std::size_t length = 0;
  for (std::size_t i = 0; i < width; ++i) length |= static_cast<std::size_t>(prefix[8 + i]) << (8 * i);
  if (length > kMaxNpyHeaderBytes) {
    bad_file(source.label(), "npy header length", "at most " + std::to_string(kMaxNpyHeaderBytes),
             std::to_string(length));
  }
  return {8 + width, length};
}

/// Values in Fortran order, first index fastest, put in C order.
std::vector<double> fortran_to_c(const std::vector<double>& values, const std::vector<Index>& shape) {
  const std::size_t rank = shape.size();
  std::vector<Index> stride(rank);
  Index product = 1;
  for (std::size_t axis = 0; axis < rank; ++axis) {
    stride[axis] = product;
    product *= shape[axis];
  }
  std::vector<double> result;
  result.reserve(values.size());
  std::vector<Index> position(rank, 0);
  Index place = 0;
  while (result.size() < values.size()) {
    result.push_back(values[static_cast<std::size_t>(place)]);
    for (std::size_t axis = rank; axis-- > 0;) {
      place += stride[axis];
      if (++position[axis] < shape[axis]) break;
      place -= stride[axis] * shape[axis];
      position[axis] = 0;
    }
  }
  return result;
}

}  // namespace

Array read_npy_source(ByteSource& source, const ReadLimits& limits) {
  const HeaderPlace place = find_header(source);
  std::string text(place.length, '\0');
  source.read(place.offset, text.data(), text.size(), "npy header");
  const NpyHeader header = parse_npy_header(text, source.label());
  const std::uint64_t data = place.offset + place.length;
  const std::uint64_t available = source.size() - data;
  const auto count = element_count(header.shape);
  const auto item = static_cast<Index>(header.type.bytes());
  if (!count || *count > std::numeric_limits<Index>::max() / item) {
    bad_file(source.label(), "npy header 'shape'", "fewer than 2^60 elements", shape_text(header.shape));
  }
  const Index copies = header.fortran_order && header.shape.size() > 1 ? 2 : 1;
  check_memory(source.label(), "an array of shape " + shape_text(header.shape),
               8.0 * static_cast<double>(copies) * static_cast<double>(*count), limits.max_bytes);
  if (static_cast<std::uint64_t>(*count * item) != available) {
    bad_file(source.label(), "npy data",
             std::to_string(*count * item) + " bytes for shape " + shape_text(header.shape),
             std::to_string(available));
  }
  Array array{header.shape, read_elements(source, data, header.shape, header.type, "npy data")};
  if (copies == 2) array.values = fortran_to_c(array.values, array.shape);
  return array;
}

}  // namespace io

Array read_npy(const std::filesystem::path& path, const ReadLimits& limits) {
  io::FileSource source(path);
  return io::read_npy_source(source, limits);
}

Array parse_npy(std::span<const std::byte> bytes, const std::string& label, const ReadLimits& limits) {
  io::MemorySource source(bytes, label);
  return io::read_npy_source(source, limits);
}

void write_npy(const std::filesystem::path& path, const Array& array) {
  NpyWriter writer(path, array.shape);
  writer.append(array.values);
  writer.finish();
}

NpyWriter::NpyWriter(const std::filesystem::path& path, const std::vector<Index>& shape) : file_(path) {
  const auto count = io::element_count(shape);
  require(count.has_value(), "NpyWriter: shape " + io::shape_text(shape) + " is negative or too large");
  expected_ = *count;
  file_.write(io::npy_preamble(shape));
}

void NpyWriter::append(std::span<const double> values) {
  const auto count = static_cast<Index>(values.size());
  require(count <= expected_ - written_, "NpyWriter::append: expected at most " +
                                             std::to_string(expected_ - written_) + " more values, got " +
                                             std::to_string(count));
  file_.write(values.data(), values.size_bytes());
  written_ += count;
}

void NpyWriter::finish() {
  require(written_ == expected_, "NpyWriter::finish: expected " + std::to_string(expected_) +
                                     " values, got " + std::to_string(written_));
  file_.commit();
}

}  // namespace mixcert
