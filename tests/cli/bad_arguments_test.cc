// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Wrong command lines: exit code 2, one line that names the option, nothing written.
#include "cli/model_files.h"
#include "cli/program.h"
#include "mixcert/io/model_file.h"

namespace mixcert::test {
namespace bad_arguments_test {

using Words = std::vector<std::string>;

class BadArguments : public CommandLineTest {
 protected:
  BadArguments() {
    save_network(directory_ / "net.safetensors", small_network({2, 4, 1}));
    write_inputs(directory_ / "x.csv", 3, 2);
    write_text(directory_ / "old.npz", "old arrays");
    write_text(directory_ / "old.json", "old report");
    std::filesystem::create_directory(directory_ / "folder");
  }
};

struct BadCase {
  Words words;
  Words parts;  ///< of the message
};

void PrintTo(const BadCase& bad, std::ostream* stream) { *stream << ::testing::PrintToString(bad.words); }

class BadCertifyOption : public BadArguments, public ::testing::WithParamInterface<BadCase> {};

TEST_P(BadCertifyOption, IsRefused) {
  Words words = {"certify", "net.safetensors", "--inputs", "x.csv"};
  words.insert(words.end(), GetParam().words.begin(), GetParam().words.end());
  expect_refusal(words, GetParam().parts);
  if (words.end() != std::find(words.begin(), words.end(), "--out")) return;
  words.insert(words.end(), {"--out", "old.npz", "--json", "old.json"});
  if (GetParam().words.front() != "--json") expect_refusal(words, GetParam().parts);
}

INSTANTIATE_TEST_SUITE_P(
    Values, BadCertifyOption,
    ::testing::Values(BadCase{{"--frobnicate", "3"}, {"unknown option --frobnicate"}},
                      BadCase{{"extra"}, {"extra"}}, BadCase{{"--seed", "-1"}, {"--seed", "'-1'"}},
                      BadCase{{"--seed", "18446744073709551616"}, {"--seed"}},
                      BadCase{{"--seed", "1.5"}, {"--seed", "integer", "'1.5'"}},
                      BadCase{{"--seed", "1", "--seed", "1"}, {"--seed"}},
                      BadCase{{"--inputs", "x.csv"}, {"--inputs"}}, BadCase{{"--joint=3"}, {"--joint"}},
                      BadCase{{"--method", "grid"}, {"--method", "signature|cross", "'grid'"}},
                      BadCase{{"--method", ""}, {"--method"}},
                      BadCase{{"--certificate", "none"}, {"--certificate", "metric", "'none'"}},
                      BadCase{{"--grid", "Uniform"}, {"--grid", "adaptive|uniform"}},
                      BadCase{{"--signature-size", "0"}, {"--signature-size", "1..1000000", "'0'"}},
                      BadCase{{"--signature-size", "1000001"}, {"--signature-size"}},
                      BadCase{{"--signature-size", "ten"}, {"--signature-size", "'ten'"}},
                      BadCase{{"--signature-size", "1e3"}, {"--signature-size", "'1e3'"}},
                      BadCase{{"--components", "-1"}, {"--components", "'-1'"}},
                      BadCase{{"--max-components", "0"}, {"--max-components", "'0'"}},
                      BadCase{{"--threads", "99999"}, {"--threads", "'99999'"}},
                      BadCase{{"--epsilon", "0"}, {"--epsilon", "'0'"}},
                      BadCase{{"--epsilon", "-0.5"}, {"--epsilon", "'-0.5'"}},
                      BadCase{{"--epsilon", "nan"}, {"--epsilon", "'nan'"}},
                      BadCase{{"--epsilon", "inf"}, {"--epsilon", "'inf'"}},
                      BadCase{{"--epsilon", "0.1x"}, {"--epsilon", "'0.1x'"}},
                      BadCase{{"--epsilon", "0.1", "--method", "cross"}, {"--epsilon", "cross"}},
                      BadCase{{"--max-memory-in-gib", "0"}, {"--max-memory-in-gib"}},
                      BadCase{{"--out", "folder"}, {"folder", "regular file"}},
                      BadCase{{"--json", "folder"}, {"folder", "regular file"}},
                      BadCase{{"--out", "missing/r.npz"}, {"missing/r.npz"}},
                      BadCase{{"--out", "/proc/r.npz"}, {"/proc/r.npz"}},
                      BadCase{{"--out", "old.npz", "--json", "/proc/r.json"}, {"/proc/r.json"}},
                      BadCase{{"--out", "same", "--json", "./same"}, {"--json", "--out"}},
                      BadCase{{"--out", "net.safetensors"}, {"--out", "net.safetensors", "MODEL"}},
                      BadCase{{"--json", "x.csv"}, {"--json", "x.csv", "--inputs"}}));

class BadCommand : public BadArguments, public ::testing::WithParamInterface<BadCase> {};

TEST_P(BadCommand, IsRefused) { expect_refusal(GetParam().words, GetParam().parts); }

INSTANTIATE_TEST_SUITE_P(
    Words, BadCommand,
    ::testing::Values(
        BadCase{{}, {"command", "certify", "got none"}}, BadCase{{"certfy"}, {"'certfy'", "certify"}},
        BadCase{{"--frobnicate"}, {"--frobnicate"}}, BadCase{{"certify"}, {"required"}},
        BadCase{{"certify", "net.safetensors"}, {"--inputs", "required"}},
        BadCase{{"certify", "--inputs", "x.csv"}, {"MODEL", "required"}},
        BadCase{{"certify", "net.safetensors", "--inputs"}, {"--inputs"}},
        BadCase{{"sample", "net.safetensors", "--inputs", "x.csv"}, {"--out", "required"}},
        BadCase{{"sample", "net.safetensors", "--inputs", "x.csv", "--out", "folder"}, {"folder"}},
        BadCase{{"sample", "net.safetensors", "--inputs", "x.csv", "--out", "x.csv"}, {"--out", "x.csv"}},
        BadCase{{"sample", "net.safetensors", "--inputs", "x.csv", "--out", "old.npz", "--samples", "1"},
                {"--samples", "'1'"}},
        BadCase{
            {"sample", "net.safetensors", "--inputs", "x.csv", "--out", "old.npz", "--samples", "1000000000"},
            {"--samples", "GiB"}},
        BadCase{{"compare", "net.safetensors", "--inputs", "x.csv"}, {"--result", "required"}},
        BadCase{{"compare", "net.safetensors", "--inputs", "x.csv", "--result", "old.npz"}, {"old.npz"}},
        BadCase{{"certify", "net.safetensors", "--inputs", "x.csv", "--report", "x.csv"},
                {"--report", "x.csv"}},
        BadCase{{"certify", "net.safetensors", "--inputs", "x.csv", "--image", "1x2"},
                {"--image", "--report"}},
        BadCase{{"certify", "net.safetensors", "--inputs", "x.csv", "--report", "r.html", "--image", "2x2"},
                {"--image", "1 x 2 x 2"}},
        BadCase{{"certify", "net.safetensors", "--inputs", "x.csv", "--report", "r.html", "--image", "2"},
                {"--image", "28x28", "'2'"}},
        BadCase{{"certify", "net.safetensors", "--inputs", "x.csv", "--report", "r.html", "--classes"},
                {"--classes", "two outputs"}},
        BadCase{{"inspect"}, {"MODEL", "required"}},
        BadCase{{"inspect", "net.safetensors", "extra"}, {"'extra'"}},
        BadCase{{"options", "--joint"}, {"unknown option --joint"}}));

class AbsurdSizes : public BadArguments {
 protected:
  AbsurdSizes() { save_network(directory_ / "wide.safetensors", small_network({2, 512, 8, 8, 1})); }
};

TEST_F(AbsurdSizes, SayHowMuchMemoryIsNeeded) {
  // One hidden layer: refused before a word is said of long work, under a sanitizer too.
  save_network(directory_ / "short.safetensors", small_network({2, 512, 1}));
  expect_refusal({"certify", "short.safetensors", "--inputs", "x.csv", "--method", "signature",
                  "--signature-size", "1000000", "--components", "0", "--out", "old.npz"},
                 {"GiB", "limit of 8.0 GiB", "--max-memory-in-gib"});
}

TEST_F(AbsurdSizes, JointOverManyInputsNeedsMemory) {
  // Small enough to be refused before a word is said of long work, under a sanitizer too.
  save_network(directory_ / "broad.safetensors", small_network({2, 128, 8, 8, 1}));
  write_inputs(directory_ / "many.csv", 300, 2);
  expect_refusal({"certify", "broad.safetensors", "--inputs", "many.csv", "--joint", "--max-memory-in-gib",
                  "0.01", "--json", "old.json"},
                 {"GiB", "--max-memory-in-gib"});
}

TEST_F(AbsurdSizes, FilesAboveTheLimitAreNotRead) {
  expect_refusal(
      {"certify", "wide.safetensors", "--inputs", "x.csv", "--max-memory-in-gib", "1e-6", "--out", "old.npz"},
      {"wide.safetensors", "KiB"});
}

}  // namespace bad_arguments_test
}  // namespace mixcert::test
