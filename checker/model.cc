// Licensed under the Apache License, Version 2.0; see LICENSE.
#include "model.h"

#include <openssl/sha.h>

#include <array>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <utility>

namespace mixcert_check {
namespace {

constexpr long kMostNeurons = 1 << 20;
// Matrices of neurons by neurons, of which a check holds some: a layer without tensors could ask for any.
constexpr double kMostPairs = 1e8;

std::string hexadecimal_sha256(const std::string& bytes) {
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest{};
  SHA256(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), digest.data());
  std::string text;
  for (const unsigned char byte : digest) {
    text += "0123456789abcdef"[byte / 16];
    text += "0123456789abcdef"[byte % 16];
  }
  return text;
}

void know_keys(const Json& entry, const std::set<std::string>& known) {
  for (const auto& [key, value] : entry.object()) {
    if (known.count(key) == 0) throw BadFile("not covered: an entry of the architecture with '" + key + "'");
  }
}

/// Those of `variance` are not negative; zeros where the file has none.
std::vector<double> variances(const Block& block, const std::string& name, const std::vector<long>& shape,
                              long count) {
  if (!block.has(name)) return std::vector<double>(static_cast<std::size_t>(count), 0.0);
  const std::vector<double>& found = block.values(name, shape);
  for (const double variance : found) {
    if (variance < 0.0) throw BadFile("tensor '" + name + "' holds a negative variance");
  }
  return found;
}

/// The tensors that a layer of this kind has; one beside them is another law.
std::vector<std::string> read_parts(const Layer& layer) {
  std::vector<std::string> parts = {".weight.mean", ".bias.mean",
                                    layer.correlated_bias ? ".bias.covariance" : ".bias.variance"};
  for (const std::string& part :
       layer.dependent ? layer.dependent->tensors() : std::vector<std::string>{"variance"})
    parts.push_back(".weight." + part);
  return parts;
}

Layer dense_layer(const Json& entry, const Block& block, std::set<std::string>& unread) {
  know_keys(entry, {"type", "name", "inputs", "in", "out"});
  const std::string& name = entry.at("name").text();
  Layer layer;
  layer.inputs = entry.at("in").whole(kMostNeurons);
  layer.outputs = entry.at("out").whole(kMostNeurons);
  if (layer.inputs == 0 || layer.outputs == 0)
    throw BadFile("layer '" + name + "' has no inputs or no outputs");
  if (static_cast<double>(layer.outputs) * static_cast<double>(layer.outputs) > kMostPairs) {
    throw BadFile("not covered: layer '" + name + "' has more than 10,000 outputs");
  }
  const std::vector<long> shape{layer.outputs, layer.inputs};
  layer.mean = {layer.outputs, layer.inputs, block.values(name + ".weight.mean", shape)};
  layer.dependent = WeightLaw::of(block, name, layer.inputs, layer.outputs);
  layer.is_random = !layer.dependent && block.has(name + ".weight.variance");
  if (!layer.dependent) {
    layer.variance = {layer.outputs, layer.inputs,
                      variances(block, name + ".weight.variance", shape, layer.outputs * layer.inputs)};
  }
  layer.bias_mean.assign(static_cast<std::size_t>(layer.outputs), 0.0);
  const bool is_correlated = block.has(name + ".bias.covariance");
  if ((block.has(name + ".bias.variance") || is_correlated) && !block.has(name + ".bias.mean")) {
    throw BadFile("layer '" + name + "' has a law of its bias without a mean");
  }
  if (block.has(name + ".bias.mean")) layer.bias_mean = block.values(name + ".bias.mean", {layer.outputs});
  layer.bias_variance = variances(block, name + ".bias.variance", {layer.outputs}, layer.outputs);
  if (is_correlated) layer.correlated_bias = covariance(block, name + ".bias.covariance", layer.outputs);
  for (const std::string& part : read_parts(layer)) unread.erase(name + part);
  return layer;
}

/// y = x.
Layer identity_layer(long size) {
  if (static_cast<double>(size) * static_cast<double>(size) > kMostPairs)
    throw BadFile("not covered: dropout of more than 10,000 inputs");
  Layer layer;
  layer.inputs = layer.outputs = size;
  layer.mean = {size, size};
  for (slong i = 0; i < size; ++i) layer.mean.set(i, i, 1.0);
  layer.variance = {size, size};
  layer.bias_mean = layer.bias_variance = std::vector<double>(static_cast<std::size_t>(size), 0.0);
  return layer;
}

/// An entry may say what it sees: only the one before it, `previous`, makes a chain.
void check_chain(const Json& entry, const std::string& previous) {
  const Json* inputs = entry.find("inputs");
  if (inputs == nullptr) return;
  if (inputs->list().size() != 1 || inputs->list().front().text() != previous)
    throw BadFile("not covered: a graph that is no chain");
}

/// What stands last in the part of the architecture that was read.
enum class Last { Nothing, InputMask, Layer, Activation, Mask };

void read_architecture(const Block& block, Model& model) {
  std::set<std::string> unread;
  for (const auto& [name, tensor] : block.tensors) unread.insert(name);
  Last last = Last::Nothing;
  // Layers have the identity between them where nothing else is said, and no mask.
  const auto add_activation = [&model](Activation activation) {
    model.activations.push_back(std::move(activation));
    model.masks.emplace_back();
  };
  const auto add_identity = [&] {
    if (last == Last::Layer || last == Last::InputMask)
      add_activation(Activation::of(Json::parse(R"({"function":"identity"})")));
  };
  const Json architecture = Json::parse(block.text("architecture"));
  std::set<std::string> names;
  std::string previous = "input";
  std::optional<Mask> of_inputs;
  for (const Json& entry : architecture.list()) {
    const std::string& type = entry.at("type").text();
    const Json* name = entry.find("name");
    if (name != nullptr && (name->text().empty() || !names.insert(name->text()).second)) {
      throw BadFile("two layers are called '" + name->text() + "', or one has no name");
    }
    check_chain(entry, previous);
    previous = name != nullptr ? name->text() : "";
    if (type == "dense") {
      Layer layer = dense_layer(entry, block, unread);
      if (last == Last::InputMask) model.layers.push_back(identity_layer(layer.inputs));
      if (last != Last::Nothing) add_identity();
      if (of_inputs) model.masks.back() = *std::exchange(of_inputs, std::nullopt);
      model.layers.push_back(std::move(layer));
      last = Last::Layer;
    } else if (type == "flatten") {
      // Values keep their order.
      know_keys(entry, {"type", "name", "inputs"});
    } else if (type == "activation" && last == Last::Layer) {
      add_activation(Activation::of(entry));
      last = Last::Activation;
    } else if ((type == "dropout" || type == "gaussian_dropout") &&
               (last == Last::Layer || last == Last::Activation)) {
      add_identity();
      model.masks.back() = Mask::of(entry);
      last = Last::Mask;
    } else if ((type == "dropout" || type == "gaussian_dropout") && last == Last::Nothing) {
      of_inputs = Mask::of(entry);
      last = Last::InputMask;
    } else {
      throw BadFile("not covered: '" + type +
                    "' at this place; expected dense layers with an activation and dropout between them");
    }
  }
  if (last != Last::Layer) throw BadFile("not covered: a network that does not end with a dense layer");
  // Another tensor beside a layer is another law of its weights.
  if (!unread.empty()) throw BadFile("not covered: tensor '" + *unread.begin() + "'");
}

}  // namespace

BallMatrix Layer::bias_covariance() const {
  if (correlated_bias) return *correlated_bias;
  BallMatrix made(outputs, outputs);
  for (slong i = 0; i < outputs; ++i) made.set(i, i, bias_variance[static_cast<std::size_t>(i)]);
  return made;
}

Model parse_model(const std::string& bytes) {
  std::istringstream in(bytes);
  const std::optional<Block> block = read_block(in);
  if (!block || block->text("format") != "mixcert-network")
    throw BadFile("expected a model (format mixcert-network)");
  Model model;
  model.sha256 = hexadecimal_sha256(bytes);
  read_architecture(*block, model);
  for (std::size_t k = 1; k < model.layers.size(); ++k) {
    if (model.layers[k].inputs != model.layers[k - 1].outputs) throw BadFile("sizes of layers do not fit");
  }
  if (model.layers.size() < 2) throw BadFile("not covered: a network without a hidden layer");
  return model;
}

Model read_model(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw BadFile("cannot open " + path);
  const std::string bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  try {
    return parse_model(bytes);
  } catch (const BadFile& error) {
    throw BadFile(path + ": " + error.what());
  }
}

}  // namespace mixcert_check
