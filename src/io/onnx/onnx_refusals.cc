// Licensed under the Apache License, Version 2.0; see LICENSE.
#include "io/onnx/onnx_refusals.h"

#include <map>

#include "io/files/file_error.h"

namespace mixcert::io {
namespace {

constexpr std::string_view kRecurrent =
    "the same weights act at every time step; what can be certified is the network behind it, with its last "
    "state "
    "as the input";
constexpr std::string_view kAttention =
    "it multiplies values with each other; what can be certified is the network behind it, with its output "
    "as the "
    "input";
constexpr std::string_view kSteep =
    "it has no largest slope, so nothing is proven behind it; give the model without it, and take it of the "
    "samples";

/// Whole layers.
const std::map<std::string, std::string_view>& layers_without_certificate() {
  static const std::map<std::string, std::string_view> all = {
      {"Attention", kAttention},
      {"GRU", kRecurrent},
      {"GroupNormalization", kNormsInstead},
      {"InstanceNormalization", kNormsInstead},
      {"LRN", kNormsInstead},
      {"LSTM", kRecurrent},
      {"LayerNormalization", kNormsInstead},
      {"LpNormalization", kNormsInstead},
      {"MeanVarianceNormalization", kNormsInstead},
      {"MultiHeadAttention", kAttention},
      {"RNN", kRecurrent},
  };
  return all;
}

/// Operators that may also stand among constants or in patterns.
const std::map<std::string, std::string_view>& steps_without_certificate() {
  static const std::map<std::string, std::string_view> all = {
      {"Exp", kSteep}, {"Log", kSteep}, {"Pow", kSteep}, {"Reciprocal", kSteep}, {"Sqrt", kSteep},
  };
  return all;
}

}  // namespace

std::string refused_type(const std::string& type) {
  for (const auto* all : {&layers_without_certificate(), &steps_without_certificate()}) {
    const auto found = all->find(type);
    if (found != all->end()) return type + ": " + std::string(found->second);
  }
  return type;
}

void require_certifiable(const OnnxModel& model, const OnnxGraph& graph) {
  for (const OnnxNode* node : graph.order()) {
    if (layers_without_certificate().contains(node->type))
      bad_file(model.label, title(*node), std::string(kCertifiableOperator), refused_type(node->type));
  }
}

}  // namespace mixcert::io
