// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Bytes of data files: compression, sums, sizes.
#include "data/contents.h"

#include "lab/data/small_sets.h"

namespace mixcert::lab {
namespace contents_test {

using mixcert::test::message_of;
using mixcert::test::TempDirectory;
using test::described;
using test::gzipped;
using test::put;

TEST(Digest, IsTheStandardOne) {
  EXPECT_EQ(digest("abc", 32), "900150983cd24fb0d6963f7d28e17f72");
  EXPECT_EQ(digest("abc", 64), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(Gunzip, GivesBackWhatWasCompressed) {
  const std::string text(1000000, 'x');
  EXPECT_EQ(gunzip(gzipped(text), "f", text.size()), text);
  EXPECT_EQ(gunzip(gzipped(""), "f", 0), "");
}

TEST(Gunzip, RefusesEveryTruncation) {
  const std::string bytes = gzipped("some contents of a file");
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const std::string message = message_of<FileError>([&] { gunzip(bytes.substr(0, size), "f.gz", 1000); });
    EXPECT_TRUE(message.starts_with("f.gz: gzip: expected ")) << message;
  }
}

TEST(Gunzip, RefusesEveryFlippedByteOrGivesTheContents) {
  const std::string text = "some contents of a file";
  const std::string bytes = gzipped(text);
  int refused = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    std::string damaged = bytes;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x55);
    try {
      EXPECT_EQ(gunzip(damaged, "f.gz", 1000), text) << "byte " << i;  // time stamp and the like
    } catch (const FileError&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, static_cast<int>(text.size()));
}

TEST(Gunzip, RefusesGarbageBombsAndWhatFollows) {
  EXPECT_CONTAINS(message_of<FileError>([] { gunzip("not compressed at all", "f", 1000); }), "damaged data");
  const std::string bomb = gzipped(std::string(1000000, '\0'));
  EXPECT_CONTAINS(message_of<FileError>([&] { gunzip(bomb, "f", 999999); }),
                  "at most 999999 bytes, got more");
  EXPECT_CONTAINS(message_of<FileError>([] { gunzip(gzipped("a") + "b", "f", 10); }), "bytes after its end");
}

class CheckedFiles : public ::testing::Test {
 protected:
  TempDirectory directory_;
  DataFile expected_ = described("set/file", "contents");
};

TEST_F(CheckedFiles, AreFoundPlainOrCompressed) {
  put(directory_ / "set/file.gz", gzipped("contents"));
  EXPECT_EQ(load_contents(directory_ / ".", expected_), "contents");
  put(directory_ / "set/file", "contents");
  EXPECT_EQ(load_contents(directory_ / ".", expected_), "contents");
}

TEST_F(CheckedFiles, SayWhatIsWrong) {
  const auto message = [this] {
    return message_of<FileError>([this] { load_contents(directory_ / ".", expected_); });
  };
  EXPECT_CONTAINS(message(), "set/file: cannot open");
  put(directory_ / "set/file", "content");
  EXPECT_CONTAINS(message(), "set/file: size: expected 8 bytes, got 7");
  put(directory_ / "set/file", "contents!");
  EXPECT_CONTAINS(message(), "set/file: size: expected at most 8 bytes, got 9");
  put(directory_ / "set/file", "Contents");
  EXPECT_CONTAINS(message(),
                  "set/file: sha256: expected " + expected_.sum + ", got " + digest("Contents", 64));
}

TEST_F(CheckedFiles, RefuseFoldersAndHugeCompressedFiles) {
  std::filesystem::create_directories(directory_ / "set/file");
  EXPECT_CONTAINS(message_of<FileError>([this] { load_contents(directory_ / ".", expected_); }),
                  "expected a regular file");
  put(directory_ / "set/big.gz", std::string(100000, 'x'));
  EXPECT_CONTAINS(message_of<FileError>([this] { read_checked(directory_ / "set/big.gz", expected_); }),
                  "size: expected at most");
}

}  // namespace contents_test
}  // namespace mixcert::lab
