// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Result files: what is written is read back, missing bounds stay missing, both files
// appear at the end only, and hostile archives are refused.
#include "mixcert/io/result_file.h"

#include <sys/resource.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "io/test_files.h"
#include "mixcert/io/npz.h"

namespace mixcert {
namespace {

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
  result.w2 = {Norm::W2, 0.5 + static_cast<double>(input), 0.5};
  result.w1 = {Norm::W1, 0.25, 0.25};
  result.relative_w2 = 0.125;
  result.layers = {{1, 0.1, 0.2, 3.0, 5, 50, "expected"}};
  result.reason = "sizes were given";
  return result;
}

class ResultFileTest : public ::testing::Test {
 protected:
  std::filesystem::path npz() const { return directory_ / "r.npz"; }
  std::filesystem::path report() const { return directory_ / "r.json"; }
  void write(const std::vector<Result>& results, const RunRecord& run = {}) {
    ResultWriter writer(npz(), report(), run);
    for (const Result& result : results) writer.add(result);
    writer.finish();
  }
  test::TempDirectory directory_;
};

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
  none.w2 = Bound::none(Norm::W2);
  none.w1 = {Norm::W1, std::numeric_limits<double>::infinity(), 0.0};
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

struct BadCase {
  std::string name;
  Array array;
  std::string message;
};

class BadResults : public ResultFileTest, public ::testing::WithParamInterface<BadCase> {};

TEST_P(BadResults, AreRefusedByName) {
  std::map<std::string, Array> arrays = {{"weights", {{1, 2}, {0.5, 0.5}}},
                                         {"means", {{1, 2, 2}, {1, 2, 3, 4}}},
                                         {"covariances", {{1, 2, 2, 2}, {1, 0, 0, 1, 2, 1, 1, 2}}},
                                         {"w2_bound", {{1}, {0.5}}},
                                         {"relative_w2_bound", {{1}, {kNan}}}};
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
        BadCase{"relative_w2_bound", {{1}, {std::numeric_limits<double>::infinity()}}, "bounds >= 0"}));

TEST_F(ResultFileTest, RefusesEveryTruncation) {
  write({make_result(0, 1, 1)});
  const std::string whole = test::read_text(npz());
  for (std::size_t length = 0; length < whole.size(); ++length) {
    const std::string part = whole.substr(0, length);
    EXPECT_TRUE(test::refuses([&] { parse_results(test::as_bytes(part), "r.npz"); })) << length;
  }
}

}  // namespace
}  // namespace mixcert
