// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// What killed programs left beside an output file goes with the next run, and nothing else does.
#include "io/files/partial_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "io/files/atomic_file.h"
#include "io/test_files.h"

namespace mixcert {
namespace partial_file_test {

using test::read_text;

class PartialFileTest : public ::testing::Test {
 protected:
  /// The number of a process that has ended.
  static std::string ended_process() {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(0);
    ::waitpid(child, nullptr, 0);
    return std::to_string(child);
  }
  void leave(const std::string& name) const { test::write_text(directory_ / name, "half"); }
  [[nodiscard]] bool is_there(const std::string& name) const {
    return std::filesystem::exists(directory_ / name);
  }
  /// As a run does that writes the target.
  void write_target() const {
    AtomicFile file(target_);
    file.write("whole");
    file.commit();
  }

  test::TempDirectory directory_;
  std::filesystem::path target_ = directory_ / "out.npz";
};

TEST_F(PartialFileTest, LeftoversOfEndedProcessesGo) {
  const std::string name = ".out.npz.partial-" + ended_process() + "-0";
  leave(name);
  leave(name + ".aB3x9Q");  // libzip's, beside it
  leave(".out.npz.partial-" + ended_process() + "-12.aB3x9Q");
  write_target();
  EXPECT_EQ(directory_.count(), 1);
  EXPECT_EQ(read_text(target_), "whole");
}

TEST_F(PartialFileTest, FilesOfOthersStay) {
  const std::string ended = ended_process();
  const std::vector<std::string> names = {".out.npz.partial-1-0",                // a process that runs
                                          ".other.npz.partial-" + ended + "-0",  // of another target
                                          ".out.npz.partial-" + ended + "-0x",
                                          ".out.npz.partial-x-0",
                                          ".out.npz.partial-" + ended,
                                          "out.npz.partial-" + ended + "-0"};
  for (const std::string& name : names) leave(name);
  write_target();
  for (const std::string& name : names) EXPECT_TRUE(is_there(name)) << name;
}

TEST_F(PartialFileTest, LockedFilesStay) {
  // As of a process on another machine, whose number means nothing here.
  const std::string name = ".out.npz.partial-" + ended_process() + "-0";
  leave(name);
  const int descriptor = ::open((directory_ / name).c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_EQ(::flock(descriptor, LOCK_EX), 0);
  write_target();
  EXPECT_TRUE(is_there(name));
  ::close(descriptor);
  write_target();
  EXPECT_FALSE(is_there(name));
}

TEST_F(PartialFileTest, OwnFilesStayWhileTheyAreWritten) {
  AtomicFile first(target_);
  first.write("first");
  write_target();
  first.commit();
  EXPECT_EQ(read_text(target_), "first");
}

TEST_F(PartialFileTest, ThreadsThatWriteOneRelativeTargetDoNotDisturbEachOther) {
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(target_.parent_path());
  std::atomic<int> failures{0};
  const auto write_often = [&failures] {
    for (int round = 0; round < 100; ++round) {
      try {
        AtomicFile file("same.txt");
        file.write("whole");
        file.commit();
      } catch (const std::exception&) {
        ++failures;
      }
    }
  };
  std::thread other(write_often);
  write_often();
  other.join();
  std::filesystem::current_path(before);
  EXPECT_EQ(failures.load(), 0);
  EXPECT_EQ(read_text(directory_ / "same.txt"), "whole");
  EXPECT_EQ(directory_.count(), 1);
}

TEST_F(PartialFileTest, AnEarlierProcessMayHaveHadTheSameNumber) {
  const std::string name = ".out.npz.partial-" + std::to_string(::getpid()) + "-999999999";
  leave(name);
  write_target();
  EXPECT_FALSE(is_there(name));
}

TEST_F(PartialFileTest, AHandlerRemovesWhatIsOpen) {
  AtomicFile open(target_);
  write_target();
  const std::filesystem::path partial = open.partial_path();
  ASSERT_TRUE(std::filesystem::exists(partial));
  io::remove_partial_files();
  EXPECT_FALSE(std::filesystem::exists(partial));
  EXPECT_EQ(read_text(target_), "whole");  // committed, and so forgotten
}

}  // namespace partial_file_test
}  // namespace mixcert
