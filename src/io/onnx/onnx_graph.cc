// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Nodes are reached backwards from the outputs, then taken as soon as all they need is there, the first of
// the file first. What remains needs itself.
#include "io/onnx/onnx_graph.h"

#include <functional>
#include <queue>

#include "io/files/file_error.h"

namespace mixcert::io {

std::string title(const OnnxNode& node) {
  const std::string& name = node.name.empty() && !node.outputs.empty() ? node.outputs.front() : node.name;
  return "node " + in_quotes(name) + " (" + node.type + ")";
}

OnnxGraph::OnnxGraph(const OnnxModel& model) : model_(model) {
  for (const OnnxInput& input : model.inputs) inputs_.insert(input.name);
  find_producers();
  sort(needed());
}

const OnnxNode* OnnxGraph::producer(const std::string& tensor) const {
  const auto found = producers_.find(tensor);
  return found == producers_.end() ? nullptr : &model_.nodes[found->second];
}

Index OnnxGraph::uses(const std::string& tensor) const {
  const auto found = uses_.find(tensor);
  return found == uses_.end() ? 0 : found->second;
}

void OnnxGraph::find_producers() {
  for (std::size_t k = 0; k < model_.nodes.size(); ++k) {
    for (const std::string& output : model_.nodes[k].outputs) {
      if (output.empty()) continue;
      if (inputs_.contains(output) || model_.initialisers.contains(output) ||
          !producers_.emplace(output, k).second) {
        bad_file(model_.label, title(model_.nodes[k]), "each tensor made once",
                 "two of " + in_quotes(output));
      }
    }
  }
}

void OnnxGraph::require_known(const std::string& tensor, const std::string& who) const {
  const bool known =
      producers_.contains(tensor) || model_.initialisers.contains(tensor) || inputs_.contains(tensor);
  if (!known)
    bad_file(model_.label, who, "tensors that the model has", in_quotes(tensor) + ", which nothing makes");
}

std::vector<bool> OnnxGraph::needed() const {
  std::vector<bool> is_needed(model_.nodes.size(), false);
  std::vector<std::size_t> open;
  const auto reach = [&](const std::string& tensor, const std::string& who) {
    if (tensor.empty()) return;
    require_known(tensor, who);
    const auto found = producers_.find(tensor);
    if (found == producers_.end() || is_needed[found->second]) return;
    is_needed[found->second] = true;
    open.push_back(found->second);
  };
  for (const std::string& output : model_.outputs) reach(output, "output " + in_quotes(output));
  while (!open.empty()) {
    const OnnxNode& node = model_.nodes[open.back()];
    open.pop_back();
    for (const std::string& input : node.inputs) reach(input, title(node));
  }
  return is_needed;
}

void OnnxGraph::sort(const std::vector<bool>& needed) {
  std::vector<std::size_t> missing(model_.nodes.size(), 0);
  std::vector<std::vector<std::size_t>> takers(model_.nodes.size());
  std::priority_queue<std::size_t, std::vector<std::size_t>, std::greater<>> ready;
  for (const std::string& output : model_.outputs) ++uses_[output];
  for (std::size_t k = 0; k < model_.nodes.size(); ++k) {
    if (!needed[k]) continue;
    for (const std::string& input : model_.nodes[k].inputs) {
      ++uses_[input];
      const auto found = producers_.find(input);
      if (found == producers_.end()) continue;
      takers[found->second].push_back(k);
      ++missing[k];
    }
    if (missing[k] == 0) ready.push(k);
  }
  while (!ready.empty()) {
    const std::size_t k = ready.top();
    ready.pop();
    order_.push_back(&model_.nodes[k]);
    for (const std::size_t taker : takers[k])
      if (--missing[taker] == 0) ready.push(taker);
  }
  for (std::size_t k = 0; k < model_.nodes.size(); ++k) {
    if (needed[k] && missing[k] > 0)
      bad_file(model_.label, title(model_.nodes[k]), "a graph without cycles",
               "one that needs its own output");
  }
}

}  // namespace mixcert::io
