// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Runs over many inputs: memory does not grow with their number, the table stays short, and
// progress is drawn on a terminal only.
#include "cli/model_files.h"
#include "cli/program.h"
#include "io/formats/npy.h"
#include "mixcert/io/model_file.h"

namespace mixcert::test {
namespace streaming_test {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif
#else
constexpr bool kSanitized = false;
#endif

class Streaming : public CommandLineTest {
 protected:
  Streaming() { save_network(directory_ / "net.safetensors", small_network({2, 8, 10})); }

  [[nodiscard]] Finished certify(Index inputs) const {
    write_inputs(directory_ / "x.csv", inputs, 2);
    Finished finished = run({"certify", "net.safetensors", "--inputs", "x.csv", "--threads", "2", "--out",
                             "r.npz", "--json", "r.json"});
    EXPECT_EQ(finished.exit_code, 0);
    EXPECT_EQ(finished.err, "");
    return finished;
  }
};

TEST_F(Streaming, MemoryDoesNotGrowWithTheInputs) {
  const long few = certify(200).peak_memory_in_kib;
  const long many = certify(2000).peak_memory_in_kib;
  // The covariances of 2,000 inputs alone are 2000 x 10 x 10 x 10 numbers, 16 MB.
  EXPECT_EQ(read_npz(directory_ / "r.npz").at("means").shape.front(), 2000);
  if (kSanitized) GTEST_SKIP() << "a sanitizer keeps freed memory";
  EXPECT_LT(many - few, 8 * 1024);
}

TEST_F(Streaming, ManyRowsAreCountedNotPrinted) {
  const std::string out = certify(200).out;
  EXPECT_CONTAINS(out, ".. and 180 more inputs");
  EXPECT_LT(std::count(out.begin(), out.end(), '\n'), 40);
}

TEST_F(Streaming, ProgressIsDrawnOnATerminal) {
  if (!has_terminals()) GTEST_SKIP() << "this machine gives no pseudo-terminals (is /dev/pts mounted?)";
  write_inputs(directory_ / "x.csv", 50, 2);
  const Finished finished =
      Program(directory_ / ".", {"certify", "net.safetensors", "--inputs", "x.csv"}, ErrorStream::Terminal)
          .wait();
  EXPECT_EQ(finished.exit_code, 0);
  EXPECT_CONTAINS(finished.err, "certify [");
  EXPECT_CONTAINS(finished.err, "/50");
  EXPECT_EQ(finished.err.substr(finished.err.rfind('\r')), "\r\033[K") << "the bar must be wiped at the end";
  EXPECT_EQ(finished.out.find('\r'), std::string::npos);
}

}  // namespace streaming_test
}  // namespace mixcert::test
