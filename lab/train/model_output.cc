// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Files of trained networks.
#include "train/model_output.h"

#include <nlohmann/json.hpp>

#include "io/formats/safetensors.h"
#include "mixcert/core/error.h"
#include "train/learner.h"

namespace mixcert::lab {
namespace {

using nlohmann::ordered_json;

Array array_of(std::vector<Index> shape, const float* values) {
  Index size = 1;
  for (const Index length : shape) size *= length;
  return {std::move(shape), std::vector<double>(values, values + size)};
}

std::vector<Index> kernel_shape(const Convolution& shape) {
  return {shape.out, shape.in, shape.kernel, shape.kernel};
}

ordered_json activation_entry(const Activation& activation) {
  ordered_json entry{{"type", "activation"}, {"function", std::string(to_string(activation.function()))}};
  for (const auto& [name, member] : parameters_of(activation.function())) {
    entry[name] = activation.parameters().*member;
  }
  return entry;
}

void append_backbone(ordered_json& architecture, const ConvNet& conv) {
  const double rate = conv.dropout().rate;
  const char* const dropout = conv.dropout().unit == DropoutUnit::Channel ? "dropout2d" : "dropout";
  for (const Convolution& shape : conv.convolutions()) {
    architecture.push_back({{"type", "conv2d"},
                            {"name", shape.name},
                            {"in", shape.in},
                            {"out", shape.out},
                            {"height", shape.height},
                            {"width", shape.width},
                            {"kernel", shape.kernel},
                            {"stride", 1},
                            {"padding", shape.padding}});
    architecture.push_back(activation_entry(Activation(ActivationFunction::Relu)));
    if (!shape.is_pooled()) continue;
    const char* const pool = shape.pooling == Pooling::Average ? "avg_pool2d" : "max_pool2d";
    architecture.push_back({{"type", pool}, {"kernel", 2}, {"stride", 2}});
    if (rate > 0.0) architecture.push_back({{"type", dropout}, {"rate", rate}});
  }
  architecture.push_back({{"type", "flatten"}});
}

void append_dense(ordered_json& architecture, const DenseNet& net) {
  for (Index k = 0; k < net.layer_count(); ++k) {
    if (k > 0) architecture.push_back(activation_entry(net.activation()));
    const double rate = net.dropout_rate(k);
    if (rate > 0.0) architecture.push_back({{"type", "dropout"}, {"rate", rate}});
    architecture.push_back({{"type", "dense"},
                            {"name", std::to_string(k)},
                            {"in", net.layer_inputs(k)},
                            {"out", net.layer_outputs(k)}});
  }
}

/// `ending`: ".mean", ".variance", or nothing where the convolutions are not random.
void add_backbone_tensors(State& tensors, const ConvNet& conv, const float* values,
                          const std::string& ending) {
  for (const Convolution& shape : conv.convolutions()) {
    tensors[shape.name + ".weight" + ending] = array_of(kernel_shape(shape), values + shape.offset);
    tensors[shape.name + ".bias" + ending] = array_of({shape.out}, values + shape.bias_offset());
  }
}

void add_backbone_law(State& tensors, const ConvNet& conv, const ParameterLaw& law) {
  const bool random = law.variance.size() > 0;
  add_backbone_tensors(tensors, conv, law.mean.data(), random ? ".mean" : "");
  if (random) add_backbone_tensors(tensors, conv, law.variance.data(), ".variance");
}

void add_dense_tensors(State& tensors, const DenseNet& net, const FloatVector& values,
                       const std::string& what) {
  for (Index k = 0; k < net.layer_count(); ++k) {
    const auto weight = net.weight(values.data(), k);
    tensors[std::to_string(k).append(".weight.").append(what)] =
        array_of({weight.rows(), weight.cols()}, weight.data());
    tensors[std::to_string(k).append(".bias.").append(what)] =
        array_of({weight.rows()}, net.bias(values.data(), k).data());
  }
}

void append_dense_law(const DenseNet& net, const ParameterLaw& law, ordered_json& architecture,
                      State& tensors) {
  append_dense(architecture, net);
  add_dense_tensors(tensors, net, law.mean, "mean");
  if (law.variance.size() > 0) add_dense_tensors(tensors, net, law.variance, "variance");
}

Metadata with_architecture(Metadata metadata, const ordered_json& architecture) {
  metadata["format"] = "mixcert-network";
  metadata["architecture"] = architecture.dump();
  return metadata;
}

}  // namespace

void write_dense_network(const std::filesystem::path& path, const DenseNet& net, const ParameterLaw& law,
                         const Metadata& metadata) {
  State tensors;
  ordered_json architecture = ordered_json::array();
  append_dense_law(net, law, architecture, tensors);
  write_safetensors(path, tensors, with_architecture(metadata, architecture));
}

void write_backbone(const std::filesystem::path& path, const ConvNet& conv, const float* parameters,
                    const Metadata& metadata) {
  State tensors;
  add_backbone_tensors(tensors, conv, parameters, "");
  ordered_json architecture = ordered_json::array();
  append_backbone(architecture, conv);
  write_safetensors(path, tensors, with_architecture(metadata, architecture));
}

FloatVector read_backbone(const std::filesystem::path& path, const ConvNet& conv) {
  const SafetensorsReader reader(path);
  FloatVector parameters(conv.parameter_count());
  for (const Convolution& shape : conv.convolutions()) {
    const Array weight = reader.read(shape.name + ".weight");
    const Array bias = reader.read(shape.name + ".bias");
    if (weight.shape != kernel_shape(shape) || bias.shape != std::vector<Index>{shape.out}) {
      throw FileError(path.string() + ": convolution '" + shape.name + "': expected weight [" +
                      std::to_string(shape.out) + ", " + std::to_string(shape.in) + ", " +
                      std::to_string(shape.kernel) + ", " + std::to_string(shape.kernel) +
                      "] and a bias of " + std::to_string(shape.out) + ", got other shapes");
    }
    parameters.segment(shape.offset, weight.size()) =
        Eigen::Map<const Vector>(weight.values.data(), weight.size()).cast<float>();
    parameters.segment(shape.bias_offset(), bias.size()) =
        Eigen::Map<const Vector>(bias.values.data(), bias.size()).cast<float>();
  }
  return parameters;
}

void write_full_network(const std::filesystem::path& path, const StackNet& net, const ParameterLaw& kernels,
                        const ParameterLaw& dense, const Metadata& metadata) {
  State tensors;
  ordered_json architecture = ordered_json::array();
  add_backbone_law(tensors, *net.conv, kernels);
  append_backbone(architecture, *net.conv);
  append_dense_law(net.dense, dense, architecture, tensors);
  write_safetensors(path, tensors, with_architecture(metadata, architecture));
}

std::filesystem::path sibling(const std::filesystem::path& out, const std::string& ending) {
  std::filesystem::path path = out;
  if (path.extension() == ".safetensors") path.replace_extension();
  return path += "." + ending;
}

}  // namespace mixcert::lab
