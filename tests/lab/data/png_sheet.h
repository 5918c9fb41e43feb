// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Small PNG images made in memory.
#pragma once

#include <png.h>

#include <stdexcept>
#include <string>

namespace mixcert::lab::test {

/// Pixels row by row, in the given format of libpng's simplified interface.
inline std::string png_sheet(unsigned width, unsigned height, const std::string& pixels,
                             unsigned format = PNG_FORMAT_RGB) {
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.width = width;
  image.height = height;
  image.format = format;
  std::string bytes(4096, '\0');
  png_alloc_size_t size = bytes.size();
  if (png_image_write_to_memory(&image, bytes.data(), &size, 0, pixels.data(), 0, nullptr) == 0) {
    throw std::runtime_error(image.message);
  }
  return bytes.substr(0, size);
}

}  // namespace mixcert::lab::test
