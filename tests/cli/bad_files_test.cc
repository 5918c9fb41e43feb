// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Wrong models and inputs: exit code 2, one line that names file, field and index, nothing written.
#include <cmath>
#include <limits>

#include "cli/model_files.h"
#include "cli/program.h"
#include "io/formats/npy.h"
#include "mixcert/io/model_file.h"

namespace mixcert::test {
namespace bad_files_test {

using Words = std::vector<std::string>;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

class BadFiles : public CommandLineTest {
 protected:
  BadFiles() {
    save_network(directory_ / "net.safetensors", small_network({2, 4, 1}));
    write_inputs(directory_ / "x.csv", 3, 2);
    for (const char* name : {"old.npz", "old.json", "old.npy"}) write_text(directory_ / name, "old");
  }

  /// All commands that read a model and inputs refuse them.
  void expect_refused_by_all(const std::string& model, const std::string& inputs, const Words& parts) const {
    const auto words = [&](const char* command, const Words& more) {
      Words result = {command, model, "--inputs", inputs};
      result.insert(result.end(), more.begin(), more.end());
      return result;
    };
    expect_refusal(words("certify", {"--out", "old.npz", "--json", "old.json"}), parts);
    expect_refusal(words("sample", {"--samples", "10", "--out", "old.npy"}), parts);
    expect_refusal(words("compare", {"--result", "old.npz", "--json", "old.json"}), parts);
  }
};

struct BadModelCase {
  const char* name;
  void (*edit)(Tensors&, Metadata&);
  Words parts;
};

void PrintTo(const BadModelCase& bad, std::ostream* stream) { *stream << bad.name; }

void replace_text(std::string& text, const std::string& from, const std::string& to) {
  text.replace(text.find(from), from.size(), to);
}

class BadModel : public BadFiles, public ::testing::WithParamInterface<BadModelCase> {};

TEST_P(BadModel, IsRefused) {
  write_edited_model(directory_ / "bad.safetensors", GetParam().edit);
  Words parts = GetParam().parts;
  parts.emplace_back("bad.safetensors");
  expect_refused_by_all("bad.safetensors", "x.csv", parts);
  expect_refusal({"inspect", "bad.safetensors"}, parts);
}

const BadModelCase kBadModels[] = {
    {"NanInMean",
     [](Tensors& t, Metadata&) { t["0.weight.mean"].values[3] = kNan; },
     {"0.weight.mean", "[1, 1]"}},
    {"InfinityInBias",
     [](Tensors& t, Metadata&) { t["1.bias.mean"].values[0] = kInfinity; },
     {"1.bias.mean", "[0]"}},
    {"NegativeVariance",
     [](Tensors& t, Metadata&) { t["0.weight.variance"].values[7] = -1e-3; },
     {"layer '0'", "weight.variance", "[3, 1]", "-0.001"}},
    {"NegativeBiasVariance",
     [](Tensors& t, Metadata&) { t["0.bias.variance"].values[2] = -1.0; },
     {"layer '0'", "bias.variance", "[2]", "-1"}},
    {"CovarianceNotPsd",
     [](Tensors& t, Metadata&) {
       t.erase("1.weight.variance");
       Array covariance{{4, 4}, std::vector<double>(16, 0.0)};
       for (std::size_t i = 0; i < 4; ++i) covariance.values[5 * i] = i == 2 ? -0.5 : 1.0;
       t["1.weight.covariance"] = covariance;
     },
     {"layer '1'", "weight.covariance", "semidefinite", "-0.5"}},
    {"CovarianceNotSymmetric",
     [](Tensors& t, Metadata&) {
       t.erase("1.weight.variance");
       Array covariance{{4, 4}, std::vector<double>(16, 0.0)};
       for (std::size_t i = 0; i < 4; ++i) covariance.values[5 * i] = 1.0;
       covariance.values[1] = 0.25;
       t["1.weight.covariance"] = covariance;
     },
     {"layer '1'", "weight.covariance", "symmetric"}},
    {"WrongShape",
     [](Tensors& t, Metadata&) {
       t["0.weight.mean"].shape = {2, 4};
     },
     {"0.weight.mean", "[4, 2]", "[2, 4]"}},
    {"WrongVarianceShape",
     [](Tensors& t, Metadata&) {
       t["0.weight.variance"] = Array{{4}, {1.0, 1.0, 1.0, 1.0}};
     },
     {"0.weight.variance", "[4, 2]", "[4]"}},
    {"MissingTensor", [](Tensors& t, Metadata&) { t.erase("1.weight.mean"); }, {"1.weight.mean"}},
    {"TensorOfNoLayer",
     [](Tensors& t, Metadata&) {
       t["7.weight.mean"] = Array{{1}, {0.0}};
     },
     {"7.weight.mean"}},
    {"UnknownActivation",
     [](Tensors&, Metadata& m) { replace_text(m["architecture"], "tanh", "swoosh"); },
     {"swoosh", "relu"}},
    {"LayersDoNotChain",
     [](Tensors&, Metadata& m) { replace_text(m["architecture"], "\"in\":4", "\"in\":5"); },
     {"5"}},
    {"ArchitectureIsNoJson", [](Tensors&, Metadata& m) { m["architecture"] = "[{"; }, {"architecture"}},
    {"NoLayers", [](Tensors&, Metadata& m) { m["architecture"] = "[]"; }, {"architecture"}},
    {"OtherFormat", [](Tensors&, Metadata& m) { m["format"] = "pt"; }, {"format", "mixcert-network"}},
};

INSTANTIATE_TEST_SUITE_P(Edits, BadModel, ::testing::ValuesIn(kBadModels),
                         [](const auto& parameter) { return std::string(parameter.param.name); });

TEST_F(BadFiles, MissingOrNotAFile) {
  std::filesystem::create_directory(directory_ / "folder");
  std::filesystem::create_directory(directory_ / "folder.csv");
  expect_refused_by_all("none.safetensors", "x.csv", {"none.safetensors", "No such file"});
  expect_refused_by_all("folder", "x.csv", {"folder", "regular file"});
  expect_refused_by_all("x.csv", "x.csv", {"x.csv", "safetensors"});
  expect_refused_by_all("net.safetensors", "none.csv", {"none.csv", "No such file"});
  expect_refused_by_all("net.safetensors", "folder.csv", {"folder.csv", "regular file"});
  expect_refused_by_all("net.safetensors", "net.safetensors", {"net.safetensors", ".npy or .csv"});
}

TEST_F(BadFiles, TruncatedModelAtAnyLength) {
  const std::string good = read_text(directory_ / "net.safetensors");
  for (std::size_t length = 0; length < good.size(); length += 1 + good.size() / 40) {
    write_text(directory_ / "cut.safetensors", good.substr(0, length));
    expect_refusal({"certify", "cut.safetensors", "--inputs", "x.csv", "--out", "old.npz"},
                   {"cut.safetensors"});
  }
  write_text(directory_ / "cut.safetensors", good.substr(0, good.size() - 1));
  expect_refusal({"inspect", "cut.safetensors"}, {"cut.safetensors"});
}

struct BadInputsCase {
  const char* text;
  Words parts;
};

void PrintTo(const BadInputsCase& bad, std::ostream* stream) {
  *stream << ::testing::PrintToString(bad.text);
}

class BadInputs : public BadFiles, public ::testing::WithParamInterface<BadInputsCase> {};

TEST_P(BadInputs, AreRefused) {
  write_text(directory_ / "bad.csv", GetParam().text);
  Words parts = GetParam().parts;
  parts.emplace_back("bad.csv");
  expect_refused_by_all("net.safetensors", "bad.csv", parts);
}

INSTANTIATE_TEST_SUITE_P(Csv, BadInputs,
                         ::testing::Values(BadInputsCase{"", {"row"}}, BadInputsCase{"a,b\n", {"row"}},
                                           BadInputsCase{"1,2\n3,nan\n", {"line 2, column 2", "'nan'"}},
                                           BadInputsCase{"1,inf\n", {"column 2"}},
                                           BadInputsCase{"1,2\n3\n", {"line 2"}},
                                           BadInputsCase{"1,2\n3,x\n", {"line 2, column 2", "'x'"}},
                                           BadInputsCase{"1,2,3\n", {"expected 2 features", "got 3"}},
                                           BadInputsCase{"1\n", {"expected 2 features", "got 1"}}));

TEST_F(BadFiles, NpyInputs) {
  write_npy(directory_ / "empty.npy", Array{{0, 2}, {}});
  expect_refused_by_all("net.safetensors", "empty.npy", {"empty.npy", "at least one input"});
  write_npy(directory_ / "nan.npy", Array{{2, 2}, {1.0, 2.0, kNan, 4.0}});
  expect_refused_by_all("net.safetensors", "nan.npy", {"nan.npy", "[1, 0]"});
  write_npy(directory_ / "three.npy", Array{{1, 3}, {1.0, 2.0, 3.0}});
  expect_refused_by_all("net.safetensors", "three.npy", {"three.npy", "expected 2 features", "got 3"});
  const std::string good = read_text(directory_ / "three.npy");
  write_text(directory_ / "cut.npy", good.substr(0, good.size() - 4));
  expect_refused_by_all("net.safetensors", "cut.npy", {"cut.npy"});
}

}  // namespace bad_files_test
}  // namespace mixcert::test
