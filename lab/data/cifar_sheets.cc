// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Decoding of sheets with libpng's simplified interface, which reports errors without longjmp.
#include "data/cifar_sheets.h"

#include <png.h>

#include "io/files/file_error.h"
#include "io/files/strict_json.h"

namespace mixcert::lab {
namespace {

constexpr std::size_t kChannels = 3;

/// Frees what libpng holds.
class Sheet {
 public:
  Sheet(std::string_view bytes, const std::string& label) : label_(label) {
    image_.version = PNG_IMAGE_VERSION;
    if (png_image_begin_read_from_memory(&image_, bytes.data(), bytes.size()) == 0) refuse();
  }
  ~Sheet() { png_image_free(&image_); }
  Sheet(const Sheet&) = delete;
  Sheet& operator=(const Sheet&) = delete;

  [[nodiscard]] std::vector<Index> shape() const {
    return {static_cast<Index>(image_.height), static_cast<Index>(image_.width)};
  }
  [[nodiscard]] bool is_plain_rgb() const { return image_.format == PNG_FORMAT_RGB; }

  /// Red, green, blue of every pixel, row by row.
  std::string decode() {
    std::string pixels(std::size_t{image_.height} * image_.width * kChannels, '\0');
    if (png_image_finish_read(&image_, nullptr, pixels.data(), 0, nullptr) == 0) refuse();
    return pixels;
  }

 private:
  [[noreturn]] void refuse() const {
    io::bad_file(label_, "PNG", "an image that can be decoded", io::in_quotes(image_.message));
  }

  const std::string& label_;
  png_image image_{};
};

}  // namespace

std::vector<unsigned char> parse_label_list(std::string_view text, const std::string& label, Index count,
                                            Index classes) {
  const nlohmann::json list = io::parse_strict_json(text, label, "labels");
  const Index size = list.is_array() ? static_cast<Index>(list.size()) : -1;
  if (size != count) {
    io::bad_file(label, "labels", "a list of " + std::to_string(count),
                 size < 0 ? io::json_text(list) : std::to_string(size));
  }
  std::vector<unsigned char> labels;
  for (const nlohmann::json& value : list) {
    const std::string field = "label " + std::to_string(labels.size());
    const Index one = io::json_size(value, label, field);
    if (one >= classes) {
      io::bad_file(label, field, "a class below " + std::to_string(classes), std::to_string(one));
    }
    labels.push_back(static_cast<unsigned char>(one));
  }
  return labels;
}

std::string rebuild_batch(std::string_view sheet_bytes, const std::string& label,
                          std::span<const unsigned char> labels, Index pixels) {
  Sheet sheet(sheet_bytes, label);
  const std::vector<Index> expected = {static_cast<Index>(labels.size()), pixels};
  if (sheet.shape() != expected || !sheet.is_plain_rgb()) {
    io::bad_file(label, "sheet", "8-bit RGB of size " + io::shape_text(expected),
                 sheet.is_plain_rgb() ? io::shape_text(sheet.shape()) : "another kind of image");
  }
  const std::string interleaved = sheet.decode();
  const auto plane = static_cast<std::size_t>(pixels);
  std::string batch;
  batch.reserve(labels.size() * (1 + kChannels * plane));
  for (std::size_t record = 0; record < labels.size(); ++record) {
    const char* const row = interleaved.data() + record * kChannels * plane;
    batch += static_cast<char>(labels[record]);
    for (std::size_t channel = 0; channel < kChannels; ++channel) {
      for (std::size_t i = 0; i < plane; ++i) batch += row[i * kChannels + channel];
    }
  }
  return batch;
}

}  // namespace mixcert::lab
