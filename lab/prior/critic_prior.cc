// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Steps of the prior around steps of the critic. As published, the critic's weights are drawn anew for each
// step of the prior while the sums of Adagrad go on; all its steps see one sample of either side, and the
// prior's step another.
#include "prior/critic_prior.h"

#include <chrono>
#include <cmath>
#include <string>

#include "mixcert/core/error.h"
#include "mixcert/gp/gaussian_process.h"
#include "prior/critic.h"

namespace mixcert::lab {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Adagrad and RMSprop with the constants of libtorch.
void adagrad_step(double rate, const FloatVector& gradient, FloatVector& sums, FloatVector& parameters) {
  sums += gradient.cwiseAbs2();
  parameters.array() -= static_cast<float>(rate) * gradient.array() / (sums.array().sqrt() + 1e-10F);
}

void rmsprop_step(double rate, const FloatVector& gradient, FloatVector& means, FloatVector& parameters) {
  means = 0.99F * means + 0.01F * gradient.cwiseAbs2();
  parameters.array() -= static_cast<float>(rate) * gradient.array() / (means.array().sqrt() + 1e-8F);
}

FloatRows grid(const CriticPriorOptions& options) {
  return Vector::LinSpaced(options.points, options.low, options.high).cast<float>();
}

class CriticFit {
 public:
  CriticFit(const CriticPriorOptions& options, const CancelFlag* cancel)
      : options_(options),
        cancel_(cancel),
        prior_(options.layer_sizes(), Activation(options.activation), options.prior, grid(options)),
        inputs_(Vector::LinSpaced(options.points, options.low, options.high).transpose()),
        critic_(options.points, options.critic_width),
        parameters_(prior_.initial_parameters()),
        means_(FloatVector::Zero(parameters_.size())),
        sums_(FloatVector::Zero(critic_.parameter_count())) {
    process_.kernel = Kernel::parse(options.kernel);
  }

  CriticPriorStep step(Index number) {
    const Clock::time_point start = Clock::now();
    CriticPriorStep record;
    record.step = number;
    // Two samples a step: one to train the critic on, one for the prior.
    const auto index = 2 * static_cast<std::uint64_t>(number);
    train_critic(index, record);
    const FloatRows target = target_functions(index + 1);
    const FloatRows functions = network_functions(index + 1);
    Critic::Slopes of_network = critic_.slopes(critic_parameters_, functions);
    record.distance = of_network.values.mean() - critic_.slopes(critic_parameters_, target).values.mean();
    of_network.slopes /= static_cast<float>(options_.samples);
    const FloatVector gradient =
        prior_.gradient(parameters_, of_network.slopes, options_.seed, index + 1, options_.threads);
    rmsprop_step(options_.learning_rate, gradient, means_, parameters_);
    require(parameters_.allFinite(), "critic prior: step " + std::to_string(number) +
                                         " left the finite numbers; lower the learning rates");
    record.seconds = seconds_since(start);
    return record;
  }

  [[nodiscard]] Network network() const { return prior_.network(parameters_); }

 private:
  [[nodiscard]] FloatRows target_functions(std::uint64_t index) const {
    const std::uint64_t seed = split_mix(options_.seed ^ split_mix(index));
    return sample_functions(process_, inputs_, options_.samples, seed).transpose().cast<float>();
  }
  [[nodiscard]] FloatRows network_functions(std::uint64_t index) const {
    return prior_.draw(parameters_, options_.samples, options_.seed, index, options_.threads);
  }

  void train_critic(std::uint64_t index, CriticPriorStep& record) {
    const FloatRows target = target_functions(index);
    const FloatRows functions = network_functions(index);
    Generator weights = train_generator(options_.seed, TrainStream::CriticWeights, index);
    Generator mixing = train_generator(options_.seed, TrainStream::CriticMixing, index);
    critic_parameters_ = critic_.initial_parameters(weights);
    FloatVector gradient;
    for (Index i = 1; i <= options_.critic_steps; ++i) {
      if (cancel_ != nullptr && cancel_->load()) throw Interrupted("interrupted");
      const FloatVector shares =
          FloatVector::NullaryExpr(options_.samples, [&] { return static_cast<float>(uniform(mixing)); });
      const CriticLoss loss = critic_.loss(critic_parameters_, functions, target, shares, options_.penalty,
                                           options_.threads, gradient);
      record.final_loss = options_.penalty * loss.penalty - loss.difference;
      if (i == 1) record.first_loss = record.final_loss;
      if (i == (options_.critic_steps + 1) / 2) record.halfway_loss = record.final_loss;
      record.gradient_norm = gradient.norm();
      record.critic_steps = i;
      adagrad_step(options_.critic_learning_rate, gradient, sums_, critic_parameters_);
      if (record.gradient_norm < options_.critic_threshold) return;
    }
  }

  const CriticPriorOptions& options_;
  const CancelFlag* cancel_;
  FunctionPrior prior_;
  GaussianProcess process_;
  Matrix inputs_;
  Critic critic_;
  FloatVector parameters_;
  FloatVector means_;  ///< of RMSprop
  FloatVector critic_parameters_;
  FloatVector sums_;  ///< of Adagrad
};

}  // namespace

CriticPriorResult fit_critic_prior(const CriticPriorOptions& options,
                                   const std::function<void(const CriticPriorStep&)>& progress,
                                   const CancelFlag* cancel) {
  options.validate();
  const Clock::time_point start = Clock::now();
  CriticFit fit(options, cancel);
  std::vector<CriticPriorStep> history;
  for (Index number = 1; number <= options.steps; ++number) {
    history.push_back(fit.step(number));
    if (progress) progress(history.back());
  }
  return {fit.network(), std::move(history), seconds_since(start)};
}

Network isotropic_prior(const std::vector<Index>& sizes, ActivationFunction activation,
                        double weight_variance, double bias_variance, bool by_fan_in) {
  require(sizes.size() >= 2, "isotropic_prior: expected two sizes or more");
  std::vector<DenseLayer> layers;
  std::vector<ActivationMap> activations;
  for (std::size_t k = 0; k + 1 < sizes.size(); ++k) {
    const double variance = by_fan_in ? weight_variance / static_cast<double>(sizes[k]) : weight_variance;
    layers.emplace_back(std::to_string(k), Matrix::Zero(sizes[k + 1], sizes[k]), Vector::Zero(sizes[k + 1]),
                        MeanFieldWeights{Matrix::Constant(sizes[k + 1], sizes[k], variance)},
                        IndependentBias{Vector::Constant(sizes[k + 1], bias_variance)});
    activations.emplace_back(k == 0 ? Activation() : Activation(activation));
  }
  return {std::move(layers), std::move(activations)};
}

}  // namespace mixcert::lab
