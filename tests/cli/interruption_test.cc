// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Signals in the middle of the work: exit code 130, one line, and the directory as it was.
#include <csignal>
#include <thread>

#include "cli/model_files.h"
#include "cli/program.h"
#include "mixcert/io/model_file.h"

namespace mixcert::test {
namespace {

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
  EXPECT_EQ(finished.err, "mixcert: interrupted, nothing was written\n");
  EXPECT_TRUE(snapshot(directory_ / ".") == before) << "files were changed or left behind";
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

}  // namespace
}  // namespace mixcert::test
