// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Tiny data sets in the formats of the real ones, with catalogue entries to match.
#pragma once

#include <zlib.h>

#include <filesystem>
#include <stdexcept>
#include <string>

#include "data/catalogue.h"
#include "data/contents.h"
#include "io/test_files.h"

namespace mixcert::lab::test {

using mixcert::test::write_text;

inline DataFile described(const std::string& name, const std::string& contents, std::size_t digits = 64) {
  return {name, contents.size(), digest(contents, digits)};
}

inline void put(const std::filesystem::path& path, const std::string& contents) {
  std::filesystem::create_directories(path.parent_path());
  write_text(path, contents);
}

inline std::string gzipped(const std::string& contents) {
  z_stream stream{};
  if (deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
    throw std::runtime_error("deflateInit2");
  }
  std::string result(contents.size() + 1000, '\0');
  std::string input = contents;
  stream.next_in = reinterpret_cast<Bytef*>(input.data());
  stream.avail_in = static_cast<uInt>(input.size());
  stream.next_out = reinterpret_cast<Bytef*>(result.data());
  stream.avail_out = static_cast<uInt>(result.size());
  const int status = deflate(&stream, Z_FINISH);
  result.resize(stream.total_out);
  deflateEnd(&stream);
  if (status != Z_STREAM_END) throw std::runtime_error("deflate");
  return result;
}

inline std::string big_endian(std::uint32_t value) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(value >> shift);
  return bytes;
}

inline std::string idx_file(const std::vector<std::uint32_t>& shape, const std::string& elements) {
  std::string bytes("\0\0\x08", 3);
  bytes += static_cast<char>(shape.size());
  for (const std::uint32_t size : shape) bytes += big_endian(size);
  return bytes + elements;
}

/// A set and the contents of its files, by name.
struct SmallSet {
  CatalogueEntry entry;
  std::map<std::string, std::string> contents;

  void add(const std::string& name, const std::string& text, std::size_t digits = 64) {
    if (entry.variants.empty()) entry.variants.emplace_back();
    entry.variants.front().files.push_back(described(name, text, digits));
    contents[name] = text;
  }
  void write_to(const std::filesystem::path& folder) const {
    for (const auto& [name, text] : contents) put(folder / name, text);
  }
};

/// Three training and two test images of 2 x 2 pixels in three classes.
inline SmallSet small_idx_set() {
  SmallSet set;
  set.add("tiny/train-images", idx_file({3, 2, 2}, std::string("\x00\xff\x33\x66", 4) + "abcdefgh"));
  set.add("tiny/train-labels", idx_file({3}, std::string("\x00\x02\x02", 3)));
  set.add("tiny/test-images", idx_file({2, 2, 2}, "ijklmnop"));
  set.add("tiny/test-labels", idx_file({2}, std::string("\x01\x00", 2)));
  set.entry.name = "tiny";
  set.entry.format = DataFormat::Idx;
  set.entry.task = Task::Classification;
  set.entry.features = 4;
  set.entry.classes = 3;
  set.entry.image_shape = {1, 2, 2};
  set.entry.source = {SourceKind::NpmPackage, "tiny-data@1.0.0", {"package/data"}};
  DataVariant& variant = set.entry.variants.front();
  variant.name = "tiny";
  variant.train_size = 3;
  variant.test_size = 2;
  variant.train_counts = {1, 0, 2};
  variant.test_counts = {1, 1, 0};
  return set;
}

/// Two training batches of two images and a test batch of two, 3 x 1 x 2 pixels, in two classes.
inline SmallSet small_cifar_set() {
  SmallSet set;
  set.add("c/data_batch_1.bin", std::string("\x00", 1) + "rRgGbB" + "\x01" + "sShHcC", 32);
  set.add("c/data_batch_2.bin", std::string("\x01") + "tTiIdD" + "\x01" + "uUjJeE", 32);
  set.add("c/test_batch.bin", std::string("\x00", 1) + "vVkKfF" + "\x01" + "wWlLhH", 32);
  set.entry.name = "c";
  set.entry.format = DataFormat::Cifar;
  set.entry.task = Task::Classification;
  set.entry.features = 6;
  set.entry.classes = 2;
  set.entry.image_shape = {3, 1, 2};
  set.entry.source = {SourceKind::NpmPackage, "c-data@1.0.0", {"package"}};
  DataVariant& variant = set.entry.variants.front();
  variant.name = "c";
  variant.train_size = 4;
  variant.test_size = 2;
  variant.train_counts = {1, 3};
  variant.test_counts = {1, 1};
  return set;
}

/// Four rows of two features and a target, two splits.
inline SmallSet small_table() {
  SmallSet set;
  set.add("t.csv", "x1,x2,y\n1,5,10\n3,5,20\n100,7,-50\n5,5,30\n");
  set.add("t.splits.json", R"({"splits":[{"train":[0,1,3],"test":[2]},{"train":[3,2,1],"test":[0]}]})");
  set.entry.name = "t";
  set.entry.format = DataFormat::Table;
  set.entry.features = 2;
  set.entry.source.kind = SourceKind::Copy;
  DataVariant& variant = set.entry.variants.front();
  variant.name = "t";
  variant.train_size = 3;
  variant.test_size = 1;
  return set;
}

}  // namespace mixcert::lab::test
