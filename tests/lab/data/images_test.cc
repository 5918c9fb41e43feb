// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// IDX and CIFAR files.
#include "data/images.h"

#include "data/load.h"
#include "lab/data/small_sets.h"

namespace mixcert::lab {
namespace images_test {

using mixcert::test::message_of;
using mixcert::test::TempDirectory;
using test::gzipped;
using test::idx_file;
using test::put;
using test::SmallSet;

TEST(Idx, ReadsShapeAndElements) {
  const std::string bytes = idx_file({2, 1, 3}, "abcdef");
  const IdxArray array = parse_idx(bytes, "f");
  EXPECT_EQ(array.shape, (std::vector<Index>{2, 1, 3}));
  EXPECT_EQ(array.elements, "abcdef");
  EXPECT_EQ(parse_idx(idx_file({0, 7}, ""), "f").shape, (std::vector<Index>{0, 7}));
}

TEST(Idx, RefusesEveryTruncationAndExtraBytes) {
  const std::string bytes = idx_file({2, 1, 3}, "abcdef");
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_THROW(parse_idx(std::string_view(bytes).substr(0, size), "f"), FileError) << size;
  }
  EXPECT_THROW(parse_idx(bytes + "g", "f"), FileError);
}

struct BadIdx {
  std::string bytes;
  std::string message;
};

class BadIdxFile : public ::testing::TestWithParam<BadIdx> {};

TEST_P(BadIdxFile, IsRefusedInOneLine) {
  const std::string message = message_of<FileError>([] { parse_idx(GetParam().bytes, "f"); });
  EXPECT_TRUE(message.starts_with("f: ")) << message;
  EXPECT_CONTAINS(message, GetParam().message);
  EXPECT_EQ(message.find('\n'), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(
    All, BadIdxFile,
    ::testing::Values(BadIdx{"", "magic: expected an IDX file of unsigned bytes, got ''"},
                      BadIdx{"\x1f\x8b\x08\x00", "magic"},
                      BadIdx{std::string("\0\0\x0d\x01\0\0\0\0", 8), "magic"},
                      BadIdx{std::string("\0\0\x08\0", 4), "rank: expected 1 to 4, got 0"},
                      BadIdx{std::string("\0\0\x08\xff", 4), "rank: expected 1 to 4, got 255"},
                      BadIdx{std::string("\0\0\x08\x03\0\0", 6), "header: expected 16 bytes, got 6"},
                      BadIdx{idx_file({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, "x"), "elements"},
                      BadIdx{idx_file({0x80000000, 0x80000000}, ""), "elements"},
                      BadIdx{idx_file({3}, "ab"), "elements: expected those of shape [3], got 2 bytes"}));

TEST(Cifar, SplitsRecordsAndChecksLabels) {
  std::vector<int> labels;
  std::string pixels;
  parse_cifar(std::string("\x01", 1) + "abc" + std::string("\0", 1) + "def", "f", 3, 2, labels, pixels);
  EXPECT_EQ(labels, (std::vector<int>{1, 0}));
  EXPECT_EQ(pixels, "abcdef");
  EXPECT_CONTAINS(message_of<FileError>([&] { parse_cifar("\x02rgb", "f", 3, 2, labels, pixels); }),
                  "f: label 0: expected a class below 2, got 2");
  for (const std::size_t size : {1U, 2U, 3U, 5U, 7U}) {
    EXPECT_CONTAINS(
        message_of<FileError>([&] { parse_cifar(std::string(size, '\0'), "f", 3, 2, labels, pixels); }),
        "records of 4 bytes");
  }
}

Dataset load(const TempDirectory& directory, const SmallSet& set) {
  return load_dataset({.name = "", .folder = directory / "."}, set.entry);
}

TEST(Images, OfAnIdxSetAreFloatsInZeroToOne) {
  const TempDirectory directory;
  const SmallSet set = test::small_idx_set();
  set.write_to(directory / ".");
  const Dataset dataset = load(directory, set);
  EXPECT_EQ(dataset.name, "tiny");
  EXPECT_EQ(dataset.task, Task::Classification);
  EXPECT_EQ(dataset.outputs(), 3);
  EXPECT_EQ(dataset.features(), 4);
  EXPECT_EQ(dataset.train.labels, (std::vector<int>{0, 2, 2}));
  EXPECT_EQ(dataset.test.labels, (std::vector<int>{1, 0}));
  const std::vector<float> first(dataset.train.inputs.data(), dataset.train.inputs.data() + 4);
  EXPECT_EQ(first, (std::vector<float>{0.0F, 1.0F, 51.0F / 255.0F, 102.0F / 255.0F}));
  EXPECT_EQ(dataset.test.inputs(1, 3), static_cast<float>('p') / 255.0F);
}

TEST(Images, OfACifarSetKeepPlanesInOrder) {
  const TempDirectory directory;
  const SmallSet set = test::small_cifar_set();
  set.write_to(directory / ".");
  const Dataset dataset = load(directory, set);
  EXPECT_EQ(dataset.train.labels, (std::vector<int>{0, 1, 1, 1}));
  EXPECT_EQ(dataset.train.size(), 4);
  EXPECT_EQ(dataset.test.size(), 2);
  EXPECT_EQ(dataset.train.inputs(2, 0), static_cast<float>('t') / 255.0F);
  EXPECT_EQ(dataset.test.inputs(0, 5), static_cast<float>('F') / 255.0F);
}

TEST(Images, CompressedFilesGiveTheSame) {
  const TempDirectory plain;
  const TempDirectory packed;
  const SmallSet set = test::small_idx_set();
  set.write_to(plain / ".");
  for (const auto& [name, text] : set.contents) put(packed / (name + ".gz"), gzipped(text));
  EXPECT_EQ(load(plain, set).train.inputs, load(packed, set).train.inputs);
}

TEST(Images, OfAPartLoadUnderThePartsName) {
  const TempDirectory directory;
  SmallSet set = test::small_cifar_set();
  DataVariant part = set.entry.variants.front();
  part.name = "c-part";
  part.note = "a part";
  part.train_size = 2;
  part.train_counts = {1, 1};
  part.files = {test::described("c/train.bin", set.contents["c/data_batch_1.bin"]),
                test::described("c/test.bin", set.contents["c/test_batch.bin"])};
  set.entry.variants.push_back(part);
  put(directory / "c/train.bin.gz", gzipped(set.contents["c/data_batch_1.bin"]));
  put(directory / "c/test.bin.gz", gzipped(set.contents["c/test_batch.bin"]));
  EXPECT_EQ(load(directory, set).name, "c-part");
  EXPECT_EQ(load(directory, set).train.size(), 2);
  set.write_to(directory / ".");
  EXPECT_EQ(load(directory, set).name, "c") << "the whole set goes first";
}

/// Every file cut at every length, and every byte changed: never loaded.
TEST(Images, DamagedFilesAreNeverLoaded) {
  const TempDirectory directory;
  const SmallSet set = test::small_idx_set();
  set.write_to(directory / ".");
  for (const auto& [name, text] : set.contents) {
    for (std::size_t i = 0; i < text.size(); ++i) {
      put(directory / name, text.substr(0, i));
      EXPECT_CONTAINS(message_of<FileError>([&] { load(directory, set); }), name + ": size: expected ");
      std::string changed = text;
      changed[i] = static_cast<char>(changed[i] + 1);
      put(directory / name, changed);
      EXPECT_CONTAINS(message_of<FileError>([&] { load(directory, set); }), name + ": sha256: expected ");
    }
    put(directory / name, text);
  }
}

/// Wrong contents under a right sum: what the formats themselves check.
TEST(Images, ContentsThatContradictTheCatalogueAreRefused) {
  const TempDirectory directory;
  const auto message_with = [&](const std::string& name, const std::string& contents) {
    SmallSet set = test::small_idx_set();
    for (DataFile& file : set.entry.variants.front().files) {
      if (file.name == name) file = test::described(name, contents);
    }
    set.contents[name] = contents;
    set.write_to(directory / ".");
    return message_of<FileError>([&] { load(directory, set); });
  };
  EXPECT_CONTAINS(message_with("tiny/train-images", idx_file({2, 2, 2}, "abcdefgh")),
                  "train-images: shape: expected [3, 2, 2], got [2, 2, 2]");
  EXPECT_CONTAINS(message_with("tiny/train-labels", idx_file({3}, std::string("\0\x01\x02", 3))),
                  "training: images per class: expected [1, 0, 2], got [1, 1, 1]");
  EXPECT_CONTAINS(message_with("tiny/test-labels", idx_file({2}, "\x09\x01")),
                  "test-labels: label 0: expected a class below 3, got 9");
}

TEST(Images, MissingSetsSayHowToGetThem) {
  const TempDirectory directory;
  EXPECT_CONTAINS(message_of<FileError>([&] { load(directory, test::small_idx_set()); }),
                  "tiny/train-images: no such file; get it with: mixcert data fetch tiny --data ");
}

}  // namespace images_test
}  // namespace mixcert::lab
