// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Reading the tensors of one dense layer. Shapes are checked here, before anything is
// read; signs of variances and positive semidefiniteness by DenseLayer.
#include <array>
#include <string_view>
#include <utility>
#include <variant>

#include "io/files/file_error.h"
#include "io/models/layer_tensors.h"
#include "io/models/tensor_reader.h"

namespace mixcert::io {
namespace {

constexpr std::array<std::string_view, 12> kTensorNames = {
    ".weight.mean",      ".weight.variance",     ".weight.row_covariance", ".weight.column_covariance",
    ".weight.row_basis", ".weight.column_basis", ".weight.factor",         ".weight.covariance",
    ".covariance",       ".bias.mean",           ".bias.variance",         ".bias.covariance"};

class LayerReader {
 public:
  LayerReader(const SafetensorsReader& reader, const DenseEntry& entry)
      : reader_(reader), entry_(entry), tensors_(reader, entry.name) {}

  DenseLayer read() const {
    Matrix weight_mean = matrix(".weight.mean", entry_.outputs, entry_.inputs);
    Vector bias_mean = has(".bias.mean") ? vector(".bias.mean") : Vector::Zero(entry_.outputs);
    WeightCovariance weights = read_weights();
    BiasCovariance bias = read_bias();
    apply_law(weights, bias);
    return {entry_.name, std::move(weight_mean), std::move(bias_mean), std::move(weights), std::move(bias)};
  }

 private:
  /// The family is the exact set of tensors beside the mean.
  WeightCovariance read_weights() const {
    const Index out = entry_.outputs;
    const Index in = entry_.inputs;
    const std::string set = present();
    if (set.empty()) return DeterministicWeights{};
    if (set == " weight.variance") return MeanFieldWeights{matrix(".weight.variance", out, in)};
    if (set == " weight.row_covariance weight.column_covariance") {
      return KroneckerWeights{matrix(".weight.row_covariance", out, out),
                              matrix(".weight.column_covariance", in, in)};
    }
    if (set == " weight.variance weight.row_basis weight.column_basis") {
      return KroneckerEigenbasisWeights{matrix(".weight.row_basis", out, out),
                                        matrix(".weight.column_basis", in, in),
                                        matrix(".weight.variance", out, in)};
    }
    if (set == " weight.variance weight.factor") {
      return LowRankWeights{matrix(".weight.variance", out, in), factor()};
    }
    if (set == " weight.covariance") {
      return FullWeights{matrix(".weight.covariance", out * in, out * in)};
    }
    if (set == " covariance") {
      return JointWeights{matrix(".covariance", out * (in + 1), out * (in + 1))};
    }
    tensors_.fail("the tensors of one weight family (docs/model-format.md)", "together:" + set);
  }

  BiasCovariance read_bias() const {
    const bool independent = has(".bias.variance");
    const bool correlated = has(".bias.covariance");
    const bool joint = has(".covariance");
    if ((independent && correlated) || (joint && (independent || correlated))) {
      tensors_.fail("one of bias.variance, bias.covariance and covariance", "several");
    }
    if ((independent || correlated || joint) && !has(".bias.mean")) {
      tensors_.fail("bias.mean beside the law of the bias", "none");
    }
    if (correlated) return CorrelatedBias{matrix(".bias.covariance", entry_.outputs, entry_.outputs)};
    if (!independent) return DeterministicBias{};
    return IndependentBias{vector(".bias.variance")};
  }

  /// The shape of independent weights and biases.
  void apply_law(WeightCovariance& weights, BiasCovariance& bias) const {
    if (!entry_.law) return;
    auto* independent = std::get_if<MeanFieldWeights>(&weights);
    auto* independent_bias = std::get_if<IndependentBias>(&bias);
    if (independent == nullptr && independent_bias == nullptr) {
      tensors_.fail("weight.variance or bias.variance for the law " + entry_.law->name(), "neither");
    }
    if (independent == nullptr && !std::holds_alternative<DeterministicWeights>(weights)) {
      tensors_.fail("mean-field weights for the law " + entry_.law->name(),
                    std::string(family_name(weights)));
    }
    if (independent != nullptr) independent->law = *entry_.law;
    if (independent_bias != nullptr) independent_bias->law = *entry_.law;
  }

  /// Names of the tensors that speak of the law of the weights, in the order of
  /// kTensorNames.
  [[nodiscard]] std::string present() const {
    std::string set;
    for (const std::string_view name : kTensorNames) {
      if (name == ".weight.mean" || name.starts_with(".bias")) continue;
      if (has(name)) set.append(1, ' ').append(name.substr(1));
    }
    return set;
  }

  [[nodiscard]] bool has(std::string_view name) const { return tensors_.has(name); }
  [[nodiscard]] Matrix matrix(std::string_view name, Index rows, Index columns) const {
    return tensors_.matrix(name, rows, columns);
  }
  [[nodiscard]] Vector vector(std::string_view name) const { return tensors_.values(name, {entry_.outputs}); }

  /// Columns of [out * in, rank], each reshaped to out x in.
  [[nodiscard]] std::vector<Matrix> factor() const {
    const std::string name = tensors_.full(".weight.factor");
    const std::vector<Index>& shape = reader_.tensors().at(name).shape;
    const Index entries = entry_.outputs * entry_.inputs;
    if (shape.size() != 2 || shape[0] != entries || shape[1] < 1) {
      bad_file(reader_.label(), "tensor " + in_quotes(name),
               "shape [" + std::to_string(entries) + ", rank] with rank >= 1", shape_text(shape));
    }
    const Array array = reader_.read(name);
    std::vector<Matrix> columns(static_cast<std::size_t>(shape[1]), Matrix(entry_.outputs, entry_.inputs));
    for (Index entry = 0; entry < entries; ++entry) {
      for (Index s = 0; s < shape[1]; ++s) {
        columns[static_cast<std::size_t>(s)](entry / entry_.inputs, entry % entry_.inputs) =
            array.values[static_cast<std::size_t>(entry * shape[1] + s)];
      }
    }
    return columns;
  }

  const SafetensorsReader& reader_;
  const DenseEntry& entry_;
  TensorReader tensors_;
};

}  // namespace

std::span<const std::string_view> dense_tensor_endings() { return kTensorNames; }

DenseLayer read_dense(const SafetensorsReader& reader, const DenseEntry& entry) {
  return LayerReader(reader, entry).read();
}

}  // namespace mixcert::io
