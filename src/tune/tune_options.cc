// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The table of prior selection.
#include "mixcert/tune/tune_options.h"

#include <limits>
#include <utility>
#include <vector>

#include "quantize/signature.h"

namespace mixcert {
namespace {

using O = TuneOptions;

std::vector<std::pair<ActivationFunction, std::string>> activation_names() {
  std::vector<std::pair<ActivationFunction, std::string>> names;
  for (const ActivationFunction function : all_activation_functions()) {
    names.emplace_back(function, to_string(function));
  }
  return names;
}

OptionTable<O> make_table() {
  return {
      text_option("arch", &O::arch, "N-N-...", "sizes of layers, inputs first",
                  "sizes from inputs to outputs", [](const std::string& text) { parse_architecture(text); }),
      choice_option("activation", &O::activation, activation_names(), "of the hidden layers"),
      choice_option("prior", &O::prior,
                    {{PriorForm::PerLayer, "per-layer"},
                     {PriorForm::PerNeuron, "per-neuron"},
                     {PriorForm::PerWeight, "per-weight"}},
                    "which weights share a variance"),
      choice_option("means", &O::means,
                    {{TunedMeans::None, "none"}, {TunedMeans::Biases, "biases"}, {TunedMeans::All, "all"}},
                    "which means are tuned; the others are 0"),
      choice_option("method", &O::method, {{Method::Moment, "moment"}, {Method::Signature, "signature"}},
                    "how the network's law is approximated and bounded"),
      range_option("beta", &O::beta, 0.0, 1.0, "weight of the certified bound; the distance has the rest",
                   true),
      integer_option<O, Index>("batch", &O::batch, 1, 10000, "inputs of a step"),
      integer_option<O, Index>("steps", &O::steps, 1, 1'000'000, "steps of Adam"),
      real_option("learning-rate", &O::learning_rate, 0.0, "of Adam at the start; falls to 0 along a cosine"),
      range_option("jitter", &O::jitter, 0.0, 10.0, "deviation of the logarithms of variances at the start"),
      integer_option<O, Index>("signature-size", &O::signature_size, 1, kMaxGridSize,
                               "grid points per component (method signature)"),
      integer_option<O, Index>("components", &O::components, 0, kMaxGridSize,
                               "components kept by compression (method signature); 0: all"),
      integer_option<O, Index>("held-out", &O::held_out, 1, 1000,
                               "inputs left out of the steps, to judge by"),
      integer_option<O, std::uint64_t>("seed", &O::seed, 0, std::numeric_limits<std::uint64_t>::max(),
                                       "of start, batches and estimates"),
  };
}

}  // namespace

const OptionTable<TuneOptions>& tune_option_table() {
  static const OptionTable<TuneOptions> table = make_table();
  return table;
}

void TuneOptions::validate() const {
  TuneOptions copy = *this;
  for (const auto& field : tune_option_table()) field.set(copy, field.get(*this));
  require(parse_architecture(arch).size() >= 3, "option --arch: expected a hidden layer, got '" + arch + "'");
}

ObjectiveOptions TuneOptions::objective() const { return {method, beta, signature_size, components, seed}; }

PriorParameters TuneOptions::parameters() const {
  return {parse_architecture(arch), Activation(activation), prior, means};
}

}  // namespace mixcert
