// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// What a result says of itself: one line, and the full text with options, layers, theorems and assumptions.
#include "mixcert/certify/result_text.h"

#include <gtest/gtest.h>

#include <sstream>

#include "mixcert/certify/certify.h"
#include "mixcert/certify/explain.h"
#include "support/random_network.h"
#include "theorems/theorem_table.h"

namespace mixcert::testing {
namespace result_text_test {

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// One Gaussian of deviation 1/4 per output, by hand.
Result written_down(Index outputs) {
  Result result;
  result.input = 3;
  result.method = Method::Moment;
  result.certificate = CertificateMode::Metric;
  result.mixture =
      GaussianMixture(Vector::Ones(1), {{Vector::LinSpaced(outputs, 1.0, static_cast<double>(outputs)),
                                         Covariance::diagonal(Vector::Constant(outputs, 0.0625))}});
  result.w2 = {Distance::W2, 0.03125, 0.03125};
  result.w1 = {Distance::W1, 0.015625, 0.015625};
  result.relative_w2 = 0.0078125;
  result.layers = {{1, 0.0, 0.03125, 1.5, 1, 0, "expected", "Y.1"}};
  result.seconds = 0.002;
  return result;
}

Network network_of(std::vector<Index> widths) {
  NetworkRecipe recipe;
  recipe.widths = std::move(widths);
  recipe.seed = 5;
  return random_network(recipe);
}

TEST(BriefReport, IsOneLineWithBoundMethodSizesAndMoments) {
  const Result result = written_down(1);
  EXPECT_EQ(
      brief_report(result),
      "input 3: W2 <= 0.03125 (12.5 % of the deviation), method moment, 1 component, 1 output: 1 +- 0.25");
  std::ostringstream stream;
  stream << result;
  EXPECT_EQ(stream.str(), brief_report(result));
}

TEST(BriefReport, ListsTheFirstOutputsOnly) {
  // Four outputs of deviation 1/4 make 1/2.
  EXPECT_EQ(brief_report(written_down(4)),
            "input 3: W2 <= 0.03125 (6.25 % of the deviation), method moment, 1 component, 4 outputs: "
            "1 +- 0.25, 2 +- 0.25, 3 +- 0.25, ..");
}

TEST(BriefReport, RoundsBoundsUp) {
  Result result = written_down(1);
  result.w2.value = 0.123401;
  EXPECT_TRUE(has(brief_report(result), "W2 <= 0.1235 (49.4 %")) << result;
}

TEST(BriefReport, WorksWithoutMixtureDeviationOrBound) {
  EXPECT_EQ(brief_report(Result()), "input 0: no bound, method signature, 0 components, 0 outputs");
  Result result = written_down(1);
  result.mixture =
      GaussianMixture(Vector::Ones(1), {{Vector::Ones(1), Covariance::diagonal(Vector::Zero(1))}});
  EXPECT_EQ(brief_report(result), "input 3: W2 <= 0.03125, method moment, 1 component, 1 output: 1 +- 0");
}

TEST(FullReport, SaysWhatIsProvenFromBelow) {
  Result result = written_down(1);
  EXPECT_FALSE(has(full_report(result), "proven from below"));
  result.w2_lower = 0.0;
  EXPECT_FALSE(has(full_report(result), "proven from below"));
  result.w2_lower = result.w2_lower_mixture = 0.0123459;
  EXPECT_TRUE(has(full_report(result), "\nproven from below (D.9): no Gaussian is closer than 0.01234\n"))
      << full_report(result);
  result.mixture =
      GaussianMixture(Vector::Constant(2, 0.5), {result.mixture.component(0), result.mixture.component(0)});
  result.w2_lower_mixture = 0.005;
  EXPECT_TRUE(
      has(full_report(result), "no Gaussian is closer than 0.01234, this mixture is no closer than 0.005\n"))
      << full_report(result);
}

TEST(FullReport, SaysWhatAStrangerAsks) {
  const std::string text = full_report(written_down(1), {"weights were projected"});
  for (const char* part :
       {"input 3: W2 <= 0.03125 (12.5 % of the deviation, 0.782 % of the root mean square), W1 <= 0.01563\n",
        "mixture of 1 component over 1 output by method moment, certificate metric\n",
        "    y0            1         0.25\n", "where the bound comes from (carried to the output)\n",
        " 100 % ", " expected ", "law of the one output (Y.1)\n",
        "the bound holds if\n  - layers are independent", "  - weights were projected\n", "time: 2.0 ms\n"}) {
    EXPECT_TRUE(has(text, part)) << part << "\n" << text;
  }
  // The network's layers are not known here, and neither are options.
  EXPECT_FALSE(has(text, "neurons")) << text;
  EXPECT_FALSE(has(text, "options")) << text;
}

TEST(FullReport, CountsOutputsThatItDoesNotList) {
  const std::string text = full_report(written_down(12));
  EXPECT_TRUE(has(text, "y9 ")) << text;
  EXPECT_FALSE(has(text, "y10 ")) << text;
  EXPECT_TRUE(has(text, "  .. and 2 more outputs\n")) << text;
}

TEST(FullReport, ListsOptionsThatAreNotDefaults) {
  Result result = written_down(1);
  result.options = std::make_shared<const Options>();
  EXPECT_TRUE(has(full_report(result), "options: defaults\n")) << full_report(result);
  Options options;
  options.signature_size = 100;
  options.epsilon = 0.5;
  result.options = std::make_shared<const Options>(options);
  result.termination = Termination::EpsilonReached;
  result.reason = "the bound 0.03125 is at most epsilon";
  const std::string text = full_report(result);
  EXPECT_TRUE(has(text, "options: signature-size 100, epsilon 0.5; the others are defaults\n")) << text;
  EXPECT_TRUE(has(text, "the bound 0.03125 is at most epsilon\n")) << text;
}

TEST(FullReport, KeepsEstimatesApartFromBounds) {
  Result result = written_down(1);
  TwoSidedStatistics& statistics = result.statistics.emplace();
  statistics.samples = 1000;
  statistics.w2_lower_statistical = 0.001;
  statistics.lower_confidence = 0.95;
  statistics.assumption = "samples are independent";
  EXPECT_TRUE(has(full_report(result),
                  "estimates from 1000 samples, not certified (samples are independent): W2 >= 0.001 with "
                  "confidence 0.95\n"));
  statistics.w2_upper_statistical = 0.02;
  statistics.failure_probability = 1e-6;
  EXPECT_TRUE(has(full_report(result), "; W2 <= 0.02 but for a probability of 1e-06\n"))
      << full_report(result);
}

TEST(FullReport, PrintsRangesOfMeansOutward) {
  Result result = written_down(1);
  const GaussianMixture line(
      Gaussian{Vector::Constant(1, 0.25), Covariance::diagonal(Vector::Constant(1, 1.0))});
  result.simulated.emplace();
  result.simulated->marginals = {{line, 0.100004, -0.269892, 0.269896}};
  EXPECT_TRUE(has(full_report(result), "mean 0.25 in [-0.2699, 0.2699]")) << full_report(result);
  result.simulated->marginals = {{line, 0.100004, -0.269912, 0.269912}};
  EXPECT_TRUE(has(full_report(result), "mean 0.25 in [-0.27, 0.27], deviation 1, 1 component, W2 <= 0.1001"))
      << full_report(result);
}

TEST(ResultOptions, ComeWithEveryResultAndAreShared) {
  Options options;
  options.signature_size = 20;
  options.threads = 1;
  const Network network = network_of({2, 6, 5, 1});
  const std::vector<Result> results = certify(network, Matrix::Random(2, 3), options);
  ASSERT_EQ(results.size(), 3U);
  for (const Result& result : results) {
    ASSERT_NE(result.options, nullptr);
    EXPECT_EQ(result.options, results.front().options);  // one copy
    EXPECT_EQ(result.options->signature_size, 20);
    EXPECT_EQ(result.options->method, Method::Auto);
    EXPECT_NE(result.method, Method::Auto);  // what it came to
    const std::string text = full_report(result);
    EXPECT_TRUE(has(text, "options: signature-size 20, threads 1; the others")) << text;
    for (const LayerReport& layer : result.layers) {
      EXPECT_TRUE(has(text, theorem_in_words(layer.theorem))) << layer.theorem << "\n" << text;
    }
  }
}

TEST(ResultOptions, OfEnsemblesJointLawsAndExplanations) {
  Options options;
  options.joint = true;
  options.method = Method::Moment;
  const Ensemble ensemble({network_of({2, 4, 2}), network_of({2, 5, 2})}, Vector{{0.25, 0.75}});
  const Matrix inputs = Matrix::Random(2, 2);
  const Result result = certify(ensemble, inputs, options).front();
  EXPECT_TRUE(has(brief_report(result), "joint law: W2 <= ")) << result;
  EXPECT_TRUE(has(brief_report(result), ", method moment, 2 components, 4 outputs: ")) << result;
  EXPECT_TRUE(has(full_report(result), "options: joint true, method moment; the others"))
      << full_report(result);
  const Explanation explanation = explain(ensemble, inputs, options);
  EXPECT_EQ(brief_report(explanation.result), brief_report(result));
  EXPECT_NE(explanation.member_result.options, nullptr);
}

TEST(FullReport, OfMethodCrossSaysThatThereIsNoBound) {
  Options options;
  options.method = Method::Cross;
  const Result result = certify(network_of({2, 4, 1}), Matrix::Random(2, 1), options).front();
  EXPECT_TRUE(has(brief_report(result), "input 0: no bound, method cross")) << result;
  EXPECT_FALSE(has(full_report(result), "holds if")) << full_report(result);
  EXPECT_FALSE(has(full_report(result), "where the bound comes from")) << full_report(result);
  EXPECT_TRUE(has(full_report(result), "options: method cross; the others")) << full_report(result);
}

}  // namespace result_text_test
}  // namespace mixcert::testing
