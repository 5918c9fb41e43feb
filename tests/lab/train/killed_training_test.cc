// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The program, killed at random moments and started again, ends with the file of an undisturbed run.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <thread>

#include "io/test_files.h"
#include "mixcert/core/rng.h"

namespace mixcert::lab {
namespace killed_training_test {

using std::chrono::milliseconds;
constexpr int kKills = 10;

class LabProgram {
 public:
  explicit LabProgram(const std::filesystem::path& out) {
    const std::string name = out.string();
    process_ = fork();
    if (process_ != 0) return;
    const std::string log = name + ".log";
    (void)!freopen(log.c_str(), "a", stdout);
    execl(MIXCERT_LAB_PROGRAM, "mixcert-lab", "train", "--data", "noisy-sines", "--arch", "1-32-32-1",
          "--epochs", "300", "--warm-up-epochs", "200", "--weight-samples", "1", "--checkpoint-seconds",
          "0.02", "--out", name.c_str(), nullptr);
    _exit(127);
  }
  ~LabProgram() {
    if (process_ > 0) send_and_wait(SIGKILL);
  }
  LabProgram(const LabProgram&) = delete;
  LabProgram& operator=(const LabProgram&) = delete;

  /// Waits; -1 where a signal ended the program.
  int wait() {
    int status = 0;
    waitpid(process_, &status, 0);
    process_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  int send_and_wait(int signal) {
    kill(process_, signal);
    return wait();
  }

 private:
  pid_t process_ = -1;
};

/// Until the checkpoint is another than at the beginning; false after a minute.
class CheckpointWatch {
 public:
  explicit CheckpointWatch(const std::filesystem::path& out)
      : path_(out.string() + ".checkpoint"), before_(test::read_text(path_)) {}
  [[nodiscard]] bool wait_for_change() const {
    for (int i = 0; i < 60000; ++i) {
      if (test::read_text(path_) != before_) return true;
      std::this_thread::sleep_for(milliseconds(1));
    }
    return false;
  }

 private:
  std::filesystem::path path_;
  std::string before_;
};

milliseconds time_of_run(const std::filesystem::path& out) {
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(LabProgram(out).wait(), 0);
  return std::chrono::duration_cast<milliseconds>(std::chrono::steady_clock::now() - begin);
}

TEST(KilledTraining, EndsWithTheSameFile) {
  const test::TempDirectory directory;
  const milliseconds whole = time_of_run(directory / "straight.safetensors");
  Generator generator = make_generator(1, Stream::Example);
  for (int i = 0; i < kKills; ++i) {
    const CheckpointWatch watch(directory / "killed.safetensors");
    LabProgram program(directory / "killed.safetensors");
    ASSERT_TRUE(watch.wait_for_change());
    // Short enough that ten runs do not reach the end.
    std::this_thread::sleep_for(whole / 20 * uniform(generator));
    ASSERT_EQ(program.send_and_wait(SIGKILL), -1) << "the training ended before it was killed";
  }
  EXPECT_EQ(LabProgram(directory / "killed.safetensors").wait(), 0);
  EXPECT_TRUE(test::read_text(directory / "straight.safetensors") ==
              test::read_text(directory / "killed.safetensors"));
  EXPECT_NE(test::read_text(directory / "killed.safetensors.log").find("continues at step"),
            std::string::npos);
  EXPECT_EQ(directory.count(), 4) << "a checkpoint or an unfinished file was left";
}

TEST(KilledTraining, InterruptKeepsACheckpoint) {
  const test::TempDirectory directory;
  const milliseconds whole = time_of_run(directory / "straight.safetensors");
  LabProgram program(directory / "net.safetensors");
  std::this_thread::sleep_for(whole / 2);
  EXPECT_EQ(program.send_and_wait(SIGINT), 130);
  EXPECT_TRUE(std::filesystem::exists(directory / "net.safetensors.checkpoint"));
  EXPECT_FALSE(std::filesystem::exists(directory / "net.safetensors"));
  EXPECT_EQ(LabProgram(directory / "net.safetensors").wait(), 0);
  EXPECT_TRUE(test::read_text(directory / "straight.safetensors") ==
              test::read_text(directory / "net.safetensors"));
}

}  // namespace killed_training_test
}  // namespace mixcert::lab
