// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Weights are m0 + sd z with z standard normal under the prior, so that one step length suits all of them:
//     U(z) = -log p(D | m0 + sd z) + |z|^2 / 2,     H = U + |momentum|^2 / 2.
// Leapfrog steps conserve H up to an error that the acceptance corrects; their length is drawn within a fifth
// of its value, against trajectories that return to where they began.
#include "train/hmc_posterior.h"

#include <cmath>
#include <numeric>

#include "mixcert/core/error.h"

namespace mixcert::lab {
namespace {

/// Burn-in moves the step length up after an acceptance and down after a refusal; in balance three of four.
constexpr double kLonger = 1.05;
constexpr double kShorter = 0.86;
constexpr std::uint64_t kMomentum = 0xA110;

struct Place {
  FloatVector z, gradient;
  double energy = 0.0;
};

class Sampler {
 public:
  Sampler(const StackNet& net, const DiagonalPrior& prior, const Likelihood& likelihood,
          const Examples& examples, const HmcOptions& options, int threads)
      : prior_(prior),
        deviation_(prior.precision.cwiseSqrt().cwiseInverse()),
        likelihood_(likelihood),
        examples_(examples),
        options_(options),
        threads_(threads),
        derivatives_(net, threads),
        step_(options.first_step),
        rows_(static_cast<std::size_t>(examples.size())) {
    std::iota(rows_.begin(), rows_.end(), Index{0});
    here_.z = (net.initial_weights(options.seed) - prior.mean).cwiseQuotient(deviation_);
    evaluate(here_);
  }

  /// One trajectory; true when its end was accepted.
  bool move(Index number) {
    Generator generator =
        make_generator(options_.seed, Stream::Example, kMomentum, static_cast<std::uint64_t>(number));
    FloatVector momentum(here_.z.size());
    fill_noise(options_.seed, TrainStream::WeightNoise, static_cast<std::uint64_t>(number), threads_,
               momentum);
    const double before = here_.energy + 0.5 * momentum.cast<double>().squaredNorm();
    const auto length = static_cast<float>(step_ * (0.8 + 0.4 * uniform(generator)));
    Place there = here_;
    for (Index i = 0; i < options_.leapfrog_steps; ++i) {
      momentum -= 0.5F * length * there.gradient;
      there.z += length * momentum;
      evaluate(there);
      momentum -= 0.5F * length * there.gradient;
    }
    const double gain = before - there.energy - 0.5 * momentum.cast<double>().squaredNorm();
    const bool accepted = std::isfinite(gain) && std::log(uniform(generator)) < gain;
    if (accepted) here_ = std::move(there);
    return accepted;
  }

  void adapt(bool accepted) { step_ *= accepted ? kLonger : kShorter; }
  [[nodiscard]] double step() const { return step_; }
  [[nodiscard]] FloatVector weights() const { return weights(here_.z); }

 private:
  [[nodiscard]] FloatVector weights(const FloatVector& z) const {
    return prior_.mean + deviation_.cwiseProduct(z);
  }

  void evaluate(Place& place) {
    derivatives_.compute(weights(place.z), likelihood_, examples_, rows_, CurvatureWanted::None,
                         {options_.seed, 0}, means_);
    const auto count = static_cast<double>(examples_.size());
    place.energy = -count * means_.log_likelihood + 0.5 * place.z.cast<double>().squaredNorm();
    place.gradient = static_cast<float>(count) * deviation_.cwiseProduct(means_.gradient) + place.z;
  }

  const DiagonalPrior& prior_;
  FloatVector deviation_;
  const Likelihood& likelihood_;
  const Examples& examples_;
  HmcOptions options_;
  int threads_;
  BatchDerivatives derivatives_;
  BatchMeans means_;
  double step_;
  std::vector<Index> rows_;
  Place here_;
};

}  // namespace

const OptionTable<HmcOptions>& hmc_option_table() {
  using Options = HmcOptions;
  static const OptionTable<Options> table = {
      integer_option<Options, Index>("leapfrog-steps", &Options::leapfrog_steps, 1, 100000,
                                     "steps of one trajectory"),
      integer_option<Options, Index>("burn-in", &Options::burn_in, 0, 1000000,
                                     "trajectories before the first kept"),
      integer_option<Options, Index>("samples", &Options::samples, 1, 100000, "trajectories kept"),
      real_option("first-step", &Options::first_step, 0.0, "step length at the start, prior's deviations"),
      integer_option<Options, std::uint64_t>("seed", &Options::seed, 0, UINT64_MAX, "of start and momenta"),
  };
  return table;
}

HmcSamples sample_posterior(const StackNet& net, const DiagonalPrior& prior, const Likelihood& likelihood,
                            const Examples& examples, const HmcOptions& options, int threads,
                            const CancelFlag* cancel) {
  require(!net.conv && !net.has_dropout(), "sample_posterior: expected dense layers without dropout");
  Sampler sampler(net, prior, likelihood, examples, options, threads);
  HmcSamples result;
  Index accepted = 0;
  for (Index i = 0; i < options.burn_in + options.samples; ++i) {
    if (cancel != nullptr && cancel->load()) throw Interrupted("interrupted");
    const bool moved = sampler.move(i);
    if (i < options.burn_in) {
      sampler.adapt(moved);
      continue;
    }
    accepted += moved ? 1 : 0;
    result.networks.push_back(sampler.weights());
  }
  result.acceptance = static_cast<double>(accepted) / static_cast<double>(options.samples);
  result.step = sampler.step();
  return result;
}

}  // namespace mixcert::lab
