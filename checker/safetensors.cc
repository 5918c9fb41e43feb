// Licensed under the Apache License, Version 2.0; see LICENSE.
#include "safetensors.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <utility>

namespace mixcert_check {
namespace {

constexpr std::uint64_t kMostHeader = 16'000'000;
constexpr long kMostNumbers = 1L << 32;

std::uint64_t little_endian(const char* bytes, int count) {
  std::uint64_t value = 0;
  for (int i = count; i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes[i]);
  return value;
}

/// In pieces, so that a file that claims more than it has takes no more memory than it has.
std::string read_bytes(std::istream& in, std::uint64_t count) {
  constexpr std::uint64_t kPiece = 1 << 20;
  std::string bytes;
  while (bytes.size() < count) {
    const std::uint64_t before = bytes.size(), piece = std::min(kPiece, count - before);
    bytes.resize(before + piece);
    in.read(bytes.data() + before, static_cast<std::streamsize>(piece));
    if (static_cast<std::uint64_t>(in.gcount()) != piece) throw BadFile("the file ends too early");
  }
  return bytes;
}

struct Place {
  std::string name;
  std::vector<long> shape;
  long count = 1;
  int width = 8;  ///< bytes of a number
  long begin = 0, end = 0;
};

Place place_of(const std::string& name, const Json& entry) {
  Place place;
  place.name = name;
  for (const Json& size : entry.at("shape").list()) {
    const long next = size.whole(kMostNumbers);
    if (next != 0 && place.count > kMostNumbers / next) throw BadFile("tensor '" + name + "' is too large");
    place.shape.push_back(next);
    place.count *= next;
  }
  const std::string& type = entry.at("dtype").text();
  if (type != "F64" && type != "F32")
    throw BadFile("tensor '" + name + "': expected F32 or F64, got " + type);
  place.width = type == "F64" ? 8 : 4;
  const auto& ends = entry.at("data_offsets").list();
  if (ends.size() != 2) throw BadFile("tensor '" + name + "': expected two offsets");
  place.begin = ends[0].whole(1L << 40);
  place.end = ends[1].whole(1L << 40);
  if (place.end - place.begin != place.count * place.width) {
    throw BadFile("tensor '" + name + "': its offsets do not fit its shape");
  }
  return place;
}

void refuse_overlaps(std::vector<Place> places) {
  std::sort(places.begin(), places.end(), [](const Place& a, const Place& b) {
    return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
  });
  for (std::size_t i = 1; i < places.size(); ++i) {
    if (places[i].begin < places[i - 1].end)
      throw BadFile("tensor '" + places[i].name + "' shares bytes with another");
  }
}

std::vector<double> numbers(const Place& place, const std::string& data) {
  std::vector<double> values;
  for (long i = 0; i < place.count; ++i) {
    const std::uint64_t bits = little_endian(data.data() + place.begin + i * place.width, place.width);
    values.push_back(place.width == 8 ? std::bit_cast<double>(bits)
                                      : std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
    if (!std::isfinite(values.back()))
      throw BadFile("tensor '" + place.name + "' holds a number that is not finite");
  }
  return values;
}

}  // namespace

const std::string& Block::text(const std::string& key) const {
  const auto found = metadata.find(key);
  if (found == metadata.end()) throw BadFile("expected '" + key + "' in __metadata__");
  return found->second;
}

const std::vector<double>& Block::values(const std::string& name, const std::vector<long>& shape) const {
  const auto found = tensors.find(name);
  if (found == tensors.end()) throw BadFile("expected a tensor '" + name + "'");
  if (found->second.shape != shape) throw BadFile("tensor '" + name + "' has another shape than expected");
  return found->second.values;
}

std::optional<Block> read_block(std::istream& in) {
  if (in.peek() == std::char_traits<char>::eof()) {
    if (in.bad()) throw BadFile("the file could not be read");
    return std::nullopt;
  }
  const std::uint64_t length = little_endian(read_bytes(in, 8).data(), 8);
  if (length > kMostHeader) throw BadFile("the header is too long");
  const Json header = Json::parse(read_bytes(in, length));
  Block block;
  std::vector<Place> places;
  long bytes = 0;
  for (const auto& [name, entry] : header.object()) {
    if (name == "__metadata__") {
      for (const auto& [key, value] : entry.object()) block.metadata.emplace(key, value.text());
      continue;
    }
    places.push_back(place_of(name, entry));
    bytes = std::max(bytes, places.back().end);
  }
  refuse_overlaps(places);
  const std::string data = read_bytes(in, static_cast<std::uint64_t>(bytes));
  for (const Place& place : places)
    block.tensors.emplace(place.name, Tensor{place.shape, numbers(place, data)});
  return block;
}

}  // namespace mixcert_check
