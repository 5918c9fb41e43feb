// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Defaults that suit a data set, measured on the networks of docs/training.md.
#include <algorithm>

#include "train/train_options.h"

namespace mixcert::lab {
namespace {

bool is_image_set(const std::string& data) {
  return data == "mnist" || data == "fashion-mnist" || data.starts_with("cifar10");
}

/// 20 epochs would do for the accuracy; the variances need 30 to settle.
void set_image_defaults(TrainOptions& options) {
  options.activation = ActivationFunction::Relu;
  options.epochs = 30;
  options.batch_size = 256;
  options.learning_rate = 0.02;
  options.prior_precision = 20.0;
  options.initial_std = 0.03;
}

/// Many epochs are cheap here, and few examples need several weight samples a step: with one, the
/// noise of the steps drives the posterior into explaining the data as noise.
void set_table_defaults(TrainOptions& options, const std::string& data) {
  const bool large = data == "kin8nm";
  options.activation = ActivationFunction::Tanh;
  options.epochs = large ? 200 : 2000;
  options.warm_up_epochs = large ? 50 : 500;
  options.batch_size = 128;
  options.learning_rate = large ? 0.02 : 0.2;
  options.weight_samples = 4;
  options.prior_precision = large ? 0.3 : 0.1;
  options.prior_scaling = PriorScaling::FanIn;
  options.elbo_samples = 8;
}

/// Adam and dropout: a prior that only keeps the weights finite.
void set_point_defaults(TrainOptions& options, const std::string& data) {
  options.learning_rate = 1e-3;
  options.prior_precision = 1.0;
  options.prior_scaling = PriorScaling::None;
  options.weight_samples = 1;
  options.warm_up_epochs = 0;
  if (data.starts_with("cifar10")) {
    options.batch_size = 64;
    options.epochs = 8;
  }
}

}  // namespace

TrainOptions default_train_options(const std::string& data, Inference inference) {
  TrainOptions options;
  options.inference = inference;
  if (is_image_set(data)) {
    set_image_defaults(options);
  } else {
    set_table_defaults(options, data);
  }
  if (!options.is_variational()) set_point_defaults(options, data);
  return options;
}

TrainOptions resolve_train_options(const std::map<std::string, std::string>& given, const std::string& data) {
  const OptionTable<TrainOptions>& table = train_option_table();
  for (const auto& [name, text] : given) {
    const bool known = std::any_of(table.begin(), table.end(),
                                   [&name = name](const auto& field) { return field.name == name; });
    require(known, "training: expected an option of `mixcert train`, got '" + name + "'");
  }
  const auto set_given = [&](TrainOptions& options) {
    for (const auto& field : table) {
      if (const auto text = given.find(field.name); text != given.end()) field.set(options, text->second);
    }
  };
  TrainOptions wanted;
  set_given(wanted);
  TrainOptions options = default_train_options(data, wanted.inference);
  set_given(options);
  return options;
}

}  // namespace mixcert::lab
