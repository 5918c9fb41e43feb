// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// With N examples, curvature h (a mean over examples), prior precision p, prior mean m0, temper t and
// k = 1 / noise variance (1 in classification):
//     precision s = N k h / t + p,                    w = m + e / sqrt(s),  e standard normal
//     h <- b h + (1 - b) c(w) / k
//     g <- a g + (1 - a) (G(w) + t p (m - m0) / N)
//     m <- m - r g / (1 - a^steps) / (k h + t p / N + damping)
// where G is the batch's mean gradient and c its mean Gauss-Newton diagonal. h is kept without k, so
// that it stays right while the noise is being learned.
#include "train/vogn_learner.h"

#include <cmath>

#include "mixcert/core/error.h"
#include "mixcert/core/parallel.h"

namespace mixcert::lab {

VognLearner::VognLearner(const StackNet& net, const TrainOptions& options, DiagonalPrior prior,
                         const Likelihood& likelihood, Index examples)
    : net_(net),
      options_(options),
      prior_(std::move(prior)),
      likelihood_(likelihood),
      examples_(examples),
      learns_noise_(likelihood.task() == Task::Regression && (options.learn_noise || !options.noise_std)),
      threads_(resolve_thread_count(options.threads)),
      derivatives_(net, threads_) {
  mean_ = net.initial_weights(options.seed) + prior_.mean;
  momentum_ = FloatVector::Zero(mean_.size());
  reset_curvature();
}

void VognLearner::reset_curvature() {
  const double precision = 1.0 / (options_.initial_std * options_.initial_std);
  const double factor = options_.temper / (static_cast<double>(examples_) * likelihood_.scale());
  curvature_ =
      static_cast<float>(factor) * (static_cast<float>(precision) - prior_.precision.array()).cwiseMax(0.0F);
}

void VognLearner::start_from(const FloatVector& mean, double noise_variance) {
  mean_ = mean;
  likelihood_.set_noise_variance(noise_variance);
  reset_curvature();
}

FloatVector VognLearner::precision() const {
  const double factor = static_cast<double>(examples_) * likelihood_.scale() / options_.temper;
  return static_cast<float>(factor) * curvature_ + prior_.precision;
}

double VognLearner::step(const Examples& examples, std::span<const Index> rows, const StepInfo& info) {
  if (info.step == 0) raise_curvature(examples, rows);
  deviation_ = precision().cwiseSqrt().cwiseInverse();
  average_samples(examples, rows, info.step);
  update_posterior(info);
  if (learns_noise_) {
    likelihood_.set_noise_variance(updated_noise_variance(likelihood_.noise_variance(), all_.square_residual,
                                                          static_cast<Index>(rows.size()), examples_));
  }
  return all_.log_likelihood;
}

void VognLearner::raise_curvature(const Examples& examples, std::span<const Index> rows) {
  derivatives_.compute(mean_, likelihood_, examples, rows, CurvatureWanted::GaussNewton, {options_.seed, 0},
                       one_);
  curvature_ = curvature_.cwiseMax(one_.curvature / static_cast<float>(likelihood_.scale()));
}

void VognLearner::average_samples(const Examples& examples, std::span<const Index> rows, Index step) {
  const bool ivon = options_.inference == Inference::Ivon;
  const CurvatureWanted wanted = ivon                                           ? CurvatureWanted::None
                                 : options_.curvature == Curvature::GaussNewton ? CurvatureWanted::GaussNewton
                                                                                : CurvatureWanted::Empirical;
  const Index samples = options_.weight_samples;
  const auto share = static_cast<float>(1.0 / static_cast<double>(samples));
  all_.gradient.setZero(mean_.size());
  all_.curvature.setZero(mean_.size());
  all_.log_likelihood = all_.square_residual = 0.0;
  noise_.resize(mean_.size());
  for (Index sample = 0; sample < samples; ++sample) {
    const auto key = static_cast<std::uint64_t>(step * samples + sample);
    if (sample % 2 == 0) {
      fill_noise(options_.seed, TrainStream::WeightNoise, key, threads_, noise_);
    } else {
      noise_ = -noise_;
    }
    weights_ = mean_ + deviation_.cwiseProduct(noise_);
    derivatives_.compute(weights_, likelihood_, examples, rows, wanted, {options_.seed, key}, one_);
    all_.gradient += share * one_.gradient;
    // Stein's identity: E[hessian] = E[gradient * noise / deviation].
    if (ivon) one_.curvature = one_.gradient.cwiseProduct(noise_).cwiseQuotient(deviation_);
    all_.curvature += share * one_.curvature;
    all_.log_likelihood += one_.log_likelihood / static_cast<double>(samples);
    all_.square_residual += one_.square_residual / static_cast<double>(samples);
  }
}

void VognLearner::update_posterior(const StepInfo& info) {
  const auto scale = static_cast<float>(likelihood_.scale());
  const auto prior_share = static_cast<float>(options_.temper / static_cast<double>(examples_));
  const auto rate = static_cast<float>(1.0 - options_.curvature_decay);
  if (options_.inference == Inference::Ivon) {
    // The second-order term keeps h + p/N positive whatever the estimate is.
    const FloatVector change = all_.curvature / scale - curvature_;
    const Eigen::ArrayXf total = curvature_.array() + prior_share / scale * prior_.precision.array();
    curvature_.array() += rate * change.array() + 0.5F * rate * rate * change.array().square() / total;
  } else {
    curvature_ = (1.0F - rate) * curvature_ + (rate / scale) * all_.curvature;
  }
  const auto kept = static_cast<float>(options_.momentum);
  const FloatVector pull = prior_.precision.cwiseProduct(mean_ - prior_.mean);
  momentum_ = kept * momentum_ + (1.0F - kept) * (all_.gradient + prior_share * pull);
  const double bias = 1.0 - std::pow(options_.momentum, static_cast<double>(info.step + 1));
  const auto length = static_cast<float>(info.learning_rate / bias);
  mean_.array() -= length * momentum_.array() /
                   (scale * curvature_.array() + prior_share * prior_.precision.array() +
                    static_cast<float>(options_.damping));
}

FloatRows VognLearner::outputs(const FloatRows& inputs, std::optional<Index> sample) const {
  if (!sample) return predict(net_, mean_, inputs, threads_);
  FloatVector weights(mean_.size());
  fill_noise(options_.seed, TrainStream::Evaluation, static_cast<std::uint64_t>(*sample), threads_, weights);
  weights = mean_ + weights.cwiseQuotient(precision().cwiseSqrt());
  const PassKey key{options_.seed, static_cast<std::uint64_t>(*sample)};
  return predict(net_, weights, inputs, threads_, &key);
}

double VognLearner::regulariser() const {
  const Eigen::ArrayXd ratio = precision().cast<double>().array() / prior_.precision.cast<double>().array();
  const Eigen::ArrayXd shift = (mean_ - prior_.mean).cast<double>().array();
  return -0.5 *
         (ratio.log() - 1.0 + ratio.inverse() + prior_.precision.cast<double>().array() * shift.square())
             .sum();
}

State VognLearner::state() const {
  return {{"mean", float_array(mean_)},
          {"curvature", float_array(curvature_)},
          {"momentum", float_array(momentum_)},
          {"noise_variance", number_array(likelihood_.noise_variance())}};
}

void VognLearner::restore(const State& state) {
  const Index count = net_.parameter_count();
  mean_ = read_float_array(state, "mean", count);
  curvature_ = read_float_array(state, "curvature", count);
  momentum_ = read_float_array(state, "momentum", count);
  likelihood_.set_noise_variance(read_number(state, "noise_variance"));
}

}  // namespace mixcert::lab
