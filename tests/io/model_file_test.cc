// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Model files: every family round-trips, every contradiction is refused by name.
#include "mixcert/io/model_file.h"

#include <cmath>
#include <limits>

#include "io/formats/safetensors.h"
#include "io/test_files.h"

namespace mixcert {
namespace model_file_test {

using test::message_of;

using Tensors = std::map<std::string, Array>;

const std::string kArchitecture =
    R"([{"type":"dense","name":"0","in":2,"out":1},{"type":"activation","function":"tanh"},)"
    R"({"type":"dense","name":"1","in":1,"out":2}])";

/// Deterministic tensors of kArchitecture.
Tensors means() {
  return {{"0.weight.mean", {{1, 2}, {1, -2}}},
          {"0.bias.mean", {{1}, {0.5}}},
          {"1.weight.mean", {{2, 1}, {3, 4}}},
          {"1.bias.mean", {{2}, {5, 6}}}};
}

class ModelFileTest : public ::testing::Test {
 protected:
  Network load(const Tensors& tensors, const std::string& architecture = kArchitecture,
               const std::string& format = "mixcert-network", const ReadLimits& limits = {}) {
    write_safetensors(path_, tensors, {{"format", format}, {"architecture", architecture}});
    return load_network(path_, limits);
  }
  /// `means()` with some tensors put in.
  std::vector<LayerSpec> load_with(const Tensors& more) {
    Tensors tensors = means();
    for (const auto& [name, array] : more) tensors[name] = array;
    load(tensors);
    return load_layers(path_);
  }
  std::string refusal(const Tensors& more) {
    return message_of<FileError>([&] { load_with(more); });
  }
  std::string refused_architecture(const std::string& architecture) {
    return message_of<FileError>([&] { load(means(), architecture); });
  }

  test::TempDirectory directory_;
  std::filesystem::path path_ = directory_ / "m.safetensors";
};

/// The dense layer at `position` of the list.
DenseLayer dense_at(const std::vector<LayerSpec>& layers, std::size_t position) {
  return std::get<DenseSpec>(layers[position].variant()).layer;
}

template <class Law>
Law weights_of(const std::vector<LayerSpec>& layers) {
  return std::get<Law>(dense_at(layers, 0).weights());
}

TEST_F(ModelFileTest, ReadsADeterministicNetwork) {
  const Network network = load(means());
  ASSERT_EQ(network.layer_count(), 1);  // what is in front is evaluated
  EXPECT_EQ(network.layer(0).bias_mean(), (Vector(2) << 5, 6).finished());
  EXPECT_TRUE(network.layer(0).is_deterministic());
  EXPECT_NEAR(network.features(Vector::Ones(2)).values(0), std::tanh(-0.5), 1e-15);
  const std::vector<LayerSpec> layers = load_layers(path_);
  ASSERT_EQ(layers.size(), 3U);
  EXPECT_EQ(dense_at(layers, 0).name(), "0");
  EXPECT_EQ(dense_at(layers, 0).weight_mean(), (Matrix(1, 2) << 1, -2).finished());
  EXPECT_EQ(std::get<ActivationSpec>(layers[1].variant()).activation.function(), ActivationFunction::Tanh);
}

TEST_F(ModelFileTest, ReadsEveryWeightFamily) {
  const Array pair{{1, 2}, {0.5, 2}};
  const Array square{{2, 2}, {2, 1, 1, 3}};
  EXPECT_EQ(weights_of<MeanFieldWeights>(load_with({{"0.weight.variance", pair}})).variance(0, 1), 2.0);

  const auto kronecker = weights_of<KroneckerWeights>(
      load_with({{"0.weight.row_covariance", {{1, 1}, {4}}}, {"0.weight.column_covariance", square}}));
  EXPECT_EQ(kronecker.row_covariance(0, 0), 4.0);
  EXPECT_EQ(kronecker.column_covariance, as_matrix(square));

  const auto basis =
      weights_of<KroneckerEigenbasisWeights>(load_with({{"0.weight.row_basis", {{1, 1}, {1}}},
                                                        {"0.weight.column_basis", {{2, 2}, {0, 1, -1, 0}}},
                                                        {"0.weight.variance", pair}}));
  EXPECT_EQ(basis.column_basis(1, 0), -1.0);

  const auto low_rank = weights_of<LowRankWeights>(
      load_with({{"0.weight.variance", pair}, {"0.weight.factor", {{2, 3}, {1, 2, 3, 4, 5, 6}}}}));
  ASSERT_EQ(low_rank.factor.size(), 3U);
  EXPECT_EQ(low_rank.factor[1], (Matrix(1, 2) << 2, 5).finished());
  EXPECT_FALSE(low_rank.is_common);
  const auto with_bias =
      weights_of<LowRankWeights>(load_with({{"0.weight.variance", pair},
                                            {"0.weight.factor", {{2, 3}, {1, 2, 3, 4, 5, 6}}},
                                            {"0.bias.factor", {{1, 3}, {7, 8, 9}}}}));
  EXPECT_EQ(with_bias.bias_factor, (Matrix(1, 3) << 7, 8, 9).finished());

  EXPECT_EQ(weights_of<FullWeights>(load_with({{"0.weight.covariance", square}})).covariance,
            as_matrix(square));
  const Array joint{{3, 3}, {2, 1, 0, 1, 3, 1, 0, 1, 4}};
  EXPECT_EQ(weights_of<JointWeights>(load_with({{"0.covariance", joint}})).covariance, as_matrix(joint));
}

TEST_F(ModelFileTest, ReadsEveryBiasFamily) {
  const auto independent = load_with({{"1.bias.variance", {{2}, {0.5, 2}}}});
  EXPECT_EQ(std::get<IndependentBias>(dense_at(independent, 2).bias()).variance(1), 2.0);
  const auto correlated = load_with({{"1.bias.covariance", {{2, 2}, {2, 1, 1, 3}}}});
  EXPECT_EQ(std::get<CorrelatedBias>(dense_at(correlated, 2).bias()).covariance(0, 1), 1.0);
  Tensors without = means();
  without.erase("1.bias.mean");
  EXPECT_EQ(load(without).layer(0).bias_mean(), Vector::Zero(2));
}

TEST_F(ModelFileTest, FlattensRowMajorAcrossOutputs) {
  load({{"a.weight.mean", {{2, 2}, {0, 0, 0, 0}}},
        {"a.weight.variance", {{2, 2}, {1, 1, 1, 1}}},
        {"a.weight.factor", {{4, 1}, {1, 2, 3, 4}}}},
       R"([{"type":"dense","name":"a","in":2,"out":2}])");
  const auto low_rank = weights_of<LowRankWeights>(load_layers(path_));
  EXPECT_EQ(low_rank.factor[0], (Matrix(2, 2) << 1, 2, 3, 4).finished());
}

TEST_F(ModelFileTest, FactorsInCommonAreKeptAndChecked) {
  const std::string list = R"([{"type":"dense","name":"a","in":1,"out":1,"factor":"common"},)"
                           R"({"type":"dense","name":"b","in":1,"out":1,"factor":"common"}])";
  const Array one{{1, 1}, {1}};
  Tensors tensors = {
      {"a.weight.mean", one}, {"a.weight.variance", one}, {"a.weight.factor", {{1, 2}, {1, 2}}},
      {"b.weight.mean", one}, {"b.weight.variance", one}, {"b.weight.factor", {{1, 2}, {3, 4}}}};
  const Network network = load(tensors, list);
  EXPECT_EQ(network.common_factor_count(), 2);
  save_network(directory_ / "again.safetensors", network);
  EXPECT_EQ(load_network(directory_ / "again.safetensors").common_factor_count(), 2);
  tensors["b.weight.factor"] = {{1, 1}, {3}};
  EXPECT_CONTAINS(message_of<FileError>([&] { load(tensors, list); }),
                  "a common factor of 1 columns, layer 'a' one of 2");
  tensors.erase("b.weight.factor");
  EXPECT_CONTAINS(message_of<FileError>([&] { load(tensors, list); }), "mean-field weights");
}

TEST_F(ModelFileTest, SavedNetworksLoadTheSame) {
  load_with({{"0.weight.variance", {{1, 2}, {0.5, 2}}},
             {"0.weight.factor", {{2, 2}, {1, 2, 3, 4}}},
             {"0.bias.variance", {{1}, {0.25}}},
             {"1.weight.row_covariance", {{2, 2}, {2, 1, 1, 3}}},
             {"1.weight.column_covariance", {{1, 1}, {7}}},
             {"1.bias.covariance", {{2, 2}, {2, 1, 1, 3}}}});
  const SafetensorsReader original(path_);
  save_network(directory_ / "again.safetensors", load_network(path_), {{"note", "kept"}});
  const SafetensorsReader again(directory_ / "again.safetensors");
  EXPECT_EQ(again.metadata().at("note"), "kept");
  EXPECT_EQ(again.metadata().at("architecture"), kArchitecture);
  ASSERT_EQ(again.tensors().size(), original.tensors().size());
  for (const auto& [name, info] : original.tensors())
    EXPECT_EQ(again.read(name).values, original.read(name).values);
}

TEST_F(ModelFileTest, ReadsActivationsEverywhere) {
  const std::string layers =
      R"([{"type":"activation","function":"relu"},{"type":"dense","name":"0","in":2,"out":1},)"
      R"({"type":"activation","function":"leaky_relu","slope":0.25},{"type":"dense","name":"1","in":1,"out":2}])";
  Tensors tensors = means();
  tensors["0.weight.variance"] = {{1, 2}, {1, 1}};
  const Network network = load(tensors, layers);
  EXPECT_EQ(network.activation(0).common().function(), ActivationFunction::Relu);
  EXPECT_EQ(network.activation(1).common().slope(), 0.25);
  save_network(path_, network);
  EXPECT_EQ(SafetensorsReader(path_).metadata().at("architecture"), layers);
  const std::string with_parameters =
      R"([{"type":"activation","function":"celu","alpha":2.5},{"type":"dense","name":"0","in":2,"out":1},)"
      R"({"type":"activation","function":"hardtanh","lower":-0.5,"upper":3.0},{"type":"dense","name":"1","in":1,"out":2}])";
  const Network further = load(tensors, with_parameters);
  EXPECT_EQ(further.activation(0).common().parameters().alpha, 2.5);
  EXPECT_EQ(further.activation(1).common()(7.0), 3.0);
  save_network(path_, further);
  EXPECT_EQ(SafetensorsReader(path_).metadata().at("architecture"), with_parameters);
  const Network alias = load(
      tensors,
      R"([{"type":"activation","function":"prelu","slope":-2},{"type":"dense","name":"0","in":2,"out":1},)"
      R"({"type":"activation","function":"elu"},{"type":"dense","name":"1","in":1,"out":2}])");
  EXPECT_EQ(alias.activation(0).common()(-1.0), 2.0);
  EXPECT_EQ(alias.activation(1).common().parameters().alpha, 1.0);
  const Network plain = load(
      tensors, R"([{"type":"dense","name":"0","in":2,"out":1},{"type":"dense","name":"1","in":1,"out":2}])");
  EXPECT_EQ(plain.activation(1).common().function(), ActivationFunction::Identity);
}

struct TensorCase {
  Tensors more;
  std::string message;
};

class BadTensors : public ModelFileTest, public ::testing::WithParamInterface<TensorCase> {};

TEST_P(BadTensors, AreRefusedByName) {
  const std::string message = refusal(GetParam().more);
  EXPECT_TRUE(message.starts_with(path_.string() + ": ")) << message;
  EXPECT_CONTAINS(message, GetParam().message);
}

const double kNan = std::numeric_limits<double>::quiet_NaN();
const Array kPairVariance{{1, 2}, {1, 1}};
const Array kIdentity{{2, 2}, {1, 0, 0, 1}};

INSTANTIATE_TEST_SUITE_P(
    All, BadTensors,
    ::testing::Values(
        TensorCase{{{"0.weight.mean", {{2, 1}, {1, 2}}}},
                   "tensor '0.weight.mean': expected shape [1, 2], got [2, 1]"},
        TensorCase{{{"0.weight.mean", {{1, 2}, {1, kNan}}}},
                   "tensor '0.weight.mean': expected finite values, got nan at index [0, 1]"},
        TensorCase{{{"1.bias.mean", {{2, 1}, {1, 2}}}}, "tensor '1.bias.mean': expected shape [2]"},
        TensorCase{{{"0.weight.variance", {{1, 2}, {1, -1}}}}, "[0, 1]"},
        TensorCase{{{"0.bias.variance", {{1}, {-1}}}}, "bias.variance"},
        TensorCase{{{"0.weight.covariance", {{2, 2}, {1, 2, 2, 1}}}}, "semidefinite"},
        TensorCase{{{"0.weight.covariance", {{2, 2}, {1, 1, 0, 1}}}}, "symmetric"},
        TensorCase{{{"0.weight.covariance", {{4}, {1, 0, 0, 1}}}}, "expected shape [2, 2], got [4]"},
        TensorCase{{{"1.bias.covariance", {{2, 2}, {1, 2, 2, 1}}}}, "semidefinite"},
        TensorCase{{{"0.covariance", {{2, 2}, {1, 0, 0, 1}}}},
                   "tensor '0.covariance': expected shape [3, 3]"},
        TensorCase{{{"0.weight.row_covariance", {{1, 1}, {1}}}}, "one weight family"},
        TensorCase{{{"0.weight.factor", {{2, 1}, {1, 1}}}}, "one weight family"},
        TensorCase{{{"0.weight.variance", kPairVariance}, {"0.weight.factor", {{2, 0}, {}}}}, "rank >= 1"},
        TensorCase{{{"0.weight.variance", kPairVariance}, {"0.weight.factor", {{1, 2}, {1, 1}}}},
                   "shape [2, rank]"},
        TensorCase{{{"0.weight.variance", kPairVariance}, {"0.weight.row_basis", {{1, 1}, {1}}}},
                   "one weight family"},
        TensorCase{{{"0.weight.variance", kPairVariance}, {"0.weight.covariance", kIdentity}},
                   "together: weight.variance weight.covariance"},
        TensorCase{{{"1.bias.variance", {{2}, {1, 1}}}, {"1.bias.covariance", kIdentity}},
                   "one of bias.variance"},
        TensorCase{{{"0.covariance", {{3, 3}, {1, 0, 0, 0, 1, 0, 0, 0, 1}}}, {"0.bias.variance", {{1}, {1}}}},
                   "one of bias.variance"},
        TensorCase{{{"covariance", kIdentity}},
                   "tensor 'covariance': expected tensors of single layers (layers are independent"},
        TensorCase{{{"0.1.covariance", kIdentity}}, "no layer"},
        TensorCase{{{"2.weight.mean", kIdentity}}, "no layer"},
        TensorCase{{{"0.weight.std", kPairVariance}}, "no layer"}));

TEST_F(ModelFileTest, RefusesMissingTensors) {
  Tensors tensors = means();
  tensors.erase("0.weight.mean");
  EXPECT_CONTAINS(message_of<FileError>([&] { load(tensors); }),
                  "tensor '0.weight.mean': expected shape [1, 2], got no such tensor");
  tensors = means();
  tensors.erase("1.bias.mean");
  tensors["1.bias.variance"] = {{2}, {1, 1}};
  EXPECT_CONTAINS(message_of<FileError>([&] { load(tensors); }), "bias.mean beside the law");
}

TEST_F(ModelFileTest, RefusesOtherFormats) {
  EXPECT_CONTAINS(message_of<FileError>([&] { load(means(), kArchitecture, "pt"); }),
                  "__metadata__.format: expected 'mixcert-network', got 'pt'");
  write_safetensors(path_, means(), {});
  EXPECT_CONTAINS(message_of<FileError>([&] { load_network(path_); }), "entry 'format'");
  write_safetensors(path_, means(), {{"format", "mixcert-network"}});
  EXPECT_CONTAINS(message_of<FileError>([&] { load_network(path_); }), "entry 'architecture'");
}

TEST_F(ModelFileTest, SaysHowMuchMemoryIsNeeded) {
  EXPECT_CONTAINS(message_of<ResourceError>([&] { load(means(), kArchitecture, "mixcert-network", {10}); }),
                  "needs");
  const std::string message = message_of<ResourceError>([&] {
    load({{"0.weight.mean", {{1000, 1000}, std::vector<double>(1000000)}}},
         R"([{"type":"dense","name":"0","in":1000,"out":1000}])", "mixcert-network", {1U << 20U});
  });
  EXPECT_CONTAINS(message, "the network needs 15.26 MiB of memory, at most 1 MiB is allowed");
}

struct ArchitectureCase {
  std::string text;
  std::string message;
};

class BadArchitecture : public ModelFileTest, public ::testing::WithParamInterface<ArchitectureCase> {};

TEST_P(BadArchitecture, IsRefusedByName) {
  const std::string message = refused_architecture(GetParam().text);
  EXPECT_TRUE(message.starts_with(path_.string() + ": architecture")) << message;
  EXPECT_CONTAINS(message, GetParam().message);
  EXPECT_EQ(message.find('\n'), std::string::npos);
}

std::string two(const std::string& between, const std::string& name = "1") {
  return R"([{"type":"dense","name":"0","in":2,"out":1},)" + between + R"({"type":"dense","name":")" + name +
         R"(","in":1,"out":2}])";
}

INSTANTIATE_TEST_SUITE_P(
    All, BadArchitecture,
    ::testing::Values(
        ArchitectureCase{"", "valid JSON"}, ArchitectureCase{"{}", "a JSON list"},
        ArchitectureCase{"[]", "a JSON list"},
        ArchitectureCase{"[1]", "architecture[0]: expected a JSON object"},
        ArchitectureCase{R"([{"name":"0"}])", "key 'type'"},
        ArchitectureCase{two(R"({"type":"conv","name":"x"},)"),
                         "architecture[1]: type: expected one of activation, add, affine, avg_pool2d, "
                         "batch_norm, concat, conv2d,"},
        ArchitectureCase{two(R"({"type":"activation","function":"swoosh"},)"), "swoosh"},
        ArchitectureCase{two(R"({"type":"activation"},)"), "key 'function'"},
        ArchitectureCase{two(R"({"type":"activation","function":"relu","slope":1},)"),
                         "slope for leaky_relu only"},
        ArchitectureCase{two(R"({"type":"activation","function":"leaky_relu","slope":"1"},)"),
                         "a finite number"},
        ArchitectureCase{two(R"({"type":"activation","function":"relu","beta":1},)"),
                         "only the keys type, function, slope, lower, upper, alpha, got 'beta'"},
        ArchitectureCase{two(R"({"type":"activation","function":"relu","alpha":1},)"),
                         "alpha for elu and celu only"},
        ArchitectureCase{two(R"({"type":"activation","function":"elu","lower":1},)"),
                         "lower for hardtanh only"},
        ArchitectureCase{two(R"({"type":"activation","function":"hardtanh","lower":1,"upper":0},)"),
                         "hardtanh: expected finite numbers lower < upper"},
        ArchitectureCase{two(R"({"type":"activation","function":"celu","alpha":0},)"),
                         "celu: expected a finite alpha above 0"},
        ArchitectureCase{R"([{"type":"dense","name":"0","in":2,"out":1,"bias":false}])", "only the keys"},
        ArchitectureCase{R"([{"type":"dense","name":"0","in":0,"out":1}])", "in: expected an integer in 1.."},
        ArchitectureCase{R"([{"type":"dense","name":"0","in":2,"out":-1}])",
                         "out: expected an integer in 0.."},
        ArchitectureCase{R"([{"type":"dense","name":"0","in":2,"out":1.5}])", "out: expected an integer"},
        ArchitectureCase{R"([{"type":"dense","name":"0","in":2,"out":4294967296}])",
                         "out: expected an integer in 1.."},
        ArchitectureCase{R"([{"type":"dense","name":"0","in":2}])", "out: expected an integer, got none"},
        ArchitectureCase{R"([{"type":"dense","name":"","in":2,"out":1}])", "a name"},
        ArchitectureCase{R"([{"type":"dense","name":"a\nb","in":2,"out":1}])",
                         "control characters, got 'a\\x0ab'"},
        ArchitectureCase{two("", "0"), "each name once"},
        ArchitectureCase{two("", "0.weight"), "cannot be confused"},
        ArchitectureCase{
            R"([{"type":"dense","name":"0","in":2,"out":1},{"type":"dense","name":"1","in":2,"out":2}])",
            "in: expected 1 (outputs of the layer before), got 2"}));

}  // namespace model_file_test
}  // namespace mixcert
