// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Reading IDX and CIFAR files into floats in [0, 1].
#include "data/images.h"

#include <algorithm>
#include <span>

#include "data/contents.h"
#include "io/files/file_error.h"

namespace mixcert::lab {
namespace {

unsigned byte_at(std::string_view bytes, std::size_t offset) {
  return static_cast<unsigned char>(bytes[offset]);
}

Index big_endian_size(std::string_view bytes, std::size_t offset) {
  Index value = 0;
  for (std::size_t i = 0; i < 4; ++i) value = value * 256 + static_cast<Index>(byte_at(bytes, offset + i));
  return value;
}

/// Pixels as value / 255, one row per image.
FloatRows to_inputs(std::string_view pixels, Index features) {
  const Index count = static_cast<Index>(pixels.size()) / features;
  const auto* const bytes = reinterpret_cast<const unsigned char*>(pixels.data());
  using Bytes = Eigen::Matrix<unsigned char, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  return Eigen::Map<const Bytes>(bytes, count, features).cast<float>() / 255.0F;
}

int checked_label(unsigned value, Index classes, const std::string& file, Index record) {
  if (static_cast<Index>(value) >= classes) {
    io::bad_file(file, "label " + std::to_string(record), "a class below " + std::to_string(classes),
                 std::to_string(value));
  }
  return static_cast<int>(value);
}

IdxArray parse_idx_of_shape(std::string_view bytes, const std::string& file,
                            const std::vector<Index>& shape) {
  IdxArray array = parse_idx(bytes, file);
  if (array.shape != shape) {
    io::bad_file(file, "shape", io::shape_text(shape), io::shape_text(array.shape));
  }
  return array;
}

/// Files `first` and `first` + 1 of the variant: images and labels.
Examples load_idx_split(const CatalogueEntry& entry, const std::filesystem::path& folder,
                        std::span<const DataFile> files, Index count) {
  Examples examples;
  const std::string images = load_contents(folder, files[0]);
  const std::string labels = load_contents(folder, files[1]);
  const std::string images_label = (folder / files[0].name).string();
  const std::string labels_label = (folder / files[1].name).string();
  const auto& shape = entry.image_shape;
  const IdxArray pixels = parse_idx_of_shape(images, images_label, {count, shape[1], shape[2]});
  examples.inputs = to_inputs(pixels.elements, entry.features);
  const IdxArray classes = parse_idx_of_shape(labels, labels_label, {count});
  for (Index i = 0; i < count; ++i) {
    const unsigned value = byte_at(classes.elements, static_cast<std::size_t>(i));
    examples.labels.push_back(checked_label(value, entry.classes, labels_label, i));
  }
  return examples;
}

Examples load_cifar_split(const CatalogueEntry& entry, const std::filesystem::path& folder,
                          std::span<const DataFile> files) {
  Examples examples;
  std::string pixels;
  for (const DataFile& file : files) {
    parse_cifar(load_contents(folder, file), (folder / file.name).string(), entry.features, entry.classes,
                examples.labels, pixels);
  }
  examples.inputs = to_inputs(pixels, entry.features);
  return examples;
}

void check_counts(const Examples& examples, const std::vector<Index>& expected, const std::string& what) {
  std::vector<Index> counts(expected.size(), 0);
  for (const int label : examples.labels) ++counts[static_cast<std::size_t>(label)];
  if (counts != expected) {
    io::bad_file(what, "images per class", io::shape_text(expected), io::shape_text(counts));
  }
}

}  // namespace

IdxArray parse_idx(std::string_view bytes, const std::string& label) {
  constexpr std::size_t kMagic = 4;
  constexpr unsigned kUnsignedByte = 8;
  constexpr unsigned kMaxRank = 4;
  if (bytes.size() < kMagic || byte_at(bytes, 0) != 0 || byte_at(bytes, 1) != 0 ||
      byte_at(bytes, 2) != kUnsignedByte) {
    io::bad_file(label, "magic", "an IDX file of unsigned bytes", io::in_quotes(bytes.substr(0, kMagic)));
  }
  const unsigned rank = byte_at(bytes, 3);
  if (rank < 1 || rank > kMaxRank) io::bad_file(label, "rank", "1 to 4", std::to_string(rank));
  const std::size_t header = kMagic + 4 * std::size_t{rank};
  if (bytes.size() < header) {
    io::bad_file(label, "header", std::to_string(header) + " bytes", std::to_string(bytes.size()));
  }
  IdxArray array;
  for (std::size_t axis = 0; axis < rank; ++axis) {
    array.shape.push_back(big_endian_size(bytes, kMagic + 4 * axis));
  }
  array.elements = bytes.substr(header);
  const auto count = io::element_count(array.shape);
  if (!count || *count != static_cast<Index>(array.elements.size())) {
    io::bad_file(label, "elements", "those of shape " + io::shape_text(array.shape),
                 std::to_string(array.elements.size()) + " bytes");
  }
  return array;
}

void parse_cifar(std::string_view bytes, const std::string& label, Index features, Index classes,
                 std::vector<int>& labels, std::string& pixels) {
  const auto record = static_cast<std::size_t>(features) + 1;
  if (bytes.size() % record != 0) {
    io::bad_file(label, "size", "records of " + std::to_string(record) + " bytes",
                 std::to_string(bytes.size()) + " bytes");
  }
  for (std::size_t at = 0; at < bytes.size(); at += record) {
    labels.push_back(checked_label(byte_at(bytes, at), classes, label, static_cast<Index>(at / record)));
    pixels.append(bytes.substr(at + 1, record - 1));
  }
}

Dataset load_images(const CatalogueEntry& entry, const DataVariant& variant,
                    const std::filesystem::path& folder) {
  Dataset dataset;
  dataset.task = Task::Classification;
  dataset.classes = entry.classes;
  dataset.image_shape = entry.image_shape;
  const std::span<const DataFile> files(variant.files);
  if (entry.format == DataFormat::Idx) {
    dataset.train = load_idx_split(entry, folder, files.subspan(0, 2), variant.train_size);
    dataset.test = load_idx_split(entry, folder, files.subspan(2, 2), variant.test_size);
  } else {
    dataset.train = load_cifar_split(entry, folder, files.first(files.size() - 1));
    dataset.test = load_cifar_split(entry, folder, files.last(1));
  }
  const std::string where = (folder / entry.name).string();
  check_counts(dataset.train, variant.train_counts, where + ": training");
  check_counts(dataset.test, variant.test_counts, where + ": test");
  return dataset;
}

}  // namespace mixcert::lab
