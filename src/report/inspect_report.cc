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
  const TextTable layers({{"layer", 10},
                          {"in", 6},
                          {"out", 6},
                          {"weights", 22},
                          {"bias", 14},
                          {"numbers", 10},
                          {"before it", 11}});
  std::string text = layers.header();
  Index total = 0;
  for (Index k = 0; k < network.layer_count(); ++k) {
    const DenseLayer& layer = network.layer(k);
    total += layer.parameter_count();
    text += layers.row({layer.name(), std::to_string(layer.inputs()), std::to_string(layer.outputs()),
                        std::string(family_name(layer.weights())), std::string(family_name(layer.bias())),
                        std::to_string(layer.parameter_count()),
                        std::string(to_string(network.activation(k).function()))});
  }
  text += fmt::format("\n{} inputs, {} outputs, {} hidden layers, {} numbers\n", network.inputs(),
                      network.outputs(), network.hidden_count(), total);
  if (network.hidden_count() == 0) return text;

  const Sensitivity sensitivity = analyse_sensitivity(network);
  const TextTable gains({{"hidden", 7},
                         {"Lipschitz", 10},
                         {"E|W| paper", 11},
                         {"|E W'W|^1/2", 12},
                         {"gain paper", 11},
                         {"gain expected", 14},
                         {"gain metric", 12},
                         {"metric", 18}});
  text +=
      "\nconstants of the layer behind each hidden layer, and gains from it to the output (largest sqrt "
      "G_ii)\n" +
      gains.header();
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
  return text;
}

}  // namespace mixcert
