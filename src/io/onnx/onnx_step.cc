// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Every question that a node asks of the file is answered with a check.
#include "io/onnx/onnx_step.h"

#include <algorithm>
#include <utility>

#include "io/files/file_error.h"
#include "io/formats/elements.h"

namespace mixcert::io {

void OnnxStep::fail(const std::string& expected, const std::string& got) const {
  bad_file(walk_.model.label, title(node_), expected, got);
}

void OnnxStep::expect(bool condition, const std::string& expected, const std::string& got) const {
  if (!condition) fail(expected, got);
}

bool OnnxStep::has(std::size_t input) const {
  return input < node_.inputs.size() && !node_.inputs[input].empty();
}

const OnnxValue& OnnxStep::value(std::size_t input) const {
  expect(has(input), "an input " + std::to_string(input), "none");
  const auto found = walk_.values.find(node_.inputs[input]);
  // A second output, which no operator here has a value for.
  expect(found != walk_.values.end(), "first outputs of nodes", in_quotes(node_.inputs[input]));
  return found->second;
}

bool OnnxStep::is_flow(std::size_t input) const {
  return has(input) && std::holds_alternative<OnnxFlow>(value(input));
}

const OnnxFlow& OnnxStep::flow(std::size_t input) const {
  const auto* found = std::get_if<OnnxFlow>(&value(input));
  expect(found != nullptr, "an input that depends on the network's",
         "the constant " + in_quotes(node_.inputs[input]));
  return *found;
}

const OnnxConstant& OnnxStep::passed_constant(std::size_t input) const {
  const auto* found = std::get_if<OnnxConstantPointer>(&value(input));
  expect(found != nullptr, "a constant",
         in_quotes(node_.inputs[input]) + ", which depends on the network's input");
  return **found;
}

const OnnxConstant& OnnxStep::constant(std::size_t input) const {
  const OnnxConstant& found = passed_constant(input);
  expect(found.variances.empty(), "deviations of weights and biases of dense layers and convolutions",
         "deviations of " + in_quotes(found.origin));
  return found;
}

const OnnxConstant& OnnxStep::random_constant(std::size_t input) const {
  const OnnxConstant& found = passed_constant(input);
  if (!found.variances.empty()) {
    const bool first = walk_.random_in_use.insert(found.origin).second;
    expect(first, "random weights that act once", "a second use of " + in_quotes(found.origin));
  }
  return found;
}

const std::vector<double>& OnnxStep::numbers(const OnnxConstant& constant) const {
  expect(!constant.tensor.is_integer, "floating-point numbers", "integers");
  require_finite(constant.tensor.values, constant.tensor.shape, walk_.model.label, title(node_));
  return constant.tensor.values;
}

const std::vector<std::int64_t>& OnnxStep::whole_numbers(std::size_t input) const {
  const OnnxConstant& found = constant(input);
  expect(found.tensor.is_integer && found.tensor.shape.size() <= 1, "integers along one axis",
         "another tensor " + in_quotes(node_.inputs[input]));
  return found.tensor.integers;
}

template <class T>
const T* OnnxStep::attribute(const std::string& name, const char* kind) const {
  const auto found = node_.attributes.find(name);
  if (found == node_.attributes.end()) return nullptr;
  const T* value = std::get_if<T>(&found->second);
  expect(value != nullptr, "attribute " + name + " as " + kind, "another type");
  return value;
}

std::int64_t OnnxStep::integer(const std::string& name, std::int64_t fallback) const {
  const auto* value = attribute<std::int64_t>(name, "an integer");
  return value == nullptr ? fallback : *value;
}

double OnnxStep::number(const std::string& name, double fallback) const {
  const auto* value = attribute<double>(name, "a number");
  return value == nullptr ? fallback : *value;
}

std::string OnnxStep::text(const std::string& name, const std::string& fallback) const {
  const auto* value = attribute<std::string>(name, "a text");
  return value == nullptr ? fallback : *value;
}

std::vector<std::int64_t> OnnxStep::integers(const std::string& name,
                                             const std::vector<std::int64_t>& fallback) const {
  const auto* value = attribute<std::vector<std::int64_t>>(name, "integers");
  return value == nullptr ? fallback : *value;
}

std::vector<std::int64_t> OnnxStep::axes(std::size_t input) const {
  return has(input) ? whole_numbers(input) : integers("axes", {});
}

Index OnnxStep::axis(std::int64_t given, Index rank) const {
  expect(given >= -rank && given < rank, "an axis of " + std::to_string(rank), std::to_string(given));
  return given < 0 ? given + rank : given;
}

OnnxFlow OnnxStep::put(LayerSpec spec, const OnnxFlow& before, std::vector<Index> sizes,
                       const LayerShape& layout) const {
  return {network().add(std::move(spec), {before.entry}, entry_name()), std::move(sizes), layout};
}

OnnxFlow OnnxStep::put_elementwise(LayerSpec spec, const OnnxFlow& before) const {
  return put(std::move(spec), before, before.sizes, before.layout);
}

std::string OnnxStep::layer_name(const OnnxConstant& weights) const {
  constexpr std::string_view kEnding = ".weight";
  const std::string& origin = weights.origin;
  if (origin.size() > kEnding.size() && origin.ends_with(kEnding))
    return network().unique_name(origin.substr(0, origin.size() - kEnding.size()));
  return network().unique_name(node_.name.empty() && !origin.empty() ? origin : entry_name());
}

void OnnxStep::charge(Index count) const { network().charge(title(node_), count); }

bool OnnxStep::is_end_of_layer(std::size_t input) const {
  const OnnxNode* producer = walk_.graph.producer(node_.inputs[input]);
  if (producer == nullptr || walk_.graph.uses(node_.inputs[input]) != 1) return false;
  return producer->type == "MatMul" || producer->type == "Gemm" || producer->type == "Conv";
}

bool OnnxStep::is_last() const {
  const std::vector<std::string>& outputs = walk_.model.outputs;
  return !node_.outputs.empty() && walk_.graph.uses(node_.outputs.front()) == 1 &&
         std::find(outputs.begin(), outputs.end(), node_.outputs.front()) != outputs.end();
}

}  // namespace mixcert::io
