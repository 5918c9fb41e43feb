// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Text of `mixcert inspect`: layers, laws, constants and gains.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/text_table.h"
#include "network/graph/layer_graph.h"
#include "report/terminal/text_report.h"
#include "sensitivity/sensitivity.h"

namespace mixcert {
namespace {

/// sqrt of the factor by which this layer alone multiplies a scalar chain.
double layer_constant(const MetricChain& chain, const Sensitivity& sensitivity, Index layer, Index hidden) {
  const auto k = static_cast<std::size_t>(layer - 1);
  const double here = chain.activation_weights[k](0);
  if (layer == hidden) return std::sqrt(here);
  const double l = sensitivity.lipschitz[k + 1].nominal;
  return std::sqrt(here / (l * l * chain.activation_weights[k + 1](0)));
}

/// "relu", "relu on 12 of 16".
std::string activation_text(const ActivationMap& activation) {
  std::string name(to_string(activation.common().function()));
  if (activation.is_uniform()) return name;
  const auto changed = std::count(activation.unchanged().begin(), activation.unchanged().end(), false);
  return fmt::format("{} on {} of {}", name, changed, activation.unchanged().size());
}

std::string mask_text(const Mask& mask) {
  if (mask.is_none()) return "-";
  return (mask.kind() == Mask::Kind::Gaussian ? "gaussian " : "bernoulli ") + short_number(mask.rate());
}

/// "mean-field, laplace".
std::string law_text(std::string_view family, const EntryLaw& law) {
  return law.is_normal() ? std::string(family) : fmt::format("{}, {}", family, law.name());
}

std::string weights_text(const DenseLayer& layer) {
  return law_text(family_name(layer.weights()), entry_law(layer.weights()));
}

std::string bias_text(const DenseLayer& layer) {
  // A word for one family: all others keep the law of the bias apart, or say "full-with-bias" of the weights.
  const bool shared = std::holds_alternative<SharedWeights>(layer.weights()) &&
                      independent_variances(layer.bias()) == nullptr && !layer.bias_variances().isZero(0.0);
  return shared ? "shared" : law_text(family_name(layer.bias()), entry_law(layer.bias()));
}

std::string canonical_layers(const Network& network) {
  const TextTable layers({{"layer", 8},
                          {"input through", 13},
                          {"mask", 13},
                          {"in", 6},
                          {"out", 6},
                          {"weights", 22},
                          {"bias", 13},
                          {"parameters", 10}});
  std::string text = layers.header();
  Index total = 0;
  for (Index k = 0; k < network.layer_count(); ++k) {
    const DenseLayer& layer = network.layer(k);
    total += layer.parameter_count();
    text += layers.row({layer.name(), activation_text(network.activation(k)), mask_text(network.mask(k)),
                        std::to_string(layer.inputs()), std::to_string(layer.outputs()), weights_text(layer),
                        bias_text(layer), std::to_string(layer.parameter_count())});
  }
  if (network.front() != nullptr) {
    text += fmt::format("\ndeterministic layers in front, evaluated at the input: {} to {}\n",
                        counted(network.inputs(), "input"), counted(network.feature_count(), "feature"));
  }
  return text + fmt::format("\n{}, {}, {}, {} (means and covariances)\n", counted(network.inputs(), "input"),
                            counted(network.outputs(), "output"),
                            counted(network.hidden_count(), "hidden layer"), counted(total, "parameter"));
}

/// Layers that keep their structure.
std::string graph_text(const LayerGraph& graph) {
  const TextTable nodes({{"node", 4}, {"layer", 28}, {"sees", 8}, {"values", 8}, {"random numbers", 14}});
  std::string text = nodes.header();
  Index numbers = 0;
  for (Index k = 0; k < graph.size(); ++k) {
    const GraphNode& node = graph.node(k);
    std::string seen;
    for (const Index from : node.from) seen += (seen.empty() ? "" : ", ") + std::to_string(from);
    numbers += node.random_count();
    text += nodes.row({std::to_string(k), node.title, seen, std::to_string(node.size),
                       std::to_string(node.random_count())});
  }
  return text + fmt::format("\n{}, {}, {} in a draw\n", counted(graph.inputs(), "input"),
                            counted(graph.outputs(), "output"), counted(numbers, "random number"));
}

}  // namespace

std::string inspect_text(const std::vector<LayerSpec>& layers, const Ensemble& ensemble) {
  std::string text = layers_text(layers);
  if (ensemble.size() == 1 && ensemble.member(0).graph() != nullptr) {
    return text + "\nas certify --simulate draws it\n" + graph_text(*ensemble.member(0).graph()) +
           "\nFormal bounds take it as it is where matrices would be large, and write convolutions, pools "
           "and "
           "blocks out as matrices where they are small or where there is dropout.\n";
  }
  if (ensemble.size() > 1) {
    text += fmt::format("\nan ensemble of {} networks; the first, of weight {}, as it is certified\n",
                        ensemble.size(), short_number(ensemble.weights()(0)));
  } else {
    text += "\nas it is certified\n";
  }
  return text + inspect_text(ensemble.member(0));
}

std::string inspect_text(const Network& network) {
  std::string text = canonical_layers(network);
  if (network.common_factor_count() > 0) {
    return text +
           fmt::format("\nlayers share {}: they are not independent, and certificates need that they are\n",
                       counted(network.common_factor_count(), "random factor"));
  }
  if (network.hidden_count() == 0) return text;

  const Sensitivity sensitivity = analyse_sensitivity(network);
  const TextTable gains({{"hidden", 6},
                         {"Lipschitz", 9},
                         {"E|W| paper", 10},
                         {"|E W'W|^1/2", 11},
                         {"gain paper", 10},
                         {"gain expected", 13},
                         {"gain metric", 11},
                         {"metric", 16}});
  text += "\nconstants of the layer behind each hidden layer, and its gains to the output\n" + gains.header();
  for (Index k = 1; k <= network.hidden_count(); ++k) {
    const auto i = static_cast<std::size_t>(k - 1);
    const double l = sensitivity.lipschitz[i].nominal;
    const MetricChain& best = sensitivity.reference_chain(k);
    const auto gain = [&](const MetricChain& chain) {
      return short_number(l * std::sqrt(chain.activation_weights[i].maxCoeff()));
    };
    text +=
        gains.row({std::to_string(k), short_number(l),
                   short_number(layer_constant(sensitivity.paper, sensitivity, k, network.hidden_count())),
                   short_number(layer_constant(sensitivity.expected, sensitivity, k, network.hidden_count())),
                   gain(sensitivity.paper), gain(sensitivity.expected), gain(best), best.name});
  }
  return text +
         "\ngain: largest sqrt(G_ii). A metric weighs each neuron by itself: its bound can be smaller "
         "though\n"
         "its largest gain is not.\n";
}

}  // namespace mixcert
