// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Adam with the constants of the paper.
#include "train/adam_learner.h"

#include <cmath>

#include "mixcert/core/parallel.h"

namespace mixcert::lab {
namespace {

constexpr double kFirstDecay = 0.9;
constexpr double kSecondDecay = 0.999;
constexpr float kEpsilon = 1e-8F;

}  // namespace

AdamLearner::AdamLearner(const StackNet& net, const TrainOptions& options, const Likelihood& likelihood,
                         Index examples)
    : AdamLearner(
          net, options, likelihood, examples,
          {FloatVector::Zero(net.parameter_count()),
           FloatVector::Constant(net.parameter_count(), static_cast<float>(options.prior_precision))}) {}

AdamLearner::AdamLearner(const StackNet& net, const TrainOptions& options, const Likelihood& likelihood,
                         Index examples, DiagonalPrior prior)
    : net_(net),
      options_(options),
      likelihood_(likelihood),
      examples_(examples),
      learns_noise_(likelihood.task() == Task::Regression && (options.learn_noise || !options.noise_std)),
      threads_(resolve_thread_count(options.threads)),
      prior_(std::move(prior)),
      weights_(net.initial_weights(options.seed)),
      first_(FloatVector::Zero(weights_.size())),
      second_(FloatVector::Zero(weights_.size())),
      derivatives_(net, threads_) {}

double AdamLearner::step(const Examples& examples, std::span<const Index> rows, const StepInfo& info) {
  derivatives_.compute(weights_, likelihood_, examples, rows, CurvatureWanted::None,
                       {options_.seed, static_cast<std::uint64_t>(info.step)}, means_);
  means_.gradient.array() += static_cast<float>(1.0 / static_cast<double>(examples_)) *
                             prior_.precision.array() * (weights_ - prior_.mean).array();
  first_ = static_cast<float>(kFirstDecay) * first_ + static_cast<float>(1.0 - kFirstDecay) * means_.gradient;
  second_ = static_cast<float>(kSecondDecay) * second_ +
            static_cast<float>(1.0 - kSecondDecay) * means_.gradient.cwiseAbs2();
  const auto steps = static_cast<double>(info.step + 1);
  const auto length = static_cast<float>(info.learning_rate / (1.0 - std::pow(kFirstDecay, steps)));
  const auto correction = static_cast<float>(1.0 / (1.0 - std::pow(kSecondDecay, steps)));
  weights_.array() -= length * first_.array() / ((correction * second_.array()).sqrt() + kEpsilon);
  if (learns_noise_) {
    likelihood_.set_noise_variance(updated_noise_variance(
        likelihood_.noise_variance(), means_.square_residual, static_cast<Index>(rows.size()), examples_));
  }
  return means_.log_likelihood;
}

FloatRows AdamLearner::outputs(const FloatRows& inputs, std::optional<Index> sample) const {
  if (!sample) return predict(net_, weights_, inputs, threads_);
  const PassKey key{options_.seed, static_cast<std::uint64_t>(*sample)};
  return predict(net_, weights_, inputs, threads_, &key);
}

double AdamLearner::regulariser() const {
  const Eigen::ArrayXd shift = (weights_ - prior_.mean).cast<double>().array();
  return -0.5 * (prior_.precision.cast<double>().array() * shift.square()).sum();
}

State AdamLearner::state() const {
  return {{"weights", float_array(weights_)},
          {"first", float_array(first_)},
          {"second", float_array(second_)},
          {"noise_variance", number_array(likelihood_.noise_variance())}};
}

void AdamLearner::restore(const State& state) {
  const Index count = net_.parameter_count();
  weights_ = read_float_array(state, "weights", count);
  first_ = read_float_array(state, "first", count);
  second_ = read_float_array(state, "second", count);
  likelihood_.set_noise_variance(read_number(state, "noise_variance"));
}

}  // namespace mixcert::lab
