// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// One node at its turn: its attributes and inputs as operators ask for them, checked, and where its layers
// go.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "io/onnx/onnx_graph.h"
#include "io/onnx/onnx_network.h"
#include "io/onnx/onnx_values.h"

namespace mixcert::io {

/// What all nodes share.
struct OnnxWalk {
  const OnnxModel& model;
  const OnnxGraph& graph;
  OnnxNetwork& network;
  /// Size of the first axis of every tensor that flows: what the file says, one where it leaves it open. The
  /// network is what the model does to one row of such a batch.
  Index batch = 1;
  std::map<std::string, OnnxValue> values = {};
  std::set<std::string> random_in_use = {};  ///< initialisers with deviations that a layer has
  std::vector<std::string> assumptions = {};
};

class OnnxStep {
 public:
  OnnxStep(OnnxWalk& walk, const OnnxNode& node) : walk_(walk), node_(node) {}

  [[nodiscard]] const OnnxNode& node() const { return node_; }
  [[nodiscard]] OnnxNetwork& network() const { return walk_.network; }
  [[nodiscard]] Index opset() const { return walk_.model.opset; }
  [[nodiscard]] Index batch() const { return walk_.batch; }
  /// Throws FileError "FILE: node 'x' (Type): expected, got".
  [[noreturn]] void fail(const std::string& expected, const std::string& got) const;
  /// The same unless `condition` holds.
  void expect(bool condition, const std::string& expected, const std::string& got) const;

  // Inputs.
  [[nodiscard]] bool has(std::size_t input) const;
  [[nodiscard]] bool is_flow(std::size_t input) const;
  [[nodiscard]] const OnnxFlow& flow(std::size_t input) const;
  /// A constant without deviations.
  [[nodiscard]] const OnnxConstant& constant(std::size_t input) const;
  /// A constant that may have deviations. Those are taken by one layer only: weights that act in two would
  /// make them dependent.
  [[nodiscard]] const OnnxConstant& random_constant(std::size_t input) const;
  /// The same, for nodes that make a constant of it, which a layer takes later.
  [[nodiscard]] const OnnxConstant& passed_constant(std::size_t input) const;
  /// Finite floating-point values of a constant.
  [[nodiscard]] const std::vector<double>& numbers(const OnnxConstant& constant) const;
  /// A constant of integers.
  [[nodiscard]] const std::vector<std::int64_t>& whole_numbers(std::size_t input) const;

  // Attributes; the fallback where the node has none.
  [[nodiscard]] bool has(const std::string& attribute) const { return node_.attributes.contains(attribute); }
  [[nodiscard]] std::int64_t integer(const std::string& name, std::int64_t fallback) const;
  [[nodiscard]] double number(const std::string& name, double fallback) const;
  [[nodiscard]] std::string text(const std::string& name, const std::string& fallback) const;
  [[nodiscard]] std::vector<std::int64_t> integers(const std::string& name,
                                                   const std::vector<std::int64_t>& fallback) const;
  /// Integers that were an attribute before an opset and are an input since; empty where the node has
  /// neither.
  [[nodiscard]] std::vector<std::int64_t> axes(std::size_t input) const;
  /// An axis of a tensor of this rank; negative ones count from the end.
  [[nodiscard]] Index axis(std::int64_t given, Index rank) const;

  // Results.
  /// An entry that sees `before`, is called after the node, and gives sizes and layout.
  OnnxFlow put(LayerSpec spec, const OnnxFlow& before, std::vector<Index> sizes,
               const LayerShape& layout) const;
  /// The same with the sizes and the layout of what it sees.
  OnnxFlow put_elementwise(LayerSpec spec, const OnnxFlow& before) const;
  /// A name for tensors: that of the weights without ".weight", or that of the node.
  [[nodiscard]] std::string layer_name(const OnnxConstant& weights) const;
  [[nodiscard]] std::string entry_name() const { return node_.name.empty() ? node_.type : node_.name; }
  /// Before `count` numbers are allocated; ResourceError where they are too many.
  void charge(Index count) const;
  void assume(const std::string& assumption) const { walk_.assumptions.push_back(assumption); }
  /// Is an input made by a layer with weights, and needed by this node alone?
  [[nodiscard]] bool is_end_of_layer(std::size_t input) const;
  /// Is the result an output of the model, and nothing else?
  [[nodiscard]] bool is_last() const;

 private:
  [[nodiscard]] const OnnxValue& value(std::size_t input) const;
  template <class T>
  const T* attribute(const std::string& name, const char* kind) const;

  OnnxWalk& walk_;
  const OnnxNode& node_;
};

/// A constant of a node that needs no input, or whose inputs are all constants; also the shape of what flows.
/// Nothing where the node has to become a layer.
std::optional<OnnxValue> fold_onnx_constant(const OnnxStep& step);

/// What a node makes of what flows through it. Throws FileError naming the node where the operator is not
/// known.
OnnxValue convert_onnx_node(const OnnxStep& step);

}  // namespace mixcert::io
