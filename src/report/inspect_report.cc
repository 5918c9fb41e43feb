// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Text of `mixcert inspect`: layers, laws, constants and gains.
#include <fmt/format.h>

#include <cmath>

#include "mixcert/certify/sensitivity.h"
#include "report/text_report.h"
#include "report/text_table.h"

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

}  // namespace

std::string inspect_text(const Network& network) {
  const TextTable layers({{"layer", 8},
                          {"input through", 13},
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
    text += layers.row({layer.name(), std::string(to_string(network.activation(k).common().function())),
                        std::to_string(layer.inputs()), std::to_string(layer.outputs()),
                        std::string(family_name(layer.weights())), std::string(family_name(layer.bias())),
                        std::to_string(layer.parameter_count())});
  }
  text += fmt::format("\n{}, {}, {}, {} (means and covariances)\n", counted(network.inputs(), "input"),
                      counted(network.outputs(), "output"), counted(network.hidden_count(), "hidden layer"),
                      counted(total, "parameter"));
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
