// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Each precondition of each theorem, violated alone: the theorem is not used, and the certificate still
// holds. One network per theorem satisfies all its preconditions and uses it; changing one thing about that
// network makes one precondition false.
#include "theorems/theorem_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/normal.h"
#include "methods/moment/moment_certificate.h"
#include "methods/moment/moment_tracer.h"
#include "mixcert/core/error.h"
#include "mixcert/statistics/simulate.h"
#include "theorems/network_plan.h"

namespace mixcert::testing {
namespace theorem_table_test {

using F = ActivationFunction;

/// The quantile of the first coordinate, by bisection.
double quantile(const GaussianMixture& mixture, double p) {
  const double mean = mixture.mean()(0), deviation = mixture.standard_deviation()(0);
  double low = mean - 20.0 * deviation, high = mean + 20.0 * deviation;
  for (int step = 0; step < 50; ++step) {
    const double middle = 0.5 * (low + high);
    double below = 0.0;
    for (Index i = 0; i < mixture.size(); ++i) {
      const Gaussian& component = mixture.component(i);
      const double scale = std::sqrt(component.covariance.variances()(0));
      below += mixture.weights()(i) * normal_cdf((middle - component.mean(0)) / scale);
    }
    (below < p ? low : high) = middle;
  }
  return 0.5 * (low + high);
}

struct Evaluated {
  Network network;
  Sealed<MomentTrace> trace;
  ErrorNorms error_norms;
  Certificate certificate;
  GaussianMixture output;

  /// Fitted: the output may have several components.
  explicit Evaluated(const Plan& plan, bool fitted = false) : network(plan.network()) {
    const MomentPlanner planner = [&plan](Index layer, const GaussianMixture& mixture) {
      MomentChoices choices = split(mixture, plan.pieces[static_cast<std::size_t>(layer - 1)]);
      if (layer == plan.masked) {
        const Vector costs = Vector::LinSpaced(mixture.dimension(), 2.0, 1.0);
        choices.masks = grow_mask_tree(costs, plan.mask, plan.leaves);
      }
      return choices;
    };
    trace = propagate_moments(network, Vector::Ones(1), planner, {});
    error_norms = make_error_norms(network, SensitivityMode::Closed);
    SharpenedOutput made = sharpened_output(
        theorem_table(), network, error_norms, trace, {fitted ? 5 : 1, 0.0},
        evaluate_moment_certificate(network, analyse_sensitivity(network), error_norms, trace));
    certificate = std::move(made.certificate);
    output = made.mixture ? *std::move(made.mixture) : trace->output;
  }
  [[nodiscard]] Situation situation() const { return {network, error_norms, *trace}; }
  [[nodiscard]] std::string used(Index layer) const {
    return certificate.layers[static_cast<std::size_t>(layer - 1)].theorem;
  }
  /// The first coordinates of mixture and output are no further apart than the laws; sorted samples are
  /// about 1.5 deviations over the root of their number away from a law.
  void expect_valid() const {
    ASSERT_LT(certificate.w2.value, INFINITY);
    const Index count = 4000;
    const Matrix samples = simulate(network, Vector::Ones(1), 0, {count, 7, 1});
    std::vector<double> sorted(static_cast<std::size_t>(count));
    for (Index i = 0; i < count; ++i) sorted[static_cast<std::size_t>(i)] = samples(0, i);
    std::sort(sorted.begin(), sorted.end());
    const double deviation = trace->output.standard_deviation()(0);
    double sum = 0.0;
    for (std::size_t i = 0; i < sorted.size(); ++i) {
      const double p = (static_cast<double>(i) + 0.5) / static_cast<double>(count);
      sum += std::pow(sorted[i] - quantile(output, p), 2);
    }
    const double root = std::sqrt(static_cast<double>(count));
    EXPECT_GE(certificate.w2.value + 4.0 * deviation / root, std::sqrt(sum) / root);
  }
};

/// A network that uses the theorem.
Plan satisfying(const std::string& id) {
  if (id == "H.3" || id == "H.7") {
    Plan plan(3);
    if (id == "H.7") plan.layers[1].family = Family::LowRank;
    return plan;
  }
  if (id == "Y.27") {
    Plan plan(3);
    plan.function = F::Relu;
    return plan;
  }
  if (id == "Y.1" || id == "Y.9" || id == "Y.40") {
    Plan plan(1);
    plan.width = 48;
    if (id != "Y.9") plan.outputs = 1;
    if (id == "Y.40") {
      plan.function = F::Relu;
      plan.layers.front().variance = 2.0;
    }
    return plan;
  }
  if (id == "D.7" || id == "D.8") {
    Plan plan(1);
    plan.width = 48;
    plan.outputs = 1;
    plan.masked = 1;
    if (id == "D.8") return plan;
    plan.layers[0].variance = 1e-6;
    plan.layers[1].variance = 1e-6;
    plan.layers[1].bias_variance = 0.0;
    return plan;
  }
  if (id == "D.13" || id == "D.16" || id == "D.19") {
    Plan plan(1);
    plan.width = 32;
    plan.masked = 1;
    plan.layers[0].family = Family::Deterministic;
    if (id != "D.16") plan.layers[1] = {0.4, 0.0, 0.0, Family::Deterministic};
    if (id == "D.19") plan.leaves = 4;
    return plan;
  }
  Plan plan(2);
  if (id == "Y.20" || id == "Y.28") {
    plan.width = 32;
    plan.layers[1] = {0.1, 0.05, 0.1};
    plan.layers[2].variance = 1e-3;
  }
  if (id == "D.17") {
    for (LayerPlan& layer : plan.layers) layer = {0.4, 0.0, 0.0, Family::Deterministic};
    plan.masked = 1;
  }
  if (id == "Y.20") plan.pieces = {1, 2};
  if (id == "Y.30") {
    plan.outputs = 1;
    plan.site = 2;
    plan.layers[0].variance = 0.01;
    plan.layers[1].bias_variance = 0.5;
  }
  return plan;
}

using Change = std::function<void(Plan&)>;

/// Further hidden layers in front of the output.
Change deeper() {
  return [](Plan& plan) {
    plan.layers.insert(plan.layers.end() - 1, LayerPlan());
    plan.pieces.push_back(plan.pieces.back());
  };
}
/// The same with a deterministic layer.
Change deeper_without_noise() {
  return [](Plan& plan) {
    plan.layers.insert(plan.layers.end() - 1, {0.4, 0.0, 0.0, Family::Deterministic});
    plan.pieces.push_back(plan.pieces.back());
  };
}
Change leaves(Index count) {
  return [=](Plan& plan) { plan.leaves = count; };
}
Change pieces(std::size_t layer, Index count) {
  return [=](Plan& plan) { plan.pieces[layer - 1] = count; };
}
Change masked(Index layer) {
  return [=](Plan& plan) { plan.masked = layer; };
}
Change family(std::size_t layer, Family value) {
  return [=](Plan& plan) { plan.layers[layer].family = value; };
}
Change laplace(std::size_t layer) {
  return [=](Plan& plan) { plan.layers[layer].law = EntryLaw(EntryLaw::Family::Laplace); };
}
Change noise(std::size_t layer, double variance, double bias_variance) {
  return [=](Plan& plan) {
    plan.layers[layer].variance = variance;
    plan.layers[layer].bias_variance = bias_variance;
  };
}
Change outputs(Index count) {
  return [=](Plan& plan) { plan.outputs = count; };
}
/// A function made of pieces.
Change pieced() {
  return [](Plan& plan) { plan.function = F::Hardtanh; };
}

const char* const kIndependent = "the layer's weights and biases are independent of each other";
const char* const kNeurons = "the neurons of each Gaussian piece are independent";
const char* const kUnmasked = "there is no dropout at this layer";
const char* const kFewPieces = "the output has at most 16 components";
const char* const kNodes = "its activations are smooth or have one kink at zero";
const char* const kLast = "it is the last hidden layer";
const char* const kOneOutput = "the network has one output";
const char* const kNoMasks = "the network has no dropout";

const char* const kMasked = "Bernoulli masks are behind this layer";
const char* const kFixed = "the activations in front of its masks are not random";
const char* const kOneLeaf = "none of its masks is enumerated";
const char* const kGaussianNext = "weights and biases of the next layer are Gaussian";

using Violations = std::map<std::string, std::vector<Change>>;  ///< by sentence; each violates it alone

Violations mask_violations(const std::string& id) {
  Violations all = {{kFixed, {family(0, Family::Independent)}}};
  all[kLast] = {id == "D.16" ? deeper() : deeper_without_noise()};
  if (id != "D.19") {
    all[kMasked] = {[](Plan& plan) { plan.mask = Mask::gaussian(0.1); }};
    all[kOneLeaf] = {leaves(2)};
  }
  if (id == "D.13") {
    const Change random_weights = [](Plan& plan) {
      family(1, Family::Independent)(plan);
      noise(1, 0.02, 0.0)(plan);
    };
    all["weights and biases of the next layer are deterministic"] = {random_weights, noise(1, 0.0, 0.05)};
    return all;
  }
  all[kIndependent] = {family(1, Family::LowRank)};
  all[kGaussianNext] = {[](Plan& plan) {
    family(1, Family::Independent)(plan);
    noise(1, 0.02, 0.05)(plan);
    laplace(1)(plan);
  }};
  if (id == "D.16") {
    all["weights or biases of the next layer are random"] = {[](Plan& plan) {
      family(1, Family::Deterministic)(plan);
      noise(1, 0.0, 0.0)(plan);
    }};
  } else {
    all["some of its masks are enumerated"] = {leaves(1)};
    all["at most 32 different sums of masks are left"] = {[](Plan& plan) {
      family(1, Family::Independent)(plan);
      noise(1, 0.02, 0.05)(plan);
      leaves(64)(plan);
    }};
  }
  return all;
}

Violations two_layer_violations() {
  return {{"it is the first of two hidden layers", {deeper()}},
          {kNoMasks, {masked(1), masked(2)}},
          {kFewPieces, {pieces(2, 32)}},
          {"the first hidden layer is one Gaussian piece", {pieces(1, 2)}},
          {kNeurons, {family(0, Family::LowRank)}},
          {"weights and biases of both layers behind are independent of each other",
           {family(1, Family::LowRank), family(2, Family::LowRank)}},
          {"weights and biases of both layers behind are Gaussian", {laplace(1), laplace(2)}},
          {"activations of both hidden layers are smooth or have one kink at zero", {pieced()}},
          {"every neuron of the second hidden layer has noise of its own", {noise(1, 0.0, 0.0)}},
          {"means and noise of the second hidden layer are known to 1e-7 of their sizes",
           {noise(1, 1e-26, 1e-26)}}};
}

Violations violations(const std::string& id) {
  if (id == "H.3") return {{kIndependent, {family(1, Family::LowRank)}}};
  if (id == "Y.27") {
    return {
        {kUnmasked, {masked(1)}},
        {kIndependent, {family(1, Family::LowRank)}},
        {"the layer's weights are random", {family(1, Family::Deterministic)}},
        {"the sizes of its activations are convex functions", {[](Plan& plan) { plan.function = F::Tanh; }}}};
  }
  if (id == "Y.1" || id == "Y.40") {
    Violations all = {{kLast, {deeper()}},
                      {kOneOutput, {outputs(2)}},
                      {kUnmasked, {masked(1)}},
                      {kIndependent, {family(1, Family::LowRank)}},
                      {kNeurons, {family(0, Family::LowRank)}},
                      {kNodes, {pieced()}},
                      {"the output's bias is noisy", {noise(1, 0.02, 0.0)}}};
    if (id == "Y.1") all[kFewPieces] = {pieces(1, 32)};
    if (id == "Y.40") all["the last hidden layer is one Gaussian piece"] = {pieces(1, 2)};
    return all;
  }
  if (id == "D.7") {
    return {{kLast, {deeper()}},
            {kOneOutput, {outputs(2)}},
            {"there is Bernoulli dropout at this layer", {masked(0)}},
            {"the last hidden layer's law is one Gaussian", {pieces(1, 2)}},
            {kIndependent, {family(1, Family::LowRank)}},
            {"the layer's weights and biases are Gaussian", {laplace(1)}},
            {"masks make most of what is random", {noise(0, 1.0, 0.0)}}};
  }
  if (id == "D.8") {
    return {{kLast, {deeper()}},
            {kOneOutput, {outputs(2)}},
            {"there is Bernoulli dropout at this layer", {masked(0)}},
            {"the last hidden layer is one Gaussian piece", {pieces(1, 2)}},
            {kIndependent, {family(1, Family::LowRank)}},
            {kNeurons, {family(0, Family::LowRank)}},
            {kNodes, {pieced()}},
            {"the output's bias is noisy", {noise(1, 0.02, 0.0)}}};
  }
  if (id == "Y.9") {
    return {{kLast, {deeper()}},
            {kUnmasked, {masked(1)}},
            {kFewPieces, {pieces(1, 32)}},
            {kIndependent, {family(1, Family::LowRank)}},
            {kNeurons, {family(0, Family::LowRank)}},
            {kNodes, {pieced()}},
            {"neurons times outputs to the fourth power are at most 4e7", {outputs(31)}},
            {"the output's covariance is far from singular", {[](Plan& plan) {
               plan.layers[1].same_rows = true;
               noise(1, 0.0, 0.0)(plan);
             }}}};
  }
  if (id == "D.17") {
    return {{"it is the first of two or more hidden layers", {[](Plan& plan) {
               plan.layers.erase(plan.layers.begin() + 1);
               plan.pieces = {1};
             }}},
            {"behind it is Bernoulli dropout",
             {masked(0), masked(2), [](Plan& plan) { plan.mask = Mask::gaussian(0.1); }}},
            {"its inputs are constants", {[](Plan& plan) {
               plan.layers[0] = {0.4, 0.1, 0.0};
             }}},
            {"weights and biases of both layers behind are deterministic",
             {[](Plan& plan) {
                plan.layers[1] = {0.4, 0.1, 0.0};
              },
              [](Plan& plan) {
                plan.layers[2] = {0.4, 0.1, 0.0};
              },
              noise(2, 0.0, 0.1)}},
            {"the second hidden layer's law is neither compressed nor split", {pieces(2, 2)}},
            {kFewPieces, {[](Plan& plan) { plan.leaves = 32; }}}};
  }
  if (id.front() == 'D') return mask_violations(id);
  if (id == "Y.20") return two_layer_violations();
  if (id == "Y.28") {
    Violations all = two_layer_violations();
    all["the second hidden layer is one Gaussian piece"] = {pieces(2, 2)};
    return all;
  }
  if (id == "Y.30") {
    return {
        {"it is the last of two or more hidden layers", {[](Plan& plan) {
           plan.layers.erase(plan.layers.begin() + 1);
           plan.pieces = {1};
           plan.site = 1;
         }}},
        {kOneOutput, {outputs(2)}},
        {kNoMasks, {masked(1), masked(2)}},
        {"this hidden layer and the one before are one Gaussian piece each", {pieces(1, 2), pieces(2, 2)}},
        {"weights and biases before and behind this hidden layer are independent of each other",
         {family(1, Family::LowRank), family(2, Family::LowRank)}},
        {"weights before and behind this hidden layer are random",
         {family(1, Family::Deterministic), family(2, Family::Deterministic)}},
        {"weights and biases before and behind this hidden layer are Gaussian", {laplace(1), laplace(2)}},
        {"activations of this hidden layer and the one before are smooth or have one kink at zero",
         {pieced()}},
        {"every neuron of this hidden layer has noise of its own", {noise(1, 0.0, 0.0)}}};
  }
  return {};
}

/// Is `other` violated wherever `violated` is? Two pieces of the first hidden layer are two of the second,
/// and 32 components of the output are 32 pieces of the last hidden layer.
bool implies(const std::string& id, const std::string& violated, const std::string& other) {
  return id == "Y.28" &&
         (violated == kFewPieces || violated == "the first hidden layer is one Gaussian piece") &&
         other == "the second hidden layer is one Gaussian piece";
}

class EveryTheorem : public ::testing::TestWithParam<std::size_t> {
 protected:
  [[nodiscard]] static const Theorem& theorem_here() { return theorem_table()[GetParam()]; }
};

TEST_P(EveryTheorem, IsUsedWhereAllItsPreconditionsHold) {
  const Theorem& here = theorem_here();
  const Plan plan = satisfying(here.id);
  const Evaluated made(plan, here.fit != nullptr);
  for (const Precondition& p : here.preconditions) {
    EXPECT_TRUE(p.holds == nullptr || p.holds(made.situation(), plan.site)) << p.sentence;
  }
  EXPECT_EQ(made.used(plan.site), here.id);
  made.expect_valid();
}

TEST_P(EveryTheorem, IsNotUsedWhereOnePreconditionIsViolated) {
  const Theorem& here = theorem_here();
  const Violations known = violations(here.id);
  for (const Precondition& violated : here.preconditions) {
    SCOPED_TRACE(violated.sentence);
    const auto found = known.find(violated.sentence);
    ASSERT_NE(found, known.end()) << "no network violates it";
    for (const Change& change : found->second) {
      Plan plan = satisfying(here.id);
      change(plan);
      const Evaluated made(plan, here.fit != nullptr);
      const Situation situation = made.situation();
      for (const Precondition& p : here.preconditions) {
        if (p.holds == nullptr || implies(here.id, violated.sentence, p.sentence)) continue;
        EXPECT_EQ(p.holds(situation, plan.site), &p != &violated) << p.sentence;
      }
      EXPECT_NE(made.used(plan.site), here.id);
      made.expect_valid();
    }
  }
  EXPECT_EQ(known.size(), here.preconditions.size());
}

std::string test_name(const ::testing::TestParamInfo<std::size_t>& info) {
  std::string name = theorem_table()[info.param].id;
  std::replace(name.begin(), name.end(), '.', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Table, EveryTheorem, ::testing::Range(std::size_t{0}, theorem_table().size()),
                         test_name);

TEST(TheoremTable, NamesEveryTheoremOnce) {
  for (const Theorem& one : theorem_table()) {
    EXPECT_EQ(&theorem(one.id), &one);
    EXPECT_GT(std::string(one.name).size(), 5U);
  }
  EXPECT_THROW(theorem("Y.999"), InvalidArgument);
  EXPECT_EQ(theorem_in_words("Y.1"), "law of the one output (Y.1)");
  EXPECT_EQ(theorem_in_words("S.1"), "grid points (S.1)");
  EXPECT_EQ(theorem_in_words(""), "");
}

}  // namespace theorem_table_test
}  // namespace mixcert::testing
