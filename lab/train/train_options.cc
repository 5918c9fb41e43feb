// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The table of training options, and the texts in it that hold lists of numbers.
#include "train/train_options.h"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <string_view>

namespace mixcert::lab {
namespace {

using O = TrainOptions;

constexpr Index kMaxCount = 1'000'000'000;
constexpr Index kMaxLayerSize = 1'000'000;

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == separator) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

std::vector<Index> parse_sizes(const std::string& text) {
  std::vector<Index> sizes;
  for (const std::string& part : split(text, '-')) {
    const auto size = parse_number<Index>(part);
    if (!size || *size < 1 || *size > kMaxLayerSize) bad_option("arch", "sizes such as 784-128-10", text);
    sizes.push_back(*size);
  }
  if (sizes.size() < 2) bad_option("arch", "at least two sizes, such as 8-1", text);
  return sizes;
}

std::vector<double> parse_rates(const std::string& text) {
  std::vector<double> rates;
  for (const std::string& part : split(text, ',')) {
    const auto rate = parse_number<double>(part);
    if (!rate || !(*rate >= 0.0) || !(*rate < 1.0)) {
      bad_option("dropout-rate", "rates from 0 to below 1, such as 0.2 or 0,0.5", text);
    }
    rates.push_back(*rate);
  }
  return rates;
}

std::vector<std::pair<ActivationFunction, std::string>> activation_names() {
  std::vector<std::pair<ActivationFunction, std::string>> names;
  for (const ActivationFunction function : all_activation_functions()) {
    names.emplace_back(function, std::string(to_string(function)));
  }
  return names;
}

OptionTable<O> network_fields() {
  return {
      text_option<O>("arch", &O::arch, "SIZES", "sizes such as 784-128-10",
                     "sizes of the dense layers, 784-128-10; else features-128-outputs", parse_sizes),
      choice_option("activation", &O::activation, activation_names(), "between dense layers"),
      text_option<O>("dropout-rate", &O::dropout_rate, "RATES", "rates from 0 to below 1",
                     "one rate, or one per dense layer: 0,0.5", parse_rates),
  };
}

OptionTable<O> backbone_fields() {
  return {
      choice_option<O, Backbone>(
          "backbone", &O::backbone,
          {{Backbone::None, "none"}, {Backbone::Vgg2, "vgg2"}, {Backbone::Lenet5, "lenet5"}},
          "convolutions before the dense layers"),
      choice_option<O, BackbonePooling>("backbone-pooling", &O::backbone_pooling,
                                        {{BackbonePooling::Usual, "usual"},
                                         {BackbonePooling::Max, "max"},
                                         {BackbonePooling::Average, "average"}},
                                        "usual: max in vgg2, average in lenet5"),
      choice_option<O, BackboneKernels>(
          "backbone-kernels", &O::backbone_kernels,
          {{BackboneKernels::Fixed, "fixed"}, {BackboneKernels::Random, "random"}},
          "with vogn and ivon: trained first and fixed, or random like the dense layers"),
      integer_option<O, Index>("backbone-epochs", &O::backbone_epochs, 1, kMaxCount,
                               "epochs of fixed convolutions before a variational head"),
      range_option<O>("backbone-dropout", &O::backbone_dropout, 0.0, 1.0, "dropout after each pooling"),
      choice_option<O, DropoutUnit>("backbone-dropout-unit", &O::backbone_dropout_unit,
                                    {{DropoutUnit::Value, "value"}, {DropoutUnit::Channel, "channel"}},
                                    "what one factor of it multiplies"),
      choice_option<O, HeadFeatures>("head-features", &O::head_features,
                                     {{HeadFeatures::Masked, "masked"}, {HeadFeatures::Mean, "mean"}},
                                     "what a variational head learns on behind it: fresh masks, or none"),
      text_option<O>("backbone-from", &O::backbone_from, "FILE", "a file",
                     "convolutions of an earlier training"),
  };
}

OptionTable<O> inference_fields() {
  return {
      choice_option<O, Inference>("inference", &O::inference,
                                  {{Inference::Vogn, "vogn"},
                                   {Inference::Ivon, "ivon"},
                                   {Inference::Adam, "adam"},
                                   {Inference::Dropout, "dropout"}},
                                  "how the weights' law is found"),
      choice_option<O, Curvature>(
          "curvature", &O::curvature,
          {{Curvature::GaussNewton, "gauss-newton"}, {Curvature::Empirical, "empirical"}},
          "second derivative that vogn uses"),
      real_option("prior-precision", &O::prior_precision, 0.0, "1 / variance of the prior"),
      choice_option<O, PriorScaling>("prior-scaling", &O::prior_scaling,
                                     {{PriorScaling::None, "none"}, {PriorScaling::FanIn, "fan-in"}},
                                     "multiply precisions of weights by the layer's inputs"),
      text_option<O>("prior", &O::prior, "FILE", "a model file",
                     "model file with mean and variance of the prior"),
      real_option("initial-std", &O::initial_std, 0.0, "posterior standard deviation at the start"),
      integer_option<O, Index>("weight-samples", &O::weight_samples, 1, 1000, "weight samples per step"),
      real_option("temper", &O::temper, 0.0, "weight of the KL term; 1: Bayes"),
      real_option("noise-std", &O::noise_std, 0.0, "noise of regression, fixed; else learned"),
      flag_option("learn-noise", &O::learn_noise, "learn the noise, starting at --noise-std"),
  };
}

OptionTable<O> optimisation_fields() {
  return {
      integer_option<O, Index>("epochs", &O::epochs, 1, kMaxCount, "passes over the training examples"),
      integer_option<O, Index>("warm-up-epochs", &O::warm_up_epochs, 0, kMaxCount,
                               "epochs of Adam before the variational ones"),
      integer_option<O, Index>("batch-size", &O::batch_size, 1, kMaxCount, "examples per step"),
      real_option("learning-rate", &O::learning_rate, 0.0, "of the preconditioned step"),
      choice_option<O, Schedule>("schedule", &O::schedule,
                                 {{Schedule::Cosine, "cosine"}, {Schedule::Constant, "constant"}},
                                 "of the learning rate"),
      range_option<O>("momentum", &O::momentum, 0.0, 1.0, "share of the old gradient that is kept"),
      range_option<O>("curvature-decay", &O::curvature_decay, 0.0, 1.0,
                      "share of the old curvature that is kept"),
      range_option<O>("damping", &O::damping, 0.0, 1e6, "added to the preconditioner of the mean"),
      integer_option<O, Index>("patience", &O::patience, 0, kMaxCount,
                               "epochs without improvement before the end; 0: off"),
      range_option<O>("validation-fraction", &O::validation_fraction, 0.0, 0.9,
                      "share held out to judge improvement; 0: by the ELBO"),
      integer_option<O, Index>("elbo-samples", &O::elbo_samples, 1, 1000,
                               "weight samples for the ELBO of an epoch"),
  };
}

OptionTable<O> running_fields() {
  return {
      integer_option<O, std::uint64_t>("seed", &O::seed, 0, std::numeric_limits<std::uint64_t>::max(),
                                       "seed of everything random"),
      integer_option<O, int>("threads", &O::threads, 0, 4096, "0: one per processor"),
      text_option<O>("checkpoint", &O::checkpoint, "FILE", "a file",
                     "where the state is kept; else OUT.checkpoint"),
      real_option("checkpoint-seconds", &O::checkpoint_seconds, 0.0, "time between checkpoints"),
      flag_option("restart", &O::restart, "begin anew where a checkpoint exists"),
  };
}

}  // namespace

const OptionTable<TrainOptions>& train_option_table() {
  static const OptionTable<TrainOptions> table = [] {
    OptionTable<TrainOptions> all;
    for (const auto& part :
         {network_fields(), backbone_fields(), inference_fields(), optimisation_fields(), running_fields()}) {
      all.insert(all.end(), part.begin(), part.end());
    }
    return all;
  }();
  return table;
}

bool is_bookkeeping(const std::string& field) {
  constexpr std::array<std::string_view, 4> names = {"threads", "checkpoint", "checkpoint-seconds",
                                                     "restart"};
  return std::find(names.begin(), names.end(), field) != names.end();
}

void TrainOptions::validate() const {
  TrainOptions copy;
  for (const auto& field : train_option_table()) {
    const std::string text = field.get(*this);
    if (!text.empty()) field.set(copy, text);
  }
  if (!prior.empty() && !is_variational()) {
    throw InvalidArgument("option --prior: needs --inference vogn or ivon");
  }
  if (backbone == Backbone::None && !backbone_from.empty()) {
    throw InvalidArgument("option --backbone-from: needs --backbone vgg2 or lenet5");
  }
  if (backbone_kernels == BackboneKernels::Random) {
    if (backbone == Backbone::None || !is_variational()) {
      throw InvalidArgument(
          "option --backbone-kernels: random needs --backbone and --inference vogn or ivon");
    }
    if (!prior.empty() || !backbone_from.empty()) {
      throw InvalidArgument("option --backbone-kernels: random takes neither --prior nor --backbone-from");
    }
  }
  if (!backbone_from.empty() && !is_variational()) {
    throw InvalidArgument("option --backbone-from: needs --inference vogn or ivon, which leave it as it is");
  }
}

std::vector<Index> TrainOptions::layer_sizes(Index inputs, Index outputs) const {
  if (arch.empty() && backbone == Backbone::Lenet5) return {inputs, 120, 84, outputs};
  if (arch.empty()) return {inputs, 128, outputs};
  std::vector<Index> sizes = parse_sizes(arch);
  if (sizes.front() != inputs || sizes.back() != outputs) {
    bad_option("arch",
               std::to_string(inputs) + " at the front and " + std::to_string(outputs) + " at the end", arch);
  }
  return sizes;
}

std::vector<double> TrainOptions::dropout_rates(Index layers) const {
  std::vector<double> rates(static_cast<std::size_t>(layers), 0.0);
  if (inference != Inference::Dropout) return rates;
  const std::vector<double> given = parse_rates(dropout_rate);
  if (given.size() != 1 && given.size() != rates.size()) {
    bad_option("dropout-rate", "one rate or " + std::to_string(layers) + " rates", dropout_rate);
  }
  // One rate leaves the network's input alone, unless there is nothing else.
  const bool one = given.size() == 1 && layers > 1;
  for (std::size_t k = one ? 1 : 0; k < rates.size(); ++k) rates[k] = one ? given.front() : given[k];
  return rates;
}

}  // namespace mixcert::lab
