// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The table of the critic baseline's options.
#include "prior/critic_options.h"

#include <limits>

#include "mixcert/gp/kernel.h"
#include "train/train_options.h"

namespace mixcert::lab {
namespace {

using O = CriticPriorOptions;

constexpr Index kMostSteps = 1'000'000;
constexpr Index kMostSamples = 100'000;
constexpr Index kMostPoints = 2000;
constexpr double kFarthest = 1e6;

std::vector<std::pair<ActivationFunction, std::string>> activation_names() {
  std::vector<std::pair<ActivationFunction, std::string>> names;
  for (const ActivationFunction function : all_activation_functions()) {
    names.emplace_back(function, std::string(to_string(function)));
  }
  return names;
}

std::vector<Index> parse_arch(const std::string& text) {
  TrainOptions options;
  options.arch = text;
  return options.layer_sizes(1, 1);
}

OptionTable<O> model_fields() {
  return {
      text_option<O>("arch", &O::arch, "SIZES", "sizes such as 1-128-128-1", "sizes of the layers",
                     parse_arch),
      choice_option("activation", &O::activation, activation_names(), "between dense layers"),
      text_option<O>("kernel", &O::kernel, "TEXT", "a kernel", "of the Gaussian process",
                     [](const std::string& text) { (void)Kernel::parse(text); }),
      choice_option<O, Granularity>(
          "prior", &O::prior, {{Granularity::PerLayer, "per-layer"}, {Granularity::PerWeight, "per-weight"}},
          "what has a deviation of its own"),
      integer_option<O, Index>("samples", &O::samples, 2, kMostSamples, "functions of either side"),
      integer_option<O, Index>("points", &O::points, 2, kMostPoints, "of the grid"),
      range_option<O>("low", &O::low, -kFarthest, kFarthest, "where the grid begins"),
      range_option<O>("high", &O::high, -kFarthest, kFarthest, "where it ends"),
  };
}

OptionTable<O> optimisation_fields() {
  return {
      integer_option<O, Index>("steps", &O::steps, 1, kMostSteps, "of the prior, by RMSprop"),
      real_option("learning-rate", &O::learning_rate, 0.0, "of the prior"),
      integer_option<O, Index>("critic-steps", &O::critic_steps, 1, kMostSteps,
                               "for each step of the prior, by Adagrad"),
      real_option("critic-learning-rate", &O::critic_learning_rate, 0.0, "of the critic"),
      range_option<O>("critic-threshold", &O::critic_threshold, 0.0, kFarthest,
                      "norm of the gradient at which the critic stops"),
      integer_option<O, Index>("critic-width", &O::critic_width, 1, 10000, "of its two hidden layers"),
      range_option<O>("penalty", &O::penalty, 0.0, kFarthest, "weight of the gradient penalty"),
      integer_option<O, std::uint64_t>("seed", &O::seed, 0, std::numeric_limits<std::uint64_t>::max(),
                                       "seed of everything random"),
      integer_option<O, int>("threads", &O::threads, 0, 4096, "0: one per processor"),
  };
}

}  // namespace

const OptionTable<CriticPriorOptions>& critic_prior_table() {
  static const OptionTable<O> table = [] {
    OptionTable<O> all = model_fields();
    const OptionTable<O> more = optimisation_fields();
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }();
  return table;
}

void CriticPriorOptions::validate() const {
  CriticPriorOptions copy;
  for (const auto& field : critic_prior_table()) field.set(copy, field.get(*this));
  if (!(low < high)) bad_option("high", "a number above " + format_number(low), format_number(high));
}

std::vector<Index> CriticPriorOptions::layer_sizes() const { return parse_arch(arch); }

}  // namespace mixcert::lab
