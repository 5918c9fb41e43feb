// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Result files: what is written is read back, missing bounds stay missing, both files
// appear at the end only, and hostile archives are refused.
#include "mixcert/io/result_file.h"

#include <sys/resource.h>

#include <cmath>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <variant>

#include "io/formats/npy.h"
#include "io/result_fixture.h"
#include "mixcert/certify/result_text.h"

namespace mixcert {
namespace result_file_test {

using nlohmann::json;
using test::message_of;

const double kNan = std::numeric_limits<double>::quiet_NaN();

/// `size` components in `dimension` dimensions; every number depends on `input`.
Result make_result(Index input, Index size, Index dimension) {
  std::vector<Gaussian> components;
  for (Index c = 0; c < size; ++c) {
    const double shift = static_cast<double>(10 * input + c);
    Vector mean = Vector::LinSpaced(dimension, shift, shift + 0.5);
    Matrix factor = Matrix::Constant(dimension, 1, 0.1 * static_cast<double>(input + 1));
    Vector variances = Vector::Constant(dimension, static_cast<double>(c + 1));
    components.push_back({mean, Covariance::diagonal(variances).plus_low_rank(factor)});
  }
  Result result;
  result.input = input;
  result.mixture = GaussianMixture(Vector::Constant(size, 1.0 / static_cast<double>(size)), components);
  result.w2 = {Distance::W2, 0.5 + static_cast<double>(input), 0.5};
  result.w1 = {Distance::W1, 0.25, 0.25};
  result.relative_w2 = 0.125;
  result.layers = {{1, 0.1, 0.2, 3.0, 5, 50, "expected", "S.1"}};
  result.reason = "sizes were given";
  return result;
}

class ResultFileTest : public test::ResultFiles {};

TEST_F(ResultFileTest, RoundTripsMixturesOfUnequalSizes) {
  const std::vector<Result> results = {make_result(0, 2, 3), make_result(1, 4, 3), make_result(2, 1, 3)};
  write(results);
  const auto arrays = read_npz(npz());
  EXPECT_EQ(arrays.at("weights").shape, (std::vector<Index>{3, 4}));
  EXPECT_EQ(arrays.at("means").shape, (std::vector<Index>{3, 4, 3}));
  EXPECT_EQ(arrays.at("covariances").shape, (std::vector<Index>{3, 4, 3, 3}));
  EXPECT_EQ(as_matrix(arrays.at("weights"))(0, 2), 0.0);
  const std::vector<StoredResult> stored = read_results(npz());
  ASSERT_EQ(stored.size(), 3U);
  for (std::size_t i = 0; i < stored.size(); ++i) {
    const GaussianMixture& expected = results[i].mixture;
    ASSERT_EQ(stored[i].mixture.size(), expected.size());
    EXPECT_EQ(stored[i].mixture.weights(), expected.weights());
    for (Index c = 0; c < expected.size(); ++c) {
      EXPECT_EQ(stored[i].mixture.component(c).mean, expected.component(c).mean);
      EXPECT_EQ(stored[i].mixture.component(c).covariance.to_dense(),
                expected.component(c).covariance.to_dense());
    }
    EXPECT_EQ(stored[i].w2_bound, results[i].w2.value);
    EXPECT_EQ(stored[i].relative_w2_bound, 0.125);
  }
}

TEST_F(ResultFileTest, ReportHoldsEveryField) {
  write({make_result(0, 2, 2)},
        {"1.2.3",
         "abc",
         {"round to nearest"},
         7,
         "mixcert certify \xff",
         false,
         {{"signature-size", "10"}, {"epsilon", ""}, {"joint", "false"}, {"method", "cross"}}});
  const json file = json::parse(test::read_text(report()));
  EXPECT_EQ(file["mixcert"], "1.2.3");
  EXPECT_EQ(file["model_sha256"], "abc");
  EXPECT_EQ(file["assumptions"], json({"round to nearest"}));
  EXPECT_EQ(file["seed"], 7);
  EXPECT_EQ(file["joint"], false);
  const json options = {{"signature_size", 10}, {"epsilon", nullptr}, {"joint", false}, {"method", "cross"}};
  EXPECT_EQ(file["options"], options);
  ASSERT_EQ(file["results"].size(), 1U);
  const json& result = file["results"][0];
  EXPECT_EQ(result["input"], 0);
  EXPECT_EQ(result["method"], "signature");
  EXPECT_EQ(result["certificate"], "best");
  EXPECT_EQ(result["w2_bound"], 0.5);
  EXPECT_EQ(result["w1_bound"], 0.25);
  EXPECT_EQ(result["relative_w2_bound"], 0.125);
  EXPECT_EQ(result["components"], 2);
  EXPECT_EQ(result["mean"], json({0.5, 1.0}));
  EXPECT_EQ(result["std"].size(), 2U);
  EXPECT_EQ(result["reason"], "sizes were given");
  EXPECT_EQ(result["layers"][0]["gain"], 3.0);
  EXPECT_EQ(result["layers"][0]["compression"], 0.1);
  EXPECT_EQ(result["layers"][0]["local"], 0.2);
  EXPECT_EQ(result["layers"][0]["layer"], 1);
}

TEST_F(ResultFileTest, BoundsThatDoNotExistAreNullAndNan) {
  Result none = make_result(0, 1, 1);
  none.w2 = Bound::none(Distance::W2);
  none.w1 = {Distance::W1, std::numeric_limits<double>::infinity(), 0.0};
  none.relative_w2 = kNan;
  none.layers[0].local = kNan;
  write({none});
  const json result = json::parse(test::read_text(report()))["results"][0];
  for (const char* key : {"w2_bound", "w1_bound", "relative_w2_bound"})
    EXPECT_TRUE(result[key].is_null()) << key;
  EXPECT_TRUE(result["layers"][0]["local"].is_null());
  EXPECT_TRUE(std::isnan(read_results(npz())[0].w2_bound));
  EXPECT_TRUE(std::isnan(read_npz(npz()).at("w1_bound").values[0]));
}

RunRecord make_record() {
  RunRecord run;
  run.version = "1.2.3";
  run.members = {{"ab", 0.25}, {"cd", 0.75}};
  run.model_files = {"dir/a b.safetensors", "c\n\"d\".safetensors"};
  run.inputs_file = "x.npz";
  run.assumptions = {"one", "two"};
  run.seed = std::numeric_limits<std::uint64_t>::max();
  run.command = "mixcert certify 'a b'";
  run.options = {{"epsilon", ""},
                 {"joint", "false"},
                 {"max-memory-in-gib", "0.30000000000000004"},
                 {"method", "auto"},
                 {"seed", "18446744073709551615"}};
  run.outputs = 2;
  return run;
}

TEST_F(ResultFileTest, DescribesItsRun) {
  std::vector<Result> results = {make_result(0, 2, 2), make_result(1, 1, 2)};
  results[0].layers.push_back({2, kNan, 0.5, 1.5, 7, 70, "paper", "S.1"});
  results[1].method = Method::Moment;
  results[1].certificate = CertificateMode::Metric;
  results[1].termination = Termination::BudgetSpent;
  results[1].statistics = TwoSidedStatistics{100, 0.125, 0.75, kNan, kNan, 1e-6, "large samples"};
  const Matrix inputs = (Matrix(3, 2) << 1, 4, 2, 5, 3, 1e-300).finished();
  InputNoise noise;
  noise.components.push_back({1.0, {}, IndependentBias{Vector::Constant(3, 0.1 * 0.1)}});
  const RunRecord run = make_record();
  ResultWriter writer(npz(), report(), run);
  writer.add_inputs(inputs, noise);
  for (const Result& result : results) writer.add(result);
  writer.finish();

  const StoredRun stored = read_run(npz());
  const RunRecord& read = stored.require_record("the test");
  EXPECT_EQ(read.version, run.version);
  ASSERT_EQ(read.members.size(), 2U);
  EXPECT_EQ(read.members[1].sha256, "cd");
  EXPECT_EQ(read.members[1].weight, 0.75);
  EXPECT_EQ(read.model_files, run.model_files);
  EXPECT_EQ(read.inputs_file, run.inputs_file);
  EXPECT_EQ(read.assumptions, run.assumptions);
  EXPECT_EQ(read.seed, run.seed);
  EXPECT_EQ(read.command, run.command);
  EXPECT_EQ(read.options, run.options);
  EXPECT_EQ(read.outputs, 2);
  EXPECT_FALSE(read.joint);
  EXPECT_EQ(stored.inputs, inputs);
  ASSERT_EQ(stored.noise.components.size(), 1U);
  EXPECT_EQ(std::get<IndependentBias>(stored.noise.components[0].law).variance,
            Vector::Constant(3, 0.1 * 0.1));
  ASSERT_EQ(stored.results.size(), 2U);
  ASSERT_EQ(stored.results[0].layers.size(), 2U);
  EXPECT_TRUE(std::isnan(stored.results[0].layers[1].compression));
  EXPECT_EQ(stored.results[0].layers[1].local, 0.5);
  EXPECT_EQ(stored.results[0].layers[1].points, 70);
  EXPECT_EQ(stored.results[0].w1_bound, 0.25);
  EXPECT_EQ(stored.results[0].method, Method::Signature);
  EXPECT_FALSE(stored.results[0].statistics.has_value());
  const StoredResult& second = stored.results[1];
  ASSERT_EQ(second.layers.size(), 1U);
  EXPECT_EQ(second.layers[0].gain, 3.0);
  EXPECT_EQ(second.layers[0].components, 5);
  EXPECT_EQ(second.method, Method::Moment);
  EXPECT_EQ(second.certificate, CertificateMode::Metric);
  EXPECT_EQ(second.termination, Termination::BudgetSpent);
  ASSERT_TRUE(second.statistics.has_value());
  EXPECT_EQ(second.statistics->samples, 100);
  EXPECT_EQ(second.statistics->w2_lower_statistical, 0.125);
  EXPECT_TRUE(std::isnan(second.statistics->w2_upper_statistical));
  EXPECT_EQ(second.statistics->assumption, "large samples");
  const json file = json::parse(test::read_text(report()));
  EXPECT_EQ(file["model_files"], json(run.model_files));
  EXPECT_EQ(file["outputs"], 2);
}

TEST_F(ResultFileTest, RowsPrintWithTheOptionsOfTheRun) {
  RunRecord run = make_record();
  Options options;
  options.method = Method::Signature;
  options.signature_size = 50;
  run.options.clear();
  for (const auto& field : option_table()) run.options.emplace_back(field.name, field.get(options));
  const Matrix inputs = Matrix::Ones(3, 2);
  ResultWriter writer(npz(), std::nullopt, run);
  writer.add_inputs(inputs, {});
  for (Index input = 0; input < 2; ++input) writer.add(make_result(input, 2, 2));
  writer.finish();

  StoredRun stored = read_run(npz());
  const auto shared = std::make_shared<const Options>(stored.options());
  EXPECT_EQ(shared->signature_size, 50);
  const std::string text = full_report(stored.result(1, shared));
  EXPECT_EQ(text.rfind("input 1: W2 <= 1.5 (", 0), 0U) << text;
  for (const char* part :
       {"method signature", "carried to the output", "options: method signature, signature-size 50;"})
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  EXPECT_EQ(brief_report(stored.result(1)), brief_report(make_result(1, 2, 2)));
  EXPECT_EQ(full_report(stored.result(1)).find("options"), std::string::npos);
  EXPECT_THROW((void)stored.result(2), InvalidArgument);
  stored.run->options.emplace_back("unheard-of", "1");
  EXPECT_NE(message_of<FileError>([&] { (void)stored.options(); }).find("this program has none of this name"),
            std::string::npos);
  stored.run.reset();
  EXPECT_THROW((void)stored.options(), FileError);
}

TEST_F(ResultFileTest, JointRunsHoldAllInputs) {
  RunRecord run = make_record();
  run.joint = true;
  const Matrix inputs = Matrix::Random(3, 4);
  ResultWriter writer(npz(), std::nullopt, run);
  writer.add_inputs(inputs, {});
  EXPECT_THROW(writer.add_inputs(inputs, {}), InvalidArgument);
  writer.add(make_result(0, 1, 8));
  writer.finish();
  const StoredRun stored = read_run(npz());
  EXPECT_TRUE(stored.run->joint);
  EXPECT_EQ(stored.inputs, inputs);
  EXPECT_EQ(stored.results.size(), 1U);
}

TEST_F(ResultFileTest, FewerResultsThanInputsAreRefused) {
  const Matrix inputs = Matrix::Ones(1, 2);
  ResultWriter writer(npz(), std::nullopt, {});
  writer.add_inputs(inputs, {});
  writer.add(make_result(0, 1, 2));
  EXPECT_THROW(writer.finish(), InvalidArgument);
}

TEST_F(ResultFileTest, NothingAppearsBeforeTheEnd) {
  test::write_text(npz(), "old");
  {
    ResultWriter writer(npz(), report(), {});
    writer.add(make_result(0, 2, 2));
    EXPECT_FALSE(std::filesystem::exists(report()));
  }
  EXPECT_EQ(test::read_text(npz()), "old");
  EXPECT_EQ(directory_.count(), 1);
  ResultWriter only_report(std::nullopt, report(), {});
  only_report.add(make_result(0, 2, 2));
  only_report.finish();
  EXPECT_EQ(test::read_text(npz()), "old");
  EXPECT_EQ(directory_.count(), 2);
}

TEST_F(ResultFileTest, ChecksOrderDimensionAndPaths) {
  ResultWriter writer(npz(), std::nullopt, {});
  EXPECT_THROW(writer.finish(), InvalidArgument);
  EXPECT_THROW(writer.add(make_result(1, 1, 2)), InvalidArgument);
  writer.add(make_result(0, 1, 2));
  EXPECT_THROW(writer.add(make_result(0, 1, 2)), InvalidArgument);
  EXPECT_THROW(writer.add(make_result(1, 1, 3)), InvalidArgument);
  EXPECT_THROW(ResultWriter(npz(), npz(), {}), InvalidArgument);
  EXPECT_THROW(ResultWriter(directory_ / "no/such/r.npz", std::nullopt, {}), FileError);
}

TEST_F(ResultFileTest, RefusesCovariancesAboveTheLimit) {
  ResultWriter writer(npz(), std::nullopt, {}, {1000});
  writer.add(make_result(0, 1, 10));
  EXPECT_CONTAINS(message_of<ResourceError>(
                      [&] { ResultWriter(npz(), std::nullopt, {}, {1000}).add(make_result(0, 1, 20)); }),
                  "needs 3.125 KiB");
  writer.add(make_result(1, 5, 10));
  EXPECT_CONTAINS(message_of<ResourceError>([&] { writer.finish(); }),
                  "5 covariances of dimension 10 needs 3.906 KiB");
}

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define MIXCERT_SANITIZED
#endif
#endif
#if !defined(MIXCERT_SANITIZED) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
// Sanitizers keep freed memory, so that this says nothing there.
TEST_F(ResultFileTest, MemoryStaysFlat) {
  const auto peak_in_bytes = [] {
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    return 1024 * usage.ru_maxrss;
  };
  ResultWriter writer(npz(), report(), {});
  for (Index input = 0; input < 100; ++input) writer.add(make_result(input, 5, 16));
  const auto before = peak_in_bytes();
  for (Index input = 100; input < 10000; ++input) writer.add(make_result(input, 5, 16));
  writer.finish();
  EXPECT_GT(std::filesystem::file_size(npz()), 100U << 20U);
  EXPECT_LT(peak_in_bytes() - before, 8 << 20);
}
#endif

Array text_array(const std::string& text) {
  Array array{{static_cast<Index>(text.size())}, {}};
  for (const char c : text) array.values.push_back(static_cast<unsigned char>(c));
  return array;
}

struct BadCase {
  std::string name;
  Array array;
  std::string message;
};

const std::map<std::string, Array> kEarlierFile = {{"weights", {{1, 2}, {0.5, 0.5}}},
                                                   {"means", {{1, 2, 2}, {1, 2, 3, 4}}},
                                                   {"covariances", {{1, 2, 2, 2}, {1, 0, 0, 1, 2, 1, 1, 2}}},
                                                   {"w2_bound", {{1}, {0.5}}},
                                                   {"relative_w2_bound", {{1}, {kNan}}}};

TEST_F(ResultFileTest, FilesOfEarlierVersionsAreReadAndSayWhatTheyLack) {
  write_npz(npz(), kEarlierFile);
  const StoredRun stored = read_run(npz());
  ASSERT_EQ(stored.results.size(), 1U);
  EXPECT_FALSE(stored.run.has_value());
  EXPECT_EQ(stored.inputs.size(), 0);
  EXPECT_TRUE(stored.results[0].layers.empty());
  EXPECT_FALSE(stored.results[0].method.has_value());
  EXPECT_TRUE(std::isnan(stored.results[0].w1_bound));
  EXPECT_CONTAINS(message_of<FileError>([&] { stored.require_record("explain"); }),
                  "r.npz: 'run': expected the record of the run, which explain needs");
}

class BadResults : public ResultFileTest, public ::testing::WithParamInterface<BadCase> {};

TEST_P(BadResults, AreRefusedByName) {
  std::map<std::string, Array> arrays = kEarlierFile;
  for (const char* name : {"layer_compression", "layer_local", "layer_gain"})
    arrays[name] = {{1, 2}, {1, kNan}};
  for (const char* name : {"layer_components", "layer_points"}) arrays[name] = {{1, 2}, {3, kNan}};
  arrays["inputs"] = {{1, 1}, {0}};
  arrays["run"] = text_array(R"({"methods":["moment"],"outputs":2})");
  write_npz(npz(), arrays);
  ASSERT_EQ(read_results(npz()).size(), 1U);
  arrays.erase(GetParam().name);
  if (!GetParam().array.shape.empty()) arrays[GetParam().name] = GetParam().array;
  write_npz(npz(), arrays);
  const std::string message = message_of<FileError>([&] { read_results(npz()); });
  EXPECT_TRUE(message.starts_with(npz().string() + ": ")) << message;
  EXPECT_CONTAINS(message, GetParam().message);
}

INSTANTIATE_TEST_SUITE_P(
    All, BadResults,
    ::testing::Values(
        BadCase{"weights", {}, "expected array 'weights'"}, BadCase{"means", {}, "expected array 'means'"},
        BadCase{"w2_bound", {}, "expected array 'w2_bound'"},
        BadCase{"weights", {{2}, {0.5, 0.5}}, "'weights': expected shape [inputs, components]"},
        BadCase{"weights", {{0, 2}, {}}, "'weights': expected shape [inputs, components]"},
        BadCase{"weights", {{1, 2}, {0.5, 0.6}}, "'weights' of input 0"},
        BadCase{"weights", {{1, 2}, {1.5, -0.5}}, "'weights' of input 0"},
        BadCase{"weights", {{1, 2}, {0, 0}}, "'weights' of input 0"},
        BadCase{"weights", {{1, 2}, {kNan, 1}}, "got nan at index [0, 0]"},
        BadCase{"means", {{1, 2}, {1, 2}}, "'means': expected shape"},
        BadCase{"means", {{1, 2, 0}, {}}, "'means': expected shape"},
        BadCase{"means", {{2, 1, 2}, {1, 2, 3, 4}}, "'means': expected shape [1, 2, 2], got [2, 1, 2]"},
        BadCase{"means", {{1, 2, 2}, {1, 2, 3, kNan}}, "got nan at index [0, 1, 1]"},
        BadCase{"covariances", {{1, 2, 4}, {1, 0, 0, 1, 2, 1, 1, 2}}, "expected shape [1, 2, 2, 2]"},
        BadCase{"covariances",
                {{1, 2, 2, 2}, {1, 0, 0, 1, 2, 1, 0, 2}},
                "'covariances' at [0, 1]: expected a symmetric"},
        BadCase{"covariances", {{1, 2, 2, 2}, {1, 0, 0, 1, 1, 2, 2, 1}}, "semidefinite"},
        BadCase{"covariances", {{1, 2, 2, 2}, {-1, 0, 0, 1, 1, 0, 0, 1}}, "semidefinite"},
        BadCase{"w2_bound", {{2}, {1, 1}}, "'w2_bound': expected shape [1]"},
        BadCase{"w2_bound", {{1}, {-1}}, "got -1 at index [0]"},
        BadCase{"relative_w2_bound", {{1}, {std::numeric_limits<double>::infinity()}}, "bounds >= 0"},
        BadCase{"w1_bound", {{1}, {-1}}, "'w1_bound': expected bounds >= 0"},
        BadCase{"w1_bound", {{2}, {1, 1}}, "'w1_bound': expected shape [1]"},
        BadCase{"method", {{1}, {0.5}}, "'method': expected integers >= 0, got 0.5"},
        BadCase{"method", {{1}, {-1}}, "'method': expected integers >= 0"},
        BadCase{"method", {{1}, {1e300}}, "'method': expected integers >= 0"},
        BadCase{"statistics_samples", {{1}, {1e300}}, "'statistics_samples': expected integers >= 0"},
        BadCase{"layer_gain", {}, "expected array 'layer_gain'"},
        BadCase{"layer_local", {{2, 1}, {1, 1}}, "'layer_local': expected shape [1, layers]"},
        BadCase{"layer_local", {{1, 1}, {1}}, "'layer_local': expected shape [1, layers]"},
        BadCase{"layer_local", {{1, 2}, {-1, kNan}}, "'layer_local': expected numbers >= 0"},
        BadCase{"layer_points", {{1, 2}, {kNan, kNan}}, "'layer_points': expected integers >= 0"},
        BadCase{"layer_components", {{1, 2}, {kNan, 1}}, "nan behind a row's last layer only"},
        BadCase{"inputs", {{2, 1}, {0, 0}}, "'inputs': expected 1 rows, as there are results, got 2"},
        BadCase{"inputs", {{1, 1}, {kNan}}, "got nan"},
        BadCase{"input_noise", {{1}, {1}}, "expected an array named inputs|"},
        BadCase{"input_variance", {{1}, {-1}}, "input_variance: expected numbers of at least 0"},
        BadCase{"run", {{1}, {300}}, "'run': expected bytes, got 300"},
        BadCase{"run", {{1, 2}, {1, 2}}, "bytes of text"}, BadCase{"run", text_array("{"), "valid JSON"},
        BadCase{"run", text_array("[]"), "'run': expected a JSON object"},
        BadCase{"run", text_array(R"({"seed":1,"seed":2})"), "each key once"},
        BadCase{"run", text_array(R"({"seed":-1})"), "'seed': expected an integer"},
        BadCase{"run", text_array(R"({"joint":1})"), "'joint': expected true or false"},
        BadCase{"run", text_array(R"({"mixcert":1})"), "'mixcert': expected a string"},
        BadCase{"run", text_array(R"({"model_files":[1]})"), "'model_files': expected a list of strings"},
        BadCase{"run", text_array(R"({"assumptions":{}})"), "'assumptions': expected a list"},
        BadCase{"run", text_array(R"({"options":[]})"), "'options': expected an object"},
        BadCase{"run", text_array(R"({"options":{"a":[]}})"), "'options': expected numbers, texts"},
        BadCase{"run", text_array(R"({"members":[{"sha256":"a"}]})"), "a positive weight"},
        BadCase{"run", text_array(R"({"members":[3]})"), "'run': expected a JSON object"},
        BadCase{"run", text_array(R"({"outputs":1.5})"), "'outputs': expected an integer"},
        BadCase{"run", text_array(R"({"outputs":3})"), "the dimension of the means at one input, got 3"},
        BadCase{"run", text_array(R"({"outputs":1,"joint":true})"), "'outputs'"},
        BadCase{"run", text_array("{\"command\":\"\xff\"}"), "valid JSON"}));

TEST_F(ResultFileTest, RefusesEveryTruncation) {
  const Matrix inputs = Matrix::Ones(1, 1);
  ResultWriter writer(npz(), std::nullopt, {});
  writer.add_inputs(inputs, {});
  writer.add(make_result(0, 1, 1));
  writer.finish();
  const std::string whole = test::read_text(npz());
  for (std::size_t length = 0; length < whole.size(); ++length) {
    const std::string part = whole.substr(0, length);
    EXPECT_TRUE(test::refuses([&] { parse_run(test::as_bytes(part), "r.npz"); })) << length;
  }
}

}  // namespace result_file_test
}  // namespace mixcert
