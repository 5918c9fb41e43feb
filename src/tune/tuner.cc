// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Adam (Kingma and Ba 2015) with a cosine schedule.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <string>
#include <utility>

#include "mixcert/core/error.h"
#include "mixcert/core/rng.h"
#include "mixcert/tune/tune.h"

namespace mixcert {
namespace {

constexpr double kMomentumDecay = 0.9;
constexpr double kSquareDecay = 0.999;
constexpr double kLeastDivisor = 1e-8;

/// The first `count` of a random permutation, in increasing order.
std::vector<Index> choose(std::vector<Index> from, Index count, Generator& generator) {
  const auto size = static_cast<Index>(from.size());
  for (Index i = 0; i < std::min(count, size); ++i) {
    const auto other = i + static_cast<Index>(uniform(generator) * static_cast<double>(size - i));
    std::swap(from[static_cast<std::size_t>(i)], from[static_cast<std::size_t>(std::min(other, size - 1))]);
  }
  from.resize(static_cast<std::size_t>(std::min(count, size)));
  std::sort(from.begin(), from.end());
  return from;
}

}  // namespace

Tuner::Tuner(const TuneProblem& problem, const TuneOptions& options)
    : problem_(problem), options_(options), parameters_(options.parameters()) {
  options.validate();
  const Index count = problem.inputs.cols();
  require(problem.inputs.rows() == parameters_.widths().front(),
          "option --arch: expected " + std::to_string(problem.inputs.rows()) +
              " inputs, as the file of inputs has, got '" + options.arch + "'");
  require(
      problem.outputs == parameters_.widths().back(),
      "option --arch: expected " + std::to_string(problem.outputs) + " outputs, got '" + options.arch + "'");
  require(problem.inputs.allFinite(), "tune: expected finite inputs");
  require(count > options.held_out, "option --held-out: expected fewer than the " + std::to_string(count) +
                                        " inputs, got " + std::to_string(options.held_out));
  std::vector<Index> all(static_cast<std::size_t>(count));
  std::iota(all.begin(), all.end(), 0);
  Generator generator = make_generator(options.seed, Stream::Tuning, 1);
  held_out_ = choose(all, options.held_out, generator);
  std::set_difference(all.begin(), all.end(), held_out_.begin(), held_out_.end(),
                      std::back_inserter(training_));
  state_.parameters =
      parameters_.start(options.prior == PriorForm::PerLayer ? 0.0 : options.jitter, options.seed);
  state_.momentum = state_.squares = Vector::Zero(parameters_.size());
}

void Tuner::restore(TuneState state) {
  const bool fits = state.parameters.size() == parameters_.size() &&
                    state.momentum.size() == parameters_.size() &&
                    state.squares.size() == parameters_.size() && state.step >= 0;
  require(fits, "tune: expected a state of " + std::to_string(parameters_.size()) + " parameters, got " +
                    std::to_string(state.parameters.size()));
  state_ = std::move(state);
}

std::vector<Index> Tuner::draw_batch(Index step) const {
  Generator generator = make_generator(options_.seed, Stream::Tuning, 2, static_cast<std::uint64_t>(step));
  return choose(training_, options_.batch, generator);
}

TuneStep Tuner::step() {
  const Index number = state_.step + 1;
  const std::vector<Index> batch = draw_batch(number);
  const GaussianMixture target = problem_.target(batch);
  const Network current = network();
  const ObjectiveValue value =
      evaluate_objective(current, problem_.inputs_at(batch), target, options_.objective(), true);
  move(parameters_.gradient(state_.parameters, value.gradient));
  return {number, value.objective, value.bound, value.distance, std::sqrt(target.second_moment())};
}

void Tuner::move(const Vector& gradient) {
  if (!gradient.allFinite()) throw Error("tune: the objective has no derivatives here: a bound overflowed");
  ++state_.step;
  const double t = static_cast<double>(state_.step);
  state_.momentum = kMomentumDecay * state_.momentum + (1.0 - kMomentumDecay) * gradient;
  state_.squares = kSquareDecay * state_.squares + (1.0 - kSquareDecay) * gradient.cwiseAbs2();
  const double progress = (t - 1.0) / static_cast<double>(options_.steps);
  const double rate = options_.learning_rate * 0.5 * (1.0 + std::cos(std::numbers::pi * progress));
  const double of_momentum = 1.0 - std::pow(kMomentumDecay, t);
  const double of_squares = 1.0 - std::pow(kSquareDecay, t);
  state_.parameters.array() -= rate * (state_.momentum.array() / of_momentum) /
                               ((state_.squares.array() / of_squares).sqrt() + kLeastDivisor);
}

}  // namespace mixcert
