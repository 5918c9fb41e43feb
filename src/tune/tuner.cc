// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// One step of prior selection: the target at a batch of inputs, and Adam (Kingma and Ba 2015) with a cosine
// schedule.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <numeric>
#include <string>
#include <utility>

#include "mixcert/core/error.h"
#include "mixcert/core/rng.h"
#include "mixcert/tune/tune.h"

namespace mixcert {
namespace {

/// Covariance and mean of independent copies, input-major.
Gaussian copies_of(const Gaussian& one, Index copies) {
  if (copies == 1) return one;
  const Matrix covariance = one.covariance.to_dense();
  const Index inputs = one.dimension();
  Matrix all = Matrix::Zero(inputs * copies, inputs * copies);
  Vector mean(inputs * copies);
  for (Index d = 0; d < inputs; ++d) {
    mean.segment(d * copies, copies).setConstant(one.mean(d));
    for (Index e = 0; e < inputs; ++e) {
      all.block(d * copies, e * copies, copies, copies).diagonal().setConstant(covariance(d, e));
    }
  }
  return {std::move(mean), Covariance::dense(std::move(all))};
}

}  // namespace

std::string fingerprint(ConstMatrixRef numbers) {
  std::uint64_t hash = split_mix(static_cast<std::uint64_t>(numbers.cols()));
  for (Index j = 0; j < numbers.cols(); ++j) {
    for (Index i = 0; i < numbers.rows(); ++i)
      hash = split_mix(hash ^ std::bit_cast<std::uint64_t>(numbers(i, j)));
  }
  std::string digits(16, '0');
  for (char& digit : digits) {
    digit = "0123456789abcdef"[hash & 15U];
    hash >>= 4U;
  }
  return digits;
}

Matrix TuneProblem::inputs_at(const std::vector<Index>& chosen) const { return inputs(Eigen::all, chosen); }

TuneProblem process_problem(const GaussianProcess& process, Matrix inputs, Index outputs) {
  TuneProblem problem{std::move(inputs), outputs, {}, process.mean.text() + " + " + process.kernel.text()};
  require(problem.inputs.cols() > 0, "tune: expected at least one input");
  // Finds a kernel that does not fit before the work begins.
  static_cast<void>(process.law(problem.inputs.leftCols(1)));
  problem.target = [process, columns = problem.inputs, outputs](const std::vector<Index>& chosen) {
    return GaussianMixture(copies_of(process.law(columns(Eigen::all, chosen)), outputs));
  };
  return problem;
}

TuneProblem mixture_problem(GaussianMixture mixture, Matrix inputs, Index outputs) {
  require(mixture.dimension() == inputs.cols() * outputs,
          "tune: expected a target over " + std::to_string(inputs.cols() * outputs) + " numbers (" +
              std::to_string(outputs) + " at each of " + std::to_string(inputs.cols()) + " inputs), got " +
              std::to_string(mixture.dimension()));
  TuneProblem problem{std::move(inputs),
                      outputs,
                      {},
                      "mixture " + fingerprint(mixture.mean()) + fingerprint(mixture.covariance())};
  problem.target = [mixture = std::move(mixture), outputs](const std::vector<Index>& chosen) {
    std::vector<Index> coordinates;
    for (const Index d : chosen) {
      for (Index l = 0; l < outputs; ++l) coordinates.push_back(d * outputs + l);
    }
    return mixture.marginal(coordinates);
  };
  return problem;
}

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
