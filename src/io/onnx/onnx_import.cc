// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The walk through the nodes in their order. A node without inputs that flow is folded, any other becomes an
// entry of the list. Several outputs become one vector.
#include "io/onnx/onnx_import.h"

#include <algorithm>
#include <new>
#include <utility>

#include "io/files/byte_source.h"
#include "io/files/file_error.h"
#include "io/formats/elements.h"
#include "io/onnx/onnx_patterns.h"
#include "io/onnx/onnx_refusals.h"
#include "io/onnx/onnx_step.h"
#include "mixcert/core/error.h"

namespace mixcert::io {
namespace {

/// A batch that the file fixes.
constexpr Index kMaxBatch = 65536;
constexpr std::string_view kVariance = ".variance";

class OnnxImporter {
 public:
  OnnxImporter(OnnxModel& model, const NamedArrays& deviations, const ReadLimits& limits)
      : model_(model), deviations_(deviations), graph_(model), network_(model.label, limits) {
    add_input();
    add_initialisers();
  }

  ImportedModel run() {
    require_certifiable(model_, graph_);
    for (const OnnxNode* node : graph_.order()) walk(*node);
    require_all_deviations_used();
    ImportedModel result;
    const OnnxFlow output = join_outputs();
    result.layers = std::move(network_).finish(output);
    result.assumptions = std::move(walk_.assumptions);
    tell_input_size(result.layers);
    (void)layer_shapes(result.layers);
    return result;
  }

 private:
  /// Where no layer tells how many values the network sees, a reshape does.
  void tell_input_size(std::vector<LayerSpec>& layers) const {
    try {
      (void)input_shape(layers);
    } catch (const InvalidArgument&) {
      const Index size = std::get<OnnxFlow>(walk_.values.at(model_.inputs.front().name)).layout.size();
      if (layers.front().inputs.empty()) layers.insert(layers.begin(), ReshapeSpec{{size, {}, false}});
    }
  }

  void add_input() {
    if (model_.inputs.size() != 1)
      bad_file(model_.label, "model", "one input", std::to_string(model_.inputs.size()));
    const OnnxInput& input = model_.inputs.front();
    const std::string field = "input " + in_quotes(input.name);
    if (input.sizes.size() < 2)
      bad_file(model_.label, field, "a batch and features", std::to_string(input.sizes.size()) + " axes");
    walk_.batch = input.sizes.front().value_or(1);
    if (walk_.batch > kMaxBatch)
      bad_file(model_.label, field, "a batch of at most " + std::to_string(kMaxBatch),
               std::to_string(walk_.batch));
    OnnxFlow flow;
    for (std::size_t k = 1; k < input.sizes.size(); ++k) {
      if (!input.sizes[k])
        bad_file(model_.label, field, "fixed sizes behind the batch",
                 "an open size of axis " + std::to_string(k));
      flow.sizes.push_back(*input.sizes[k]);
    }
    flow.layout = {onnx_count(flow.sizes), {}, false};
    walk_.values.emplace(input.name, flow);
  }

  void add_initialisers() {
    std::set<std::string> found;
    for (auto& [name, tensor] : model_.initialisers) {
      OnnxConstant constant{{}, variances_of(name, tensor, found), name};
      constant.tensor = std::move(tensor);
      walk_.values.emplace(name, std::make_shared<const OnnxConstant>(std::move(constant)));
    }
    for (const auto& [key, array] : deviations_.entries) {
      if (!found.contains(key))
        bad_file(model_.label, "deviations " + in_quotes(key),
                 "the name of an initialiser (" + initialiser_names() + "), or it with .variance", "another");
    }
  }

  /// The first of them, of floating-point numbers.
  std::string initialiser_names() const {
    constexpr std::size_t kShown = 8;
    std::vector<std::string> names;
    for (const auto& [name, value] : walk_.values) {
      const auto* constant = std::get_if<OnnxConstantPointer>(&value);
      if (constant != nullptr && !(*constant)->tensor.is_integer) names.push_back(name);
    }
    std::string list;
    for (std::size_t k = 0; k < std::min(names.size(), kShown); ++k)
      list += (list.empty() ? "" : ", ") + in_quotes(names[k]);
    return names.size() > kShown ? list + ", .." : list.empty() ? "there is none" : list;
  }

  /// Of an initialiser, from its standard deviations or as they are given.
  std::vector<double> variances_of(const std::string& name, const OnnxTensor& tensor,
                                   std::set<std::string>& found) {
    const Array* given = deviations_.find(name);
    const std::string variance_key = name + std::string(kVariance);
    // An initialiser may have this name itself.
    const Array* variances =
        model_.initialisers.contains(variance_key) ? nullptr : deviations_.find(variance_key);
    if (given == nullptr && variances == nullptr) return {};
    const std::string key = given != nullptr ? name : variance_key;
    const std::string field = "deviations " + in_quotes(key);
    if (given != nullptr && variances != nullptr)
      bad_file(model_.label, field, "deviations or variances", "both");
    found.insert(key);
    const Array& array = given != nullptr ? *given : *variances;
    if (tensor.is_integer || array.shape != tensor.shape || array.size() != tensor.size())
      bad_file(model_.label, field, "numbers of shape " + shape_text(tensor.shape), shape_text(array.shape));
    require_finite(array.values, array.shape, model_.label, field);
    network_.charge(field, array.size());
    std::vector<double> result = array.values;
    for (double& value : result) {
      if (value < 0.0) bad_file(model_.label, field, "numbers of at least 0", std::to_string(value));
      if (given != nullptr) value *= value;
    }
    random_.insert(name);
    return result;
  }

  void require_all_deviations_used() const {
    for (const std::string& name : random_) {
      if (!walk_.random_in_use.contains(name))
        bad_file(model_.label, "deviations " + in_quotes(name), "weights or biases that a layer has",
                 "an initialiser that none has");
    }
  }

  void walk(const OnnxNode& node) {
    const OnnxStep step(walk_, node);
    step.expect(!node.outputs.empty() && !node.outputs.front().empty(), "an output", "none");
    try {
      std::optional<OnnxValue> constant = fold_onnx_constant(step);
      walk_.values.insert_or_assign(node.outputs.front(),
                                    constant ? std::move(*constant) : convert_onnx_node(step));
    } catch (const InvalidArgument& error) {
      throw FileError(model_.label + ": " + title(node) + ": " + error.what());
    }
  }

  const OnnxFlow& output(const std::string& name) const {
    const auto found = walk_.values.find(name);
    const OnnxFlow* flow = found == walk_.values.end() ? nullptr : std::get_if<OnnxFlow>(&found->second);
    if (flow == nullptr)
      bad_file(model_.label, "output " + in_quotes(name), "what depends on the input", "a constant");
    return *flow;
  }

  OnnxFlow join_outputs() {
    if (model_.outputs.empty()) bad_file(model_.label, "model", "an output", "none");
    if (model_.outputs.size() == 1) {
      const OnnxFlow& flow = output(model_.outputs.front());
      return flow.sizes.size() <= 1 ? network_.as_vector(flow) : flow;
    }
    std::vector<Index> entries;
    std::string list;
    Index size = 0;
    for (const std::string& name : model_.outputs) {
      const OnnxFlow part = network_.as_vector(output(name));
      entries.push_back(part.entry);
      list += (list.empty() ? "" : ", ") + in_quotes(name);
      size += part.layout.size();
    }
    walk_.assumptions.push_back("outputs " + list + " are one vector, in this order");
    const Index entry = network_.add(ConcatSpec{}, std::move(entries), "outputs");
    return {entry, {size}, {size, {}, false}};
  }

  OnnxModel& model_;
  const NamedArrays& deviations_;
  OnnxGraph graph_;
  OnnxNetwork network_;
  std::set<std::string> random_;
  OnnxWalk walk_{model_, graph_, network_};
};

}  // namespace

ImportedModel onnx_layers(OnnxModel model, const NamedArrays& deviations, const ReadLimits& limits) {
  join_onnx_patterns(model);
  try {
    return OnnxImporter(model, deviations, limits).run();
  } catch (const InvalidArgument& error) {
    throw FileError(model.label + ": " + error.what());
  } catch (const std::bad_alloc&) {
    throw ResourceError(model.label + ": not enough memory for the network");
  }
}

}  // namespace mixcert::io

namespace mixcert {

bool reads_onnx() { return io::has_onnx_library(); }

ImportedModel parse_onnx(std::span<const std::byte> bytes, const std::string& label,
                         const NamedArrays& deviations, const ReadLimits& limits) {
  return io::onnx_layers(io::read_onnx_model(bytes, label, limits), deviations, limits);
}

ImportedModel import_onnx(const std::filesystem::path& path, const NamedArrays& deviations,
                          const ReadLimits& limits) {
  io::FileSource file(path);
  io::check_memory(file.label(), "the model", static_cast<double>(file.size()), limits.max_bytes);
  std::string bytes(reads_onnx() ? file.size() : 0, '\0');
  file.read(0, bytes.data(), bytes.size(), "file");
  return parse_onnx(std::as_bytes(std::span(bytes.data(), bytes.size())), file.label(), deviations, limits);
}

}  // namespace mixcert
