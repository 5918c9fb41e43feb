// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// certify --proof and mixcert-check as a user meets them.
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <cstdlib>

#include "cli/model_files.h"
#include "cli/program.h"
#include "mixcert/io/model_file.h"

namespace mixcert::test {
namespace proof_command_test {

class ProofCommand : public CommandLineTest {
 protected:
  ProofCommand() {
    save_network(directory_ / "m.safetensors", small_network({2, 6, 5, 2}));
    save_network(directory_ / "other.safetensors", small_network({2, 7, 5, 2}));
    write_inputs(directory_ / "x.csv", 3, 2);
  }
  /// Exit status of mixcert-check, and all that it prints.
  [[nodiscard]] std::pair<int, std::string> check(const std::string& words) const {
    const std::string command =
        "cd '" + (directory_ / ".").string() + "' && " MIXCERT_CHECK_PROGRAM " " + words + " 2>&1";
    FILE* pipe = ::popen(command.c_str(), "r");
    if (pipe == nullptr) return {-1, "popen failed"};
    std::string text;
    std::array<char, 512> part{};
    while (std::fgets(part.data(), part.size(), pipe) != nullptr) text += part.data();
    const int status = ::pclose(pipe);
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, text};
  }
};

TEST_F(ProofCommand, IsWrittenAndChecked) {
  const std::string out = run_well({"certify", "m.safetensors", "--inputs", "x.csv", "--proof", "p.proof"});
  EXPECT_NE(out.find("wrote p.proof"), std::string::npos) << out;
  EXPECT_NE(out.find("mixcert-check m.safetensors p.proof"), std::string::npos) << out;
  const auto [status, text] = check("m.safetensors p.proof");
  EXPECT_EQ(status, 0) << text;
  EXPECT_NE(text.find("input 2  checked: W2 <= "), std::string::npos) << text;
  EXPECT_NE(text.find("at all 3 inputs"), std::string::npos) << text;
}

TEST_F(ProofCommand, IsCheckedAndTheReportSaysSo) {
  const std::vector<std::string> words = {"certify", "m.safetensors", "--inputs", "x.csv", "--proof",
                                          "p.proof", "--check",       "--report", "r.html"};
  const std::string out = run_well(words);
  EXPECT_NE(out.find("(Arb "), std::string::npos) << out;
  EXPECT_NE(out.find("at all 3 inputs"), std::string::npos) << out;
  const std::string page = read_text(directory_ / "r.html");
  EXPECT_NE(page.find("Checked"), std::string::npos);
  EXPECT_NE(page.find("mixcert-check "), std::string::npos);
  expect_refusal({"certify", "m.safetensors", "--inputs", "x.csv", "--check"}, {"--check", "--proof"});
}

TEST_F(ProofCommand, IsTheSameWhereARunGoesOn) {
  const std::vector<std::string> words = {"certify", "m.safetensors", "--inputs", "x.csv",
                                          "--out",   "r.npz",         "--proof",  "p.proof"};
  (void)run_well(words);
  const std::string first = read_text(directory_ / "p.proof");
  std::vector<std::string> again = words;
  again.emplace_back("--resume");
  (void)run_well(again);
  EXPECT_EQ(read_text(directory_ / "p.proof"), first);
}

TEST_F(ProofCommand, CheckerNamesWhatIsWrong) {
  (void)run_well({"certify", "m.safetensors", "--inputs", "x.csv", "--proof", "p.proof"});
  const auto [other, other_text] = check("other.safetensors p.proof");
  EXPECT_EQ(other, 1);
  EXPECT_NE(other_text.find("not proven: the proof is about another model"), std::string::npos) << other_text;
  EXPECT_EQ(check("absent.safetensors p.proof").first, 2);
  EXPECT_EQ(check("m.safetensors x.csv").first, 2);
  EXPECT_EQ(check("m.safetensors").first, 2);
  EXPECT_EQ(check("--help").first, 0);
  EXPECT_NE(check("--version").second.find("Arb"), std::string::npos);
}

TEST_F(ProofCommand, WhatHasNoProofIsRefusedBeforeWork) {
  const std::vector<std::string> words = {"certify", "m.safetensors", "--inputs",
                                          "x.csv",   "--proof",       "p.proof"};
  const auto with = [&words](std::initializer_list<std::string> more) {
    std::vector<std::string> all = words;
    all.insert(all.end(), more);
    return all;
  };
  expect_refusal(with({"--method", "signature"}), {"--proof", "method moment"});
  expect_refusal(with({"--pieces", "4"}), {"--proof", "one piece"});
  expect_refusal(with({"--joint"}), {"--proof", "inputs one by one"});
  expect_refusal(with({"--functional", "y0 - y1"}), {"--proof", "all of its outputs"});
  expect_refusal({"certify", "m.safetensors", "m.safetensors", "--inputs", "x.csv", "--proof", "p.proof"},
                 {"--proof", "one model"});
}

}  // namespace proof_command_test
}  // namespace mixcert::test
