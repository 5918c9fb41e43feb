// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Explanations as JSON: every amount of every neuron.
#include "explain_json.h"

#include <string>

namespace mixcert::cli {
namespace {

using nlohmann::ordered_json;

ordered_json list_of(const Vector& values) {
  return std::vector<double>(values.data(), values.data() + values.size());
}

ordered_json layer_json(const LayerContributions& layer, std::size_t number) {
  ordered_json sources = ordered_json::array();
  for (const Contribution& part : layer.parts) {
    ordered_json entry = {{"source", to_string(part.source)}, {"amount", part.amount}};
    if (part.neurons.size() > 0) entry["neurons"] = list_of(part.neurons);
    if (part.outputs.size() > 0) entry["outputs"] = list_of(part.outputs);
    sources.push_back(std::move(entry));
  }
  ordered_json json = {{"layer", number}, {"amount", layer.total}, {"sources", std::move(sources)}};
  if (layer.directions.size() > 0) {
    json["left_out"] = layer.directions(0);
    json["axes"] = list_of(layer.directions.tail(layer.directions.size() - 1));
  }
  return json;
}

}  // namespace

ordered_json explanation_json(const Explanation& explanation) {
  const BoundContributions& all = explanation.contributions;
  ordered_json layers = ordered_json::array();
  for (std::size_t k = 0; k < all.layers.size(); ++k) layers.push_back(layer_json(all.layers[k], k + 1));
  return {{"method", to_string(explanation.result.method)},
          {"w2_bound", explanation.result.w2.value},
          {"relative_w2_bound", explanation.result.relative_w2},
          {"networks", explanation.members},
          {"network", explanation.member},
          {"network_w2_bound", all.bound},
          {"first", all.first},
          {"layers", std::move(layers)}};
}

ordered_json trials_json(const std::vector<Trial>& trials) {
  ordered_json all = ordered_json::array();
  for (const Trial& trial : trials) {
    ordered_json entry = {{"change", trial.change}, {"w2_bound", nullptr}, {"seconds", trial.seconds}};
    if (trial.failure.empty()) {
      entry["w2_bound"] = trial.w2_bound;
    } else {
      entry["failure"] = trial.failure;
    }
    all.push_back(std::move(entry));
  }
  return all;
}

}  // namespace mixcert::cli
