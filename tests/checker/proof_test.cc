// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// What the engine claims is proven, and what it does not claim is not.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <utility>

#include "checker/proof_files.h"

namespace mixcert::testing {
namespace proof_test {

using mixcert_check::BadFile;
using mixcert_check::Checked;
using mixcert_check::NotProven;

constexpr ActivationFunction kCovered[] = {
    ActivationFunction::Identity, ActivationFunction::Relu,    ActivationFunction::LeakyRelu,
    ActivationFunction::Tanh,     ActivationFunction::Sigmoid, ActivationFunction::Erf,
    ActivationFunction::Gelu,     ActivationFunction::Silu,    ActivationFunction::Softplus};

/// The claims of all inputs are proven. A proof has no rounding to charge, and takes (Y.27) where the
/// engine's certificate takes (H.2): it is below the claim, by at most a part of it.
void expect_proven(const ProofFiles& files) {
  const std::vector<Checked> all = check_files(files.model(), files.proof());
  ASSERT_EQ(all.size(), files.results().size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(all[i].claimed, files.results()[i].w2.value);
    EXPECT_LE(all[i].proven, all[i].claimed);
    EXPECT_GE(all[i].proven, 0.5 * all[i].claimed - 1e-6);
  }
}

void expect_proven(const NetworkRecipe& recipe) { expect_proven(ProofFiles(recipe)); }

TEST(Proof, HoldsForEveryActivationAndDepth) {
  for (const ActivationFunction function : kCovered) {
    for (const std::vector<Index>& widths : {std::vector<Index>{2, 6, 1}, {3, 6, 5, 2}, {2, 4, 5, 4, 3}}) {
      SCOPED_TRACE(std::string(to_string(function)) + ", layers: " + std::to_string(widths.size()));
      expect_proven({.widths = widths, .activation = function, .seed = widths.size()});
    }
  }
}

TEST(Proof, HoldsForFixedWeightsAndWideSpread) {
  expect_proven({.widths = {2, 6, 5, 2}, .weights = WeightFamily::Deterministic, .seed = 3});
  for (const double deviation : {1e-6, 1e-2, 3.0}) {
    for (const ActivationFunction function : {ActivationFunction::Relu, ActivationFunction::Tanh}) {
      SCOPED_TRACE(deviation);
      expect_proven({.widths = {2, 6, 5, 2}, .activation = function, .deviation = deviation, .seed = 4});
    }
  }
}

TEST(Proof, HoldsBehindMasks) {
  for (const WeightFamily family : {WeightFamily::Deterministic, WeightFamily::MeanField}) {
    for (const double rate : {1e-9, 0.1, 0.5, 0.95}) {
      for (const ActivationFunction function : {ActivationFunction::Relu, ActivationFunction::Tanh}) {
        SCOPED_TRACE(std::string(to_string(function)) + ", rate " + std::to_string(rate));
        const NetworkRecipe recipe{
            .widths = {2, 6, 5, 4, 2}, .weights = family, .activation = function, .seed = 12};
        expect_proven(ProofFiles(masked(recipe, Mask::bernoulli(rate)), 12));
        expect_proven(ProofFiles(masked(recipe, Mask::gaussian(rate)), 13));
      }
    }
  }
}

TEST(Proof, HoldsForWeightsThatDependOnEachOther) {
  for (const WeightFamily family : {WeightFamily::Kronecker, WeightFamily::KroneckerEigenbasis}) {
    for (const ActivationFunction function :
         {ActivationFunction::Relu, ActivationFunction::Tanh, ActivationFunction::Gelu}) {
      for (const std::vector<Index>& widths : {std::vector<Index>{2, 6, 1}, {3, 6, 5, 2}, {2, 4, 5, 4, 3}}) {
        for (const double deviation : {0.01, 0.3, 2.0}) {
          SCOPED_TRACE(to_string(family) + ", " + std::string(to_string(function)) + ", layers: " +
                       std::to_string(widths.size()) + ", deviation " + std::to_string(deviation));
          expect_proven(NetworkRecipe{.widths = widths,
                                      .weights = family,
                                      .activation = function,
                                      .deviation = deviation,
                                      .seed = widths.size()});
        }
      }
    }
  }
}

TEST(Proof, HoldsForCorrelatedBiases) {
  for (const WeightFamily family :
       {WeightFamily::MeanField, WeightFamily::Deterministic, WeightFamily::Kronecker}) {
    SCOPED_TRACE(to_string(family));
    expect_proven(
        NetworkRecipe{.widths = {3, 6, 5, 2}, .weights = family, .bias = BiasFamily::Correlated, .seed = 21});
  }
}

/// The difference of two neurons that are the same: its deviation is zero, and its ball holds more.
TEST(Proof, HoldsWhereADeviationCannotBeToldFromZero) {
  const auto layer = [](const std::string& name, const Matrix& mean, double variance) {
    WeightCovariance weights = DeterministicWeights{};
    if (variance > 0.0) weights = MeanFieldWeights{Matrix::Constant(mean.rows(), mean.cols(), variance)};
    return DenseLayer(name, mean, Vector::Constant(mean.rows(), 0.1), weights, DeterministicBias{});
  };
  for (const ActivationFunction function : {ActivationFunction::Relu, ActivationFunction::Tanh}) {
    const ActivationMap f{Activation(function)}, none{Activation(ActivationFunction::Identity)};
    std::vector<DenseLayer> layers{layer("0", Matrix::Constant(1, 2, 0.7), 0.25),
                                   layer("1", Matrix{{0.3}, {0.3}}, 0.0),
                                   layer("2", Matrix{{1.0, -1.0}}, 0.0), layer("3", Matrix{{0.4}}, 0.01)};
    expect_proven(ProofFiles(Network(std::move(layers), {none, f, f, f}), 1));
  }
}

TEST(Proof, NormsBehindManyLayers) {
  expect_proven({.widths = {2, 3, 3, 3, 3, 3, 3, 2}, .activation = ActivationFunction::Tanh, .seed = 5});
}

/// The tensor's place in a file.
std::size_t place_of(const std::string& bytes, double value) {
  return bytes.find(std::string(reinterpret_cast<const char*>(&value), sizeof value));
}

TEST(Proof, AnotherModelIsNamed) {
  const ProofFiles files({.widths = {2, 6, 2}, .seed = 1}), others({.widths = {2, 6, 2}, .seed = 2});
  try {
    check_files(others.model(), files.proof());
    FAIL() << "a proof of another model was taken";
  } catch (const NotProven& error) {
    EXPECT_NE(std::string(error.what()).find("the proof is about another model"), std::string::npos)
        << error.what();
  }
}

TEST(Proof, ABoundThatIsALittleTooSmallIsRefused) {
  const ProofFiles files({.widths = {2, 6, 5, 2}, .activation = ActivationFunction::Tanh, .seed = 6});
  const std::string bytes = bytes_of(files.proof());
  const double claimed = files.results()[1].w2.value,
               proven = check_files(files.model(), files.proof())[1].proven;
  for (const double smaller : {0.5 * claimed, proven * (1.0 - 1e-9), 0.0, -1.0}) {
    std::string changed = bytes;
    changed.replace(place_of(bytes, claimed), sizeof claimed,
                    std::string(reinterpret_cast<const char*>(&smaller), sizeof smaller));
    write_bytes(files.proof(), changed);
    EXPECT_THROW(check_files(files.model(), files.proof()), NotProven) << smaller;
  }
}

/// A model and its proof, to be changed by hand.
struct Parts {
  mixcert_check::Model model;
  mixcert_check::Block head, claim;

  explicit Parts(const ProofFiles& files) : model(mixcert_check::read_model(files.model())) {
    std::ifstream file(files.proof(), std::ios::binary);
    head = *mixcert_check::read_block(file);
    claim = *mixcert_check::read_block(file);
  }
  /// What is said of them: nothing where all is proven.
  [[nodiscard]] std::string refusal() const {
    try {
      (void)mixcert_check::Proof(model, head).check(claim);
    } catch (const std::runtime_error& error) {
      return error.what();
    }
    return "";
  }
};

TEST(Proof, AMetricThatIsInfeasibleByABillionthIsNamed) {
  const ProofFiles files({.widths = {2, 6, 5, 2}, .activation = ActivationFunction::Tanh, .seed = 8});
  Parts parts(files);
  // The largest eigenvalue for all coordinates: nothing is left of it.
  parts.claim.metadata["chains"] = R"(["expected","output"])";
  parts.claim.tensors["w2_bound"].values = {1e6};
  EXPECT_EQ(parts.refusal(), "");
  for (double& g : parts.head.tensors["metric/expected/1"].values) g *= 1.0 - 1e-9;
  EXPECT_NE(parts.refusal().find("metric/expected/1: diag(g) >= E W'QW was not proven (M.8)"),
            std::string::npos)
      << parts.refusal();
  for (double& g : parts.head.tensors["metric/expected/1"].values) g = -g;
  EXPECT_NE(parts.refusal().find("a metric is negative"), std::string::npos) << parts.refusal();
}

TEST(Proof, SwappedLayersAndOtherChainsAreNamed) {
  const ProofFiles files({.widths = {2, 5, 5, 5, 2}, .activation = ActivationFunction::Tanh, .seed = 9});
  Parts parts(files);
  EXPECT_EQ(parts.refusal(), "");
  std::swap(parts.model.layers[1], parts.model.layers[2]);
  EXPECT_NE(parts.refusal(), "");
  std::swap(parts.model.layers[1], parts.model.layers[2]);
  parts.claim.metadata["chains"] = R"(["expected","expected"])";
  EXPECT_NE(parts.refusal().find("chains: expected 3, one for each hidden layer, got 2"), std::string::npos);
  parts.claim.metadata["chains"] = R"(["unknown","unknown","output"])";
  EXPECT_NE(parts.refusal().find("expected a tensor 'metric/unknown/"), std::string::npos) << parts.refusal();
}

TEST(Proof, ACovarianceThatIsNoneIsRefused) {
  const ProofFiles files({.widths = {2, 5, 2}, .seed = 10});
  Parts parts(files);
  std::vector<double>& covariance = parts.claim.tensors["covariance"].values;
  parts.claim.tensors["w2_bound"].values = {1e6};
  covariance[1] *= 1.0 + 1e-15;
  EXPECT_EQ(parts.refusal(), "the covariance is not symmetric");
  covariance[1] = covariance[2] = 10.0 * (covariance[0] + covariance[3]);
  EXPECT_EQ(parts.refusal(), "the covariance was not proven positive semidefinite");
}

TEST(Proof, WhatIsNotCoveredIsRefusedByName) {
  try {
    const ProofFiles files({.widths = {2, 6, 2}, .activation = ActivationFunction::Elu});
    FAIL() << "elu";
  } catch (const std::exception& error) {
    EXPECT_NE(std::string(error.what()).find("not covered: activation 'elu'"), std::string::npos)
        << error.what();
  }
}

TEST(Proof, TwoLayersOfOneNameAreRefused) {
  const ProofFiles files({.widths = {2, 2, 2}, .seed = 11});
  std::string bytes = bytes_of(files.model());
  const std::string first = R"(\"name\":\"0\")", second = R"(\"name\":\"1\")";
  const std::size_t place = bytes.find(second);
  ASSERT_NE(place, std::string::npos) << bytes.substr(8, 400);
  bytes.replace(place, second.size(), first);
  try {
    (void)mixcert_check::parse_model(bytes);
    FAIL() << "two layers of one name";
  } catch (const BadFile& error) {
    EXPECT_STREQ(error.what(), "two layers are called '0', or one has no name");
  }
}

/// A model file whose header has another text in the place of this one.
std::string with_header(std::string bytes, const std::string& text, const std::string& other) {
  const std::size_t place = bytes.find(text);
  EXPECT_NE(place, std::string::npos) << text;
  bytes.replace(place, text.size(), other);
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data(), sizeof length);
  length += other.size() - text.size();
  std::memcpy(bytes.data(), &length, sizeof length);
  return bytes;
}

TEST(Proof, EntriesThatChangeNothingAreRead) {
  const ProofFiles files({.widths = {2, 3, 2}, .activation = ActivationFunction::LeakyRelu, .seed = 11});
  const std::string bytes = bytes_of(files.model()), start = R"([{\"type\":\"dense\")";
  const std::string flat = with_header(bytes, start, R"([{\"type\":\"flatten\"},{\"type\":\"dense\")");
  EXPECT_EQ(mixcert_check::parse_model(flat).layers.size(), 2U);
  const std::string alias = with_header(bytes, "leaky_relu", "prelu");
  EXPECT_EQ(mixcert_check::parse_model(alias).layers.size(), 2U);
  const std::string other =
      with_header(bytes, start, R"([{\"type\":\"flatten\",\"axis\":1},{\"type\":\"dense\")");
  EXPECT_THROW((void)mixcert_check::parse_model(other), BadFile);
}

TEST(Proof, HoldsForCovariancesOfSmallRank) {
  for (const auto& [hidden, outputs] : {std::pair<Index, Index>{1, 5}, {2, 10}, {9, 10}, {13, 18}}) {
    SCOPED_TRACE(outputs);
    expect_proven({.widths = {2, hidden, outputs}, .activation = ActivationFunction::Tanh, .seed = 12});
  }
}

/// Products in doubles prove too little here, and are followed by exact ones (I.6).
TEST(Proof, HoldsForCovariancesCloseToSingularOnes) {
  const NetworkRecipe narrow{
      .widths = {2, 3, 3, 3, 3, 1}, .activation = ActivationFunction::Relu, .deviation = 3e-5, .seed = 355},
      wide{.widths = {1, 4, 6, 4, 2}, .activation = ActivationFunction::Relu, .deviation = 3e-5, .seed = 950};
  for (const auto& [recipe, rate] : {std::pair{narrow, 0.1}, {wide, 0.7}}) {
    const ProofFiles files(masked(recipe, Mask::bernoulli(rate)), recipe.seed, 1);
    EXPECT_NO_THROW((void)check_files(files.model(), files.proof())) << recipe.seed;
  }
}

/// Deviations whose squares are below what (I.6) adds to every product, behind which weights are large.
TEST(Proof, HoldsInSmallUnits) {
  for (const double unit : {1e-60, 1e-80, 1e-100}) {
    const auto layer = [](const char* name, const Matrix& mean, double variance) {
      return DenseLayer(name, mean, Vector::Zero(mean.rows()),
                        MeanFieldWeights{Matrix::Constant(mean.rows(), mean.cols(), variance)},
                        DeterministicBias{});
    };
    const Activation relu(ActivationFunction::Relu);
    const Network network({layer("a", Matrix::Constant(2, 1, unit), unit * unit),
                           layer("b", Matrix{{1.0, -1.0}, {1.0, 1.0}}, 0.1),
                           layer("c", Matrix::Constant(1, 2, 1.0 / unit), 0.0)},
                          {Activation(), relu, relu});
    const ProofFiles files(network, 1, 1);
    EXPECT_NO_THROW((void)check_files(files.model(), files.proof())) << unit;
  }
}

TEST(Proof, DropoutOfVeryManyInputsIsRefused) {
  const std::string header =
      R"({"__metadata__":{"format":"mixcert-network","architecture":"[{\"type\":\"dropout\",\"rate\":0.1},)"
      R"({\"type\":\"dense\",\"name\":\"a\",\"in\":20000,\"out\":1}]"},)"
      R"("a.weight.mean":{"dtype":"F64","shape":[1,20000],"data_offsets":[0,160000]}})";
  std::string bytes(8, '\0');
  for (std::size_t i = 0; i < 8; ++i) bytes[i] = static_cast<char>(header.size() >> (8 * i));
  const ProofFiles files({.widths = {2, 3, 2}, .seed = 12}, 1);
  write_bytes(files.model(), bytes + header + std::string(160000, '\0'));
  try {
    (void)mixcert_check::read_model(files.model());
    FAIL() << "was read";
  } catch (const BadFile& error) {
    EXPECT_NE(std::string(error.what()).find("dropout of more than"), std::string::npos) << error.what();
  }
}

TEST(Proof, EveryCutIsAnError) {
  const ProofFiles files({.widths = {2, 3, 3, 2}, .seed = 7}, 1);
  const std::string bytes = bytes_of(files.proof());
  for (std::size_t length = 0; length < bytes.size(); length += 1 + length / 40) {
    write_bytes(files.proof(), bytes.substr(0, length));
    try {
      EXPECT_TRUE(check_files(files.model(), files.proof()).empty()) << length;
    } catch (const BadFile&) {
    }
  }
}

}  // namespace proof_test
}  // namespace mixcert::testing
