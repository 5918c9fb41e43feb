// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// From the bytes of an ONNX file to plain structs. The bytes are parsed by protobuf with its own limits (2
// GiB, 100 messages inside each other); what it hands over is counted and checked before it is copied.
// Operators of other domains, functions, graphs in attributes and sparse tensors are refused.
#include "io/onnx/onnx_model.h"

#include <google/protobuf/io/coded_stream.h>

#include <algorithm>
#include <limits>
#include <new>

#include "io/files/file_error.h"
#include "io/onnx/protobuf/onnx_messages.h"
#include "io/onnx/protobuf/onnx_tensor.h"
#include "mixcert/core/error.h"

namespace mixcert::io {
namespace {

constexpr int kMaxNodes = 65536;
constexpr int kMaxOnnxNames = 1024;         // of one node, each way
constexpr std::size_t kMaxOnnxName = 1024;  // bytes
constexpr int kMaxOnnxList = 1 << 16;       // numbers of one attribute

class OnnxReader {
 public:
  OnnxReader(const onnx::ModelProto& proto, const std::string& label, const ReadLimits& limits)
      : proto_(proto), graph_(proto.graph()), allowance_(label, limits.max_bytes) {
    model_.label = label;
  }

  OnnxModel read() {
    if (!proto_.has_graph()) bad("model", "a graph", "none");
    refuse("functions of its own", proto_.functions_size());
    refuse("sparse initialisers", graph_.sparse_initializer_size());
    refuse("quantised tensors", graph_.quantization_annotation_size());
    model_.opset = opset();
    at_most("initialisers", graph_.initializer_size(), kMaxNodes);
    at_most("nodes", graph_.node_size(), kMaxNodes);
    for (const onnx::TensorProto& tensor : graph_.initializer()) add_initialiser(tensor);
    for (const onnx::NodeProto& node : graph_.node()) model_.nodes.push_back(read_node(node));
    at_most("inputs", graph_.input_size(), kMaxNodes);
    at_most("outputs", graph_.output_size(), kMaxOnnxNames);
    for (const onnx::ValueInfoProto& input : graph_.input()) {
      // Files before version 4 list initialisers among the inputs, with values that a caller may replace.
      if (!model_.initialisers.contains(input.name())) model_.inputs.push_back(read_input(input));
    }
    for (const onnx::ValueInfoProto& output : graph_.output())
      model_.outputs.push_back(checked_name(output.name(), "output"));
    return std::move(model_);
  }

 private:
  [[noreturn]] void bad(const std::string& field, const std::string& expected, const std::string& got) const {
    bad_file(model_.label, field, expected, got);
  }
  void refuse(const std::string& what, int count) const {
    if (count > 0) bad("model", "no " + what, std::to_string(count));
  }
  void at_most(const std::string& what, int count, int most) const {
    if (count > most) bad("model", "at most " + std::to_string(most) + " " + what, std::to_string(count));
  }
  [[nodiscard]] std::string checked_name(const std::string& name, const std::string& field) const {
    if (name.size() > kMaxOnnxName)
      bad(field, "names of at most " + std::to_string(kMaxOnnxName) + " bytes", in_quotes(name));
    return name;
  }
  static bool is_standard(const std::string& domain) { return domain.empty() || domain == "ai.onnx"; }

  [[nodiscard]] Index opset() const {
    std::optional<Index> version;
    for (const onnx::OperatorSetIdProto& set : proto_.opset_import()) {
      if (!is_standard(set.domain())) continue;  // refused where a node uses it
      if (version) bad("opset_import", "one version of the standard operators", "several");
      version = set.version();
    }
    if (!version) bad("opset_import", "a version of the standard operators", "none");
    if (*version < kFirstOpset || *version > kLastOpset) {
      bad("opset_import", "a version in " + std::to_string(kFirstOpset) + ".." + std::to_string(kLastOpset),
          std::to_string(*version));
    }
    return *version;
  }

  void add_initialiser(const onnx::TensorProto& tensor) {
    const std::string name = checked_name(tensor.name(), "initialiser");
    const std::string field = "initialiser " + in_quotes(name);
    if (name.empty()) bad("initialiser", "a name", "none");
    if (model_.initialisers.contains(name)) bad(field, "each name once", "two of it");
    model_.initialisers.emplace(name, read_onnx_tensor(tensor, field, allowance_));
  }

  OnnxNode read_node(const onnx::NodeProto& proto) {
    OnnxNode node;
    node.type = checked_name(proto.op_type(), "node");
    node.name = checked_name(proto.name(), "node");
    const bool word =
        !node.type.empty() && std::all_of(node.type.begin(), node.type.end(), [](unsigned char c) {
          return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
        });
    if (!word) bad("node " + in_quotes(node.name), "the name of an operator", in_quotes(node.type));
    at_most("inputs of a node", proto.input_size(), kMaxOnnxNames);
    at_most("outputs of a node", proto.output_size(), kMaxOnnxNames);
    at_most("attributes of a node", proto.attribute_size(), kMaxOnnxNames);
    for (const std::string& name : proto.input()) node.inputs.push_back(checked_name(name, "node"));
    for (const std::string& name : proto.output()) node.outputs.push_back(checked_name(name, "node"));
    if (!is_standard(proto.domain())) {
      bad(title(node), "an operator of the standard domain", "one of " + in_quotes(proto.domain()));
    }
    for (const onnx::AttributeProto& attribute : proto.attribute()) {
      const std::string field = title(node) + ": attribute " + in_quotes(attribute.name());
      const bool added = node.attributes.emplace(attribute.name(), read_attribute(attribute, field)).second;
      if (!added) bad(field, "each attribute once", "two of it");
    }
    return node;
  }

  OnnxAttribute read_attribute(const onnx::AttributeProto& attribute, const std::string& field) {
    if (!attribute.ref_attr_name().empty()) bad(field, "a value", "the name of another attribute");
    switch (attribute.type()) {
      case onnx::AttributeProto::FLOAT:
        return static_cast<double>(attribute.f());
      case onnx::AttributeProto::INT:
        return std::int64_t{attribute.i()};
      case onnx::AttributeProto::STRING:
        return checked_name(attribute.s(), field);
      case onnx::AttributeProto::TENSOR:
        return read_onnx_tensor(attribute.t(), field, allowance_);
      case onnx::AttributeProto::FLOATS:
        at_most("numbers of an attribute", attribute.floats_size(), kMaxOnnxList);
        return std::vector<double>(attribute.floats().begin(), attribute.floats().end());
      case onnx::AttributeProto::INTS:
        at_most("numbers of an attribute", attribute.ints_size(), kMaxOnnxList);
        return std::vector<std::int64_t>(attribute.ints().begin(), attribute.ints().end());
      default:
        bad(field, "numbers, a text or a tensor", "type " + std::to_string(attribute.type()));
    }
  }

  [[nodiscard]] OnnxInput read_input(const onnx::ValueInfoProto& proto) const {
    OnnxInput input{checked_name(proto.name(), "input"), {}};
    const std::string field = "input " + in_quotes(input.name);
    if (!proto.type().has_tensor_type() || !proto.type().tensor_type().has_shape())
      bad(field, "a tensor whose shape the file tells", "another");
    const onnx::TypeProto::Tensor& tensor = proto.type().tensor_type();
    if (tensor.elem_type() != onnx::TensorProto::FLOAT && tensor.elem_type() != onnx::TensorProto::DOUBLE)
      bad(field, "numbers of type float or double", "type " + std::to_string(tensor.elem_type()));
    at_most("axes of an input", tensor.shape().dim_size(), static_cast<int>(kMaxOnnxRank));
    for (const onnx::TensorShapeProto::Dimension& size : tensor.shape().dim()) {
      if (size.has_dim_value() && size.dim_value() > 0) {
        input.sizes.emplace_back(size.dim_value());
      } else {
        input.sizes.emplace_back(std::nullopt);
      }
    }
    return input;
  }

  const onnx::ModelProto& proto_;
  const onnx::GraphProto& graph_;
  OnnxAllowance allowance_;
  OnnxModel model_;
};

}  // namespace

bool has_onnx_library() { return true; }

OnnxModel read_onnx_model(std::span<const std::byte> bytes, const std::string& label,
                          const ReadLimits& limits) {
  const std::uint64_t most =
      std::min<std::uint64_t>(limits.max_bytes, std::numeric_limits<std::int32_t>::max());
  check_memory(label, "the model", static_cast<double>(bytes.size()), most);
  try {
    onnx::ModelProto proto;
    google::protobuf::io::CodedInputStream stream(reinterpret_cast<const std::uint8_t*>(bytes.data()),
                                                  static_cast<int>(bytes.size()));
    const bool whole = proto.ParseFromCodedStream(&stream) && stream.ConsumedEntireMessage();
    if (!whole) bad_file(label, "file", "an ONNX model", "other bytes, or a part of one");
    return OnnxReader(proto, label, limits).read();
  } catch (const std::bad_alloc&) {
    throw ResourceError(label + ": not enough memory for the model");
  }
}

}  // namespace mixcert::io
