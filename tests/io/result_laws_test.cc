// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Computed laws of one output and proven lower bounds in result files: written, read back, and refused where
// they are none.
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "io/formats/npy.h"
#include "io/result_fixture.h"
#include "mixcert/io/result_file.h"

namespace mixcert {
namespace result_laws_test {

using nlohmann::json;
using test::message_of;

const double kNan = std::numeric_limits<double>::quiet_NaN();

Result make_result(Index input) {
  Result result;
  result.input = input;
  result.mixture = GaussianMixture(
      Gaussian{Vector::Constant(1, static_cast<double>(input)), Covariance::diagonal(Vector::Ones(1))});
  result.w2 = {Distance::W2, 0.5, 0.5};
  result.w1 = {Distance::W1, 0.25, 0.25};
  result.relative_w2 = 0.125;
  return result;
}

class ResultLawsTest : public test::ResultFiles {};

/// Nodes that depend on `input`.
std::shared_ptr<const OutputDistribution> make_law(Index input, Index nodes) {
  auto law = std::make_shared<OutputDistribution>();
  law->first = -1.0 - static_cast<double>(input);
  law->cell = 0.25;
  law->values = Vector::LinSpaced(nodes, 0.0, 1.0);
  law->density = Vector::Constant(nodes, 0.5);
  law->error = 1e-6;
  law->moved = 1e-12;
  law->offset = 1e-5;
  return law;
}

TEST_F(ResultLawsTest, ComputedLawsOfUnequalSizesComeBack) {
  std::vector<Result> results = {make_result(0), make_result(1), make_result(2)};
  results[0].distribution = make_law(0, 5);
  results[2].distribution = make_law(2, 9);
  RunRecord run;
  run.functional = "y0 - y3";
  write(results, run);
  EXPECT_EQ(read_npz(npz()).at("law_values").shape, (std::vector<Index>{3, 9}));
  const StoredRun stored = read_run(npz());
  EXPECT_EQ(stored.run->functional, "y0 - y3");
  EXPECT_EQ(json::parse(test::read_text(report()))["functional"], "y0 - y3");
  EXPECT_EQ(stored.results[1].distribution, nullptr);
  for (const std::size_t i : {std::size_t{0}, std::size_t{2}}) {
    const OutputDistribution& law = *stored.results[i].distribution;
    const OutputDistribution& expected = *results[i].distribution;
    EXPECT_EQ(law.first, expected.first);
    EXPECT_EQ(law.cell, expected.cell);
    EXPECT_EQ(law.error, expected.error);
    EXPECT_EQ(law.moved, expected.moved);
    EXPECT_EQ(law.offset, expected.offset);
    EXPECT_EQ(law.values, expected.values);
    EXPECT_EQ(law.density, expected.density);
    EXPECT_EQ(stored.result(static_cast<Index>(i)).distribution, stored.results[i].distribution);
  }
  write({make_result(0)});
  EXPECT_FALSE(read_npz(npz()).contains("law_grid"));
}

TEST_F(ResultLawsTest, LawsThatAreNoneAreRefused) {
  Result result = make_result(0);
  result.distribution = make_law(0, 5);
  write({result});
  const auto good = read_npz(npz());
  const auto refused = [&](const std::string& name, std::size_t at, double value) {
    auto arrays = good;
    arrays.at(name).values[at] = value;
    write_npz(npz(), arrays);
    return message_of<FileError>([&] { (void)read_run(npz()); });
  };
  EXPECT_CONTAINS(refused("law_grid", 1, 0.0), "'law_grid' of input 0: expected first node");
  EXPECT_CONTAINS(refused("law_grid", 2, -1.0), "three errors >= 0");
  EXPECT_CONTAINS(refused("law_grid", 3, std::numeric_limits<double>::infinity()), "three errors >= 0");
  EXPECT_CONTAINS(refused("law_grid", 4, -1e-5), "three errors >= 0");
  EXPECT_CONTAINS(refused("law_values", 1, kNan), "'law_values' of input 0: expected numbers");
  EXPECT_CONTAINS(refused("law_values", 1, 7.0), "expected numbers of a distribution, got 7");
  EXPECT_CONTAINS(refused("law_density", 4, kNan), "'law_density' of input 0");
  auto arrays = good;
  arrays.at("law_density") = {{1, 4}, {1, 1, 1, 1}};
  write_npz(npz(), arrays);
  EXPECT_CONTAINS(message_of<FileError>([&] { (void)read_run(npz()); }), "'law_density': expected shape");
}

TEST_F(ResultLawsTest, LawsOfEarlierVersionsHaveNoOffset) {
  Result result = make_result(0);
  result.distribution = make_law(0, 5);
  write({result});
  auto arrays = read_npz(npz());
  arrays.at("law_grid").shape[1] = 4;
  arrays.at("law_grid").values.resize(4);
  write_npz(npz(), arrays);
  const StoredRun stored = read_run(npz());
  EXPECT_EQ(stored.results[0].distribution->offset, 0.0);
  EXPECT_EQ(stored.results[0].distribution->moved, result.distribution->moved);
}

TEST_F(ResultLawsTest, ProvenLowerBoundsGoThroughBothFilesAndAreNoStatistics) {
  Result known = make_result(0), half = make_result(1);
  known.w2_lower = 0.375;
  known.w2_lower_mixture = 0.0625;
  half.w2_lower_mixture = 0.0;
  const Result unknown = make_result(2);
  write({known, half, unknown});
  const std::vector<StoredResult> stored = read_results(npz());
  EXPECT_EQ(stored[0].w2_lower, 0.375);
  EXPECT_EQ(stored[0].w2_lower_mixture, 0.0625);
  EXPECT_TRUE(std::isnan(stored[1].w2_lower));
  EXPECT_EQ(stored[1].w2_lower_mixture, 0.0);
  EXPECT_TRUE(std::isnan(stored[2].w2_lower) && std::isnan(stored[2].w2_lower_mixture));
  EXPECT_FALSE(stored[0].statistics);
  EXPECT_EQ(read_run(npz()).result(0).w2_lower, 0.375);
  EXPECT_EQ(read_run(npz()).result(0).w2_lower_mixture, 0.0625);
  const json results = json::parse(test::read_text(report()))["results"];
  EXPECT_EQ(results[0]["w2_lower"], 0.375);
  EXPECT_EQ(results[0]["w2_lower_mixture"], 0.0625);
  EXPECT_FALSE(results[0].contains("w2_lower_statistical"));
  EXPECT_FALSE(results[1].contains("w2_lower"));
  EXPECT_FALSE(results[2].contains("w2_lower_mixture"));
}

TEST_F(ResultLawsTest, FilesWithoutLowerBoundsHaveNoColumnsForThem) {
  write({make_result(0)});
  const auto arrays = read_npz(npz());
  EXPECT_EQ(arrays.count("w2_lower"), 0U);
  EXPECT_EQ(arrays.count("w2_lower_mixture"), 0U);
  EXPECT_TRUE(std::isnan(read_results(npz())[0].w2_lower));
}

}  // namespace result_laws_test
}  // namespace mixcert
