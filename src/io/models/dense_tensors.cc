// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The tensors of one dense layer, read and written; those of its weights by the record of their family
// (law_tensors.h). Shapes are checked before anything is read; signs of variances and positive
// semidefiniteness by DenseLayer.
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

#include "core/overloaded.h"
#include "io/models/law_tensors.h"
#include "io/models/layer_tensors.h"

namespace mixcert::io {
namespace {

class LayerReader {
 public:
  LayerReader(const SafetensorsReader& reader, const DenseEntry& entry)
      : entry_(entry), tensors_(reader, entry) {}

  DenseLayer read() const {
    Matrix weight_mean = tensors_.matrix(".weight.mean", entry_.outputs, entry_.inputs);
    Vector bias_mean =
        tensors_.has(".bias.mean") ? tensors_.vector(".bias.mean") : Vector::Zero(entry_.outputs);
    WeightCovariance weights = read_weights();
    BiasCovariance bias = read_bias();
    apply_law(weights, bias);
    apply_factor(weights);
    return {entry_.name, std::move(weight_mean), std::move(bias_mean), std::move(weights), std::move(bias)};
  }

 private:
  WeightCovariance read_weights() const {
    const std::string set = present();
    auto weights = read_family(set, tensors_, std::type_identity<WeightCovariance>());
    if (!weights) {
      tensors_.fail("the tensors of one weight family (docs/model-format.md)", "together:" + set);
    }
    return *std::move(weights);
  }

  BiasCovariance read_bias() const {
    const bool independent = tensors_.has(".bias.variance");
    const bool correlated = tensors_.has(".bias.covariance");
    const bool joint = tensors_.has(".covariance");
    if ((independent && correlated) || (joint && (independent || correlated))) {
      tensors_.fail("one of bias.variance, bias.covariance and covariance", "several");
    }
    const bool factor = tensors_.has(".bias.factor");
    if ((independent || correlated || joint || factor) && !tensors_.has(".bias.mean")) {
      tensors_.fail("bias.mean beside the law of the bias", "none");
    }
    if (correlated)
      return CorrelatedBias{tensors_.matrix(".bias.covariance", entry_.outputs, entry_.outputs)};
    if (!independent) return DeterministicBias{};
    return IndependentBias{tensors_.vector(".bias.variance")};
  }

  /// The shape of independent weights and biases, the only families that have one; others are refused.
  void apply_law(WeightCovariance& weights, BiasCovariance& bias) const {
    if (!entry_.law) return;
    auto* independent = std::get_if<MeanFieldWeights>(&weights);
    auto* independent_bias = std::get_if<IndependentBias>(&bias);
    if (independent == nullptr && independent_bias == nullptr) {
      tensors_.fail("weight.variance or bias.variance for the law " + entry_.law->name(), "neither");
    }
    if (independent == nullptr && !is_deterministic(weights)) {
      tensors_.fail("mean-field weights for the law " + entry_.law->name(),
                    std::string(family_name(weights)));
    }
    if (independent != nullptr) independent->law = *entry_.law;
    if (independent_bias != nullptr) independent_bias->law = *entry_.law;
  }

  /// A factor that the bias or other layers share needs one of the weights.
  void apply_factor(WeightCovariance& weights) const {
    auto* low_rank = std::get_if<LowRankWeights>(&weights);
    if (low_rank != nullptr) low_rank->is_common = entry_.has_common_factor;
    if (low_rank != nullptr || !(entry_.has_common_factor || tensors_.has(".bias.factor"))) return;
    tensors_.fail("weight.variance and weight.factor beside a factor of the bias or in common",
                  std::string(family_name(weights)) + " weights");
  }

  /// Names of the tensors that speak of the law of the weights, in the order of
  /// kDenseTensors.
  [[nodiscard]] std::string present() const {
    std::string set;
    for (const std::string_view name : kDenseTensors) {
      if (name == ".weight.mean" || name.starts_with(".bias")) continue;
      if (tensors_.has(name)) set.append(1, ' ').append(name.substr(1));
    }
    return set;
  }

  const DenseEntry& entry_;
  DenseSource tensors_;
};

}  // namespace

std::span<const std::string_view> dense_tensor_endings() { return kDenseTensors; }

DenseLayer read_dense(const SafetensorsReader& reader, const DenseEntry& entry) {
  return LayerReader(reader, entry).read();
}

void add_dense_tensors(const DenseLayer& layer, std::map<std::string, Array>& tensors) {
  const DenseSink to(layer, tensors);
  to.add(".weight.mean", layer.weight_mean());
  to.add_vector(".bias.mean", layer.bias_mean());
  std::visit([&]<class Law>(const Law& law) { LawTensors<Law>::write(law, to); }, layer.weights());
  std::visit(Overloaded{[](const DeterministicBias&) {},
                        [&](const IndependentBias& law) { to.add_vector(".bias.variance", law.variance); },
                        [&](const CorrelatedBias& law) { to.add(".bias.covariance", law.covariance); }},
             layer.bias());
}

}  // namespace mixcert::io
