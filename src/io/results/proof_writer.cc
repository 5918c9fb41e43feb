// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Blocks in the format of model files, one after the other: the metrics (M.8), and one for each input.
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "io/files/atomic_file.h"
#include "io/formats/safetensors.h"
#include "methods/prepared.h"
#include "mixcert/core/error.h"
#include "mixcert/io/proof_file.h"

namespace mixcert {
namespace {

[[noreturn]] void refuse(const std::string& expected) {
  throw InvalidArgument("option --proof: expected " + expected + "; mixcert-check covers nothing else yet");
}

/// Those of checker/activation.cc.
bool is_checked(const Activation& activation) {
  using F = ActivationFunction;
  constexpr F kChecked[] = {F::Identity, F::Relu, F::LeakyRelu, F::Tanh,    F::Sigmoid,
                            F::Erf,      F::Gelu, F::Silu,      F::Softplus};
  return std::find(std::begin(kChecked), std::end(kChecked), activation.function()) != std::end(kChecked);
}

/// Those of checker/model.cc.
bool is_checked(const WeightCovariance& weights) {
  return std::holds_alternative<DeterministicWeights>(weights) ||
         std::holds_alternative<MeanFieldWeights>(weights) ||
         std::holds_alternative<KroneckerWeights>(weights) ||
         std::holds_alternative<KroneckerEigenbasisWeights>(weights);
}

void refuse_uncovered(const Network& network) {
  const bool is_chain = network.graph() == nullptr && network.front() == nullptr &&
                        network.hidden_count() > 0 && network.activation(0).is_uniform() &&
                        network.activation(0).common().function() == ActivationFunction::Identity;
  if (!is_chain) refuse("dense layers with activations between them, and at least one of them hidden");
  for (Index k = 0; k < network.layer_count(); ++k) {
    const DenseLayer& layer = network.layer(k);
    if (!layer.is_gaussian() || !is_checked(layer.weights())) {
      refuse("weights that are normal, and independent or of Kronecker's form");
    }
    if (!network.activation(k).is_uniform() || !is_checked(network.activation(k).common())) {
      refuse("activations identity, relu, leaky_relu, tanh, sigmoid, erf, gelu, silu or softplus");
    }
  }
}

Array array_of(std::vector<Index> shape, const Vector& values) {
  return {std::move(shape), {values.data(), values.data() + values.size()}};
}

/// [metrics, neurons]: those of one form at the outputs of one layer.
Array metrics_of(const ErrorNorm& error_norm) {
  Array stacked;
  Index count = 0, size = 0;
  for (const NormTerm& norm : error_norm.norms) {
    if (!norm.diagonal) continue;
    stacked.values.insert(stacked.values.end(), norm.metric.begin(), norm.metric.end());
    ++count;
    size = norm.metric.size();
  }
  stacked.shape = {count, size};
  return stacked;
}

/// Where the law of the output is computed, (Y.1) is what its bound comes from.
bool has_computed_law(const Network& network) {
  if (network.graph() != nullptr || network.hidden_count() != 1 || network.outputs() != 1) return false;
  const DenseLayer& first = network.layer(0);
  const DenseLayer& last = network.layer(1);
  return !network.has_masks() && first.has_independent_outputs() && last.has_independent_outputs() &&
         last.bias_variances()(0) > 0.0;
}

/// Of a term, by mixcert-check.
bool is_checked_theorem(const std::string& theorem) {
  return theorem == "H.3" || theorem == "H.7" || theorem == "Y.1" || theorem == "Y.27";
}

}  // namespace

Options options_with_proof(const Options& options, const Network& network) {
  require(!options.radius,
          "option --proof: mixcert-check proves bounds at single inputs; leave out --radius");
  if (options.method != Method::Auto && options.method != Method::Moment) refuse("method moment");
  if (options.joint) refuse("inputs one by one");
  if (options.pieces != 1 || options.epsilon) refuse("one piece, without --epsilon");
  if (options.predictive != Predictive::Network) refuse("predictive network");
  Options made = options;
  made.method = Method::Moment;
  if (has_computed_law(network)) {
    made.components = 1;
  } else {
    made.theorems = TheoremSet::Coupling;
  }
  return made;
}

struct ProofWriter::File {
  explicit File(const std::filesystem::path& path) : out(path) {}
  AtomicFile out;
};

ProofWriter::ProofWriter(const std::filesystem::path& path, const Network& network,
                         const std::string& model_sha256, const Options& options) {
  refuse_uncovered(network);
  std::map<std::string, Array> metrics;
  const auto error_norms = kept_error_norms(network, options, nullptr);
  for (std::size_t k = 0; k + 1 < error_norms->size(); ++k) {
    for (const ErrorNorm& error_norm : (*error_norms)[k]) {
      metrics.emplace("metric/" + error_norm.name + "/" + std::to_string(k + 1), metrics_of(error_norm));
    }
  }
  file_ = std::make_unique<File>(path);
  append_safetensors(metrics, {{"format", "mixcert-proof"}, {"version", "1"}, {"model", model_sha256}},
                     file_->out);
}

ProofWriter::~ProofWriter() = default;

void ProofWriter::add(const Result& result, ConstVectorRef input) {
  require(
      std::isnan(result.input_change),
      "a proof: mixcert-check proves bounds at single inputs, and this one holds at a set of them; certify "
      "without a radius or a box");
  const bool is_checked =
      std::all_of(result.layers.begin(), result.layers.end(),
                  [](const LayerReport& layer) { return is_checked_theorem(layer.theorem); });
  const bool is_one =
      is_checked && result.method == Method::Moment && result.mixture.size() == 1 && result.w2.exists();
  if (!is_one)
    refuse("a bound of method moment with theorems coupling, or of theorem Y.1, for one Gaussian, at input " +
           std::to_string(result.input));
  std::map<std::string, std::string> metadata{{"index", std::to_string(result.input)}};
  if (result.layers.back().theorem == "Y.1") metadata["theorem"] = "Y.1";
  nlohmann::json chains = nlohmann::json::array();
  for (const LayerReport& layer : result.layers) chains.push_back(layer.metric);
  metadata["chains"] = chains.dump();
  const Gaussian& law = result.mixture.component(0);
  // Products may differ in last bits on both sides of the diagonal; the claim is about the lower one.
  const Matrix covariance = law.covariance.to_dense().selfadjointView<Eigen::Lower>();
  const Index outputs = covariance.rows();
  append_safetensors({{"input", array_of({input.size()}, input)},
                      {"mean", array_of({outputs}, law.mean)},
                      {"covariance", array_of({outputs, outputs}, covariance.reshaped())},
                      {"w2_bound", Array{{1}, {result.w2.value}}}},
                     metadata, file_->out);
}

void ProofWriter::finish() { file_->out.commit(); }

}  // namespace mixcert
