// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The smallest PNG: one header, one block of pixels compressed by zlib, the end. libpng would add its own
// stream handling for the same three chunks.
#include "report/pages/png_image.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "mixcert/core/error.h"

namespace mixcert::page {
namespace {

std::string big_endian(std::uint32_t value) {
  std::string bytes;
  for (unsigned shift = 32; shift > 0; shift -= 8) bytes += static_cast<char>((value >> (shift - 8U)) & 255U);
  return bytes;
}

std::string chunk(const std::string& type, const std::string& data) {
  const std::string body = type + data;
  const uLong sum = crc32(0, reinterpret_cast<const Bytef*>(body.data()), static_cast<uInt>(body.size()));
  return big_endian(static_cast<std::uint32_t>(data.size())) + body +
         big_endian(static_cast<std::uint32_t>(sum));
}

std::string compressed(const std::string& data) {
  uLongf size = compressBound(data.size());
  std::string bytes(size, '\0');
  const int status = compress2(reinterpret_cast<Bytef*>(bytes.data()), &size,
                               reinterpret_cast<const Bytef*>(data.data()), data.size(), 9);
  if (status != Z_OK) throw ResourceError("png_image: zlib could not compress a picture");
  bytes.resize(size);
  return bytes;
}

char pixel(double value, double low, double high) {
  const double share = high > low ? (value - low) / (high - low) : 0.0;
  return static_cast<char>(static_cast<unsigned char>(
      std::lround(255.0 * std::clamp(std::isfinite(share) ? share : 0.0, 0.0, 1.0))));
}

}  // namespace

std::string png_image(ConstVectorRef values, const LayerShape& shape, double low, double high) {
  require((shape.channels == 1 || shape.channels == 3) && shape.size() == values.size(),
          fmt::format("png_image: expected one or three channels of {} values in all, got {}", values.size(),
                      to_string(shape)));
  const Index height = shape.image.height, width = shape.image.width;
  std::string rows;
  for (Index row = 0; row < height; ++row) {
    rows += '\0';  // no filter
    for (Index column = 0; column < width; ++column) {
      for (Index channel = 0; channel < shape.channels; ++channel) {
        rows += pixel(values((channel * height + row) * width + column), low, high);
      }
    }
  }
  const char colour_type = shape.channels == 1 ? 0 : 2;
  const std::string header = big_endian(static_cast<std::uint32_t>(width)) +
                             big_endian(static_cast<std::uint32_t>(height)) +
                             std::string{8, colour_type, 0, 0, 0};
  return "\x89PNG\r\n\x1a\n" + chunk("IHDR", header) + chunk("IDAT", compressed(rows)) + chunk("IEND", "");
}

}  // namespace mixcert::page
