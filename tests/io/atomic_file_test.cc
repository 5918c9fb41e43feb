// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Files appear whole or not at all.
#include "io/files/atomic_file.h"

#include <sys/resource.h>

#include <csignal>

#include "io/test_files.h"

namespace mixcert {
namespace atomic_file_test {

using test::message_of;
using test::read_text;

/// Makes every write beyond `bytes` fail, as a full disk would.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &old_);
    rlimit limit = old_;
    limit.rlim_cur = bytes;
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &old_);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  rlimit old_{};
  void (*handler_)(int);
};

class AtomicFileTest : public ::testing::Test {
 protected:
  test::TempDirectory directory_;
  std::filesystem::path target_ = directory_ / "out.txt";
};

TEST_F(AtomicFileTest, AppearsAtCommitOnly) {
  AtomicFile file(target_);
  file.write("whole");
  EXPECT_FALSE(std::filesystem::exists(target_));
  EXPECT_EQ(file.partial_path().parent_path(), target_.parent_path());
  EXPECT_TRUE(file.partial_path().filename().string().starts_with(".out.txt.partial-"));
  file.commit();
  EXPECT_EQ(read_text(target_), "whole");
  EXPECT_EQ(directory_.count(), 1);
}

TEST_F(AtomicFileTest, LeavesTheOldFileWhenNotCommitted) {
  test::write_text(target_, "old");
  {
    AtomicFile file(target_);
    file.write("new");
    file.flush_to_disk();
  }
  EXPECT_EQ(read_text(target_), "old");
  EXPECT_EQ(directory_.count(), 1);
}

TEST_F(AtomicFileTest, LeavesTheOldFileWhenTheDiskIsFull) {
  test::write_text(target_, "old");
  const FileSizeLimit limit(4096);
  const std::string message = message_of<FileError>([&] {
    AtomicFile file(target_);
    file.write(std::string(100000, 'x'));
    file.commit();
  });
  EXPECT_CONTAINS(message, "out.txt: cannot write");
  EXPECT_EQ(read_text(target_), "old");
  EXPECT_EQ(directory_.count(), 1);
}

TEST_F(AtomicFileTest, TwoWritersDoNotMeet) {
  AtomicFile first(target_);
  AtomicFile second(target_);
  first.write("first");
  second.write("second");
  first.commit();
  second.commit();
  EXPECT_EQ(read_text(target_), "second");
  EXPECT_EQ(directory_.count(), 1);
}

TEST_F(AtomicFileTest, FollowsALink) {
  test::write_text(directory_ / "real.txt", "old");
  std::filesystem::create_symlink(directory_ / "real.txt", target_);
  AtomicFile file(target_);
  file.write("new");
  file.commit();
  EXPECT_TRUE(std::filesystem::is_symlink(target_));
  EXPECT_EQ(read_text(directory_ / "real.txt"), "new");
}

TEST_F(AtomicFileTest, RefusesWhatCannotBeReplaced) {
  std::filesystem::create_directory(target_);
  EXPECT_CONTAINS(message_of<FileError>([&] { AtomicFile file(target_); }), "regular file");
  EXPECT_CONTAINS(message_of<FileError>([&] { AtomicFile file("/dev/null"); }), "regular file");
  EXPECT_CONTAINS(message_of<FileError>([&] { AtomicFile file(directory_ / "no/such/out.txt"); }),
                  "cannot create");
}

TEST_F(AtomicFileTest, RefusesUseAfterTheEnd) {
  AtomicFile file(target_);
  file.commit();
  EXPECT_THROW(file.write("more"), InvalidArgument);
  EXPECT_THROW(file.commit(), InvalidArgument);
}

}  // namespace atomic_file_test
}  // namespace mixcert
