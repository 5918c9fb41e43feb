// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The nodes of an ONNX model as a graph: who makes a tensor, who needs it, and in which order the nodes act.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "io/onnx/onnx_model.h"

namespace mixcert::io {

class OnnxGraph {
 public:
  /// Throws FileError where a tensor is made twice. The model must outlive the graph.
  explicit OnnxGraph(const OnnxModel& model);

  /// Null where the tensor is an input, an initialiser or unknown.
  [[nodiscard]] const OnnxNode* producer(const std::string& tensor) const;
  /// How often needed nodes take the tensor, and the model gives it away.
  [[nodiscard]] Index uses(const std::string& tensor) const;

  /// The nodes that the outputs need, each behind those it needs itself, otherwise as the file lists them.
  /// Throws FileError where a tensor is missing or nodes need each other.
  [[nodiscard]] const std::vector<const OnnxNode*>& order() const { return order_; }

 private:
  void find_producers();
  /// Which nodes the outputs need.
  [[nodiscard]] std::vector<bool> needed() const;
  void sort(const std::vector<bool>& needed);
  void require_known(const std::string& tensor, const std::string& who) const;

  const OnnxModel& model_;
  std::set<std::string> inputs_;
  std::map<std::string, std::size_t> producers_;  ///< index of the node
  std::map<std::string, Index> uses_;
  std::vector<const OnnxNode*> order_;
};

}  // namespace mixcert::io
