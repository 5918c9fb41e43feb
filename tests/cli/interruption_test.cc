// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Signals in the middle of the work: exit code 130, one line, and the directory as it was, but for the
// journal of a certification, from which --resume makes the file of an uninterrupted run.
#include <csignal>
#include <thread>

#include "cli/model_files.h"
#include "cli/program.h"
#include "mixcert/io/model_file.h"
#include "mixcert/io/result_file.h"

namespace mixcert::test {
namespace interruption_test {

using Words = std::vector<std::string>;
using std::chrono::milliseconds;

struct LongRun {
  const char* name;
  Words words;
};

class Interruption : public CommandLineTest, public ::testing::WithParamInterface<std::tuple<LongRun, int>> {
 protected:
  Interruption() {
    save_network(directory_ / "net.safetensors", small_network({2, 24, 24, 2}));
    write_inputs(directory_ / "x.csv", 20000, 2);
    write_text(directory_ / "old.npz", "old arrays");
    write_text(directory_ / "old.json", "old report");
  }

  /// Until the program has begun to write beside its target.
  [[nodiscard]] bool wait_for_partial_file(std::ptrdiff_t count_before) const {
    for (int i = 0; i < 1000; ++i) {
      if (directory_.count() > count_before) return true;
      std::this_thread::sleep_for(milliseconds(10));
    }
    return false;
  }
};

TEST_P(Interruption, LeavesNothingBehind) {
  const auto& [long_run, signal] = GetParam();
  const auto before = snapshot(directory_ / ".");
  Program program(directory_ / ".", long_run.words);
  ASSERT_TRUE(wait_for_partial_file(static_cast<std::ptrdiff_t>(before.size())));
  std::this_thread::sleep_for(milliseconds(100));
  EXPECT_EQ(read_text(directory_ / "old.npz"), "old arrays");
  program.send(signal);
  const Finished finished = program.wait();
  EXPECT_EQ(finished.exit_code, 130);
  auto after = snapshot(directory_ / ".");
  if (std::erase_if(after, [](const auto& file) { return file.first.ends_with("old.npz.journal"); }) > 0) {
    EXPECT_CONTAINS(finished.err, "of 20000 inputs are kept in old.npz.journal, --resume continues\n");
  } else {
    EXPECT_EQ(finished.err, "mixcert: interrupted, nothing was written\n");
  }
  EXPECT_TRUE(after == before) << "files were changed or left behind";
}

/// Who does not wait for the first signal to be seen ends the program at once, and finds nothing left either.
class SecondSignal : public CommandLineTest {};

TEST_F(SecondSignal, LeavesNoPartialFile) {
  save_network(directory_ / "net.safetensors", small_network({2, 24, 24, 2}));
  write_inputs(directory_ / "x.csv", 20000, 2);
  Program program(directory_ / ".", {"sample", "net.safetensors", "--inputs", "x.csv", "--samples", "100000",
                                     "--out", "s.npz"});
  for (int i = 0; i < 1000 && directory_.count() == 2; ++i) std::this_thread::sleep_for(milliseconds(10));
  ASSERT_GT(directory_.count(), 2);
  program.send(SIGINT);
  std::this_thread::sleep_for(milliseconds(300));
  program.send(SIGTERM);
  (void)program.wait();
  EXPECT_EQ(directory_.count(), 2);
}

TEST_F(SecondSignal, TheNextRunRemovesWhatAKillLeaves) {
  save_network(directory_ / "net.safetensors", small_network({2, 24, 24, 2}));
  write_inputs(directory_ / "x.csv", 20000, 2);
  const Words words = {"sample",    "net.safetensors", "--inputs", "x.csv",
                       "--samples", "100000",          "--out",    "s.npz"};
  Program program(directory_ / ".", words);
  for (int i = 0; i < 1000 && directory_.count() == 2; ++i) std::this_thread::sleep_for(milliseconds(10));
  program.send(SIGKILL);
  (void)program.wait();
  ASSERT_GT(directory_.count(), 2);
  Words shorter = words;
  shorter[5] = "2";
  (void)run_well(shorter);
  EXPECT_EQ(directory_.count(), 3);
}

/// Work that is expected to be long is announced, whatever becomes of it.
TEST_F(SecondSignal, LongWorkIsAnnouncedFirst) {
  save_network(directory_ / "net.safetensors", small_network({2, 64, 64, 2}));
  write_inputs(directory_ / "x.csv", 200000, 2);
  Program program(directory_ / ".",
                  {"certify", "net.safetensors", "--inputs", "x.csv", "--pieces", "4", "--out", "r.npz"});
  for (int i = 0; i < 1000 && directory_.count() == 2; ++i) std::this_thread::sleep_for(milliseconds(10));
  std::this_thread::sleep_for(milliseconds(2500));
  program.send(SIGINT);
  const Finished finished = program.wait();
  EXPECT_EQ(finished.exit_code, 130);
  EXPECT_TRUE(finished.err.starts_with("mixcert: about ")) << finished.err;
  EXPECT_CONTAINS(finished.err,
                  " GiB are expected (an estimate from sizes): the moment method; less with fewer --pieces");
}

/// A box has a cover at any time: cells that were certified are written.
class BoxSignal : public CommandLineTest {};

TEST_F(BoxSignal, ABoxIsCoveredAllTheSame) {
  save_network(directory_ / "net.safetensors", small_network({2, 24, 24, 2}));
  Program program(directory_ / ".", {"certify", "net.safetensors", "--box", "-1,1", "--max-cells", "200000",
                                     "--out", "r.npz", "--report", "r.html", "--classes"});
  std::this_thread::sleep_for(milliseconds(3000));
  program.send(SIGINT);
  program.send(SIGINT);  // as `timeout -s INT` does
  const Finished finished = program.wait();
  EXPECT_EQ(finished.exit_code, 130);
  EXPECT_CONTAINS(finished.err,
                  "mixcert: interrupted; the box is covered all the same, with larger bounds\n");
  EXPECT_CONTAINS(finished.out, "wrote r.npz\nwrote r.html\n");
  double area = 0.0;
  for (const StoredResult& cell : read_run(directory_ / "r.npz").results)
    area += (cell.cell->upper - cell.cell->lower).prod();
  EXPECT_NEAR(area, 4.0, 1e-12);
}

/// The process is killed again and again, once while it writes the archive at times.
class Kills : public CommandLineTest {};

TEST_F(Kills, ResumedRunsWriteTheSameFile) {
  save_network(directory_ / "net.safetensors", small_network({2, 24, 24, 2}));
  write_inputs(directory_ / "x.csv", 600, 2);
  const Words words = {"certify", "net.safetensors", "--inputs", "x.csv", "--out", "r.npz"};
  (void)run_well(words);
  const std::string whole = read_text(directory_ / "r.npz");
  std::filesystem::remove(directory_ / "r.npz");
  Words resumed = words;
  resumed.emplace_back("--resume");
  int kills = 0;
  for (int delay = 20; kills < 8 && !std::filesystem::exists(directory_ / "r.npz"); ++kills) {
    Program program(directory_ / ".", resumed);
    std::this_thread::sleep_for(milliseconds(delay));
    program.send(SIGKILL);
    (void)program.wait();
    // Until the first journal longer and longer: under a sanitizer the program takes long to begin.
    const bool has_begun = std::filesystem::exists(directory_ / "r.npz.journal");
    delay = has_begun ? 20 + (delay * 7) % 90 : 2 * delay;
  }
  if (!std::filesystem::exists(directory_ / "r.npz")) {
    const auto journal = std::filesystem::file_size(directory_ / "r.npz.journal");
    EXPECT_GT(journal, 0U);
    if (kills > 0 && journal > 4096) {
      EXPECT_CONTAINS(run(words).err, "--resume continues it");  // not thrown away by accident
    }
    (void)run_well(resumed);
  } else if (std::filesystem::exists(directory_ / "r.npz.journal")) {
    (void)run_well(resumed);  // the last kill came between the result and the end of its journal
  }
  EXPECT_TRUE(read_text(directory_ / "r.npz") == whole) << "after " << kills << " kills";
  EXPECT_FALSE(std::filesystem::exists(directory_ / "r.npz.journal"));
  Words other = resumed;
  other.insert(other.end(), {"--seed", "1"});
  (void)run_well(other);  // nothing to resume: an ordinary run
}

TEST_F(Kills, ResumeNeedsAnOutputAndSingleInputs) {
  save_network(directory_ / "net.safetensors", small_network({2, 4, 2}));
  write_inputs(directory_ / "x.csv", 3, 2);
  const Words words = {"certify", "net.safetensors", "--inputs", "x.csv", "--resume"};
  expect_refusal(words, {"--resume", "--out"});
  Words joint = words;
  joint.insert(joint.end(), {"--out", "r.npz", "--joint"});
  expect_refusal(joint, {"--resume"});
}

const LongRun kLongRuns[] = {
    {"CertifyManyInputs",
     {"certify", "net.safetensors", "--inputs", "x.csv", "--signature-size", "50", "--out", "old.npz",
      "--json", "old.json"}},
    {"Sample", {"sample", "net.safetensors", "--inputs", "x.csv", "--samples", "100000", "--out", "old.npz"}},
};

INSTANTIATE_TEST_SUITE_P(Signals, Interruption,
                         ::testing::Combine(::testing::ValuesIn(kLongRuns),
                                            ::testing::Values(SIGINT, SIGTERM)),
                         [](const auto& parameter) {
                           return std::get<0>(parameter.param).name +
                                  std::string(std::get<1>(parameter.param) == SIGINT ? "Interrupt"
                                                                                     : "Terminate");
                         });

}  // namespace interruption_test
}  // namespace mixcert::test
