// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The loop of a training.
#include "train/trainer.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numbers>

#include "mixcert/core/error.h"
#include "train/checkpoint.h"
#include "train/evaluation.h"

namespace mixcert::lab {
namespace {

using Clock = std::chrono::steady_clock;
constexpr Index kRecordColumns = 6;

/// Numbers of the samples that estimate the ELBO: the same in every epoch, so that it changes with the
/// posterior alone, and apart from those of the final table.
constexpr Index kElboSamples = 1'000'000;

Array history_array(const std::vector<EpochRecord>& history) {
  Array array{{static_cast<Index>(history.size()), kRecordColumns}, {}};
  for (const EpochRecord& r : history) {
    array.values.insert(array.values.end(), {static_cast<double>(r.epoch), r.log_likelihood, r.objective,
                                             r.watched_score, r.watched_loss, r.noise_std});
  }
  return array;
}

std::vector<EpochRecord> read_history(const Array& array) {
  std::vector<EpochRecord> history;
  for (std::size_t i = 0; i + kRecordColumns <= array.values.size(); i += kRecordColumns) {
    const double* v = array.values.data() + i;
    history.push_back({static_cast<Index>(v[0]), v[1], v[2], v[3], v[4], v[5]});
  }
  return history;
}

}  // namespace

Trainer::Trainer(Learner& learner, const TrainingData& data, const TrainOptions& options,
                 const LoopPlan& plan)
    : learner_(learner), data_(data), options_(options), plan_(plan) {}

Index Trainer::steps_per_epoch() const {
  return (data_.train->size() + options_.batch_size - 1) / options_.batch_size;
}

void Trainer::run(const Callbacks& callbacks) {
  Clock::time_point kept = Clock::now();
  while (step_ < total_steps() && !should_stop()) {
    if (callbacks.cancel != nullptr && callbacks.cancel->load()) {
      callbacks.keep_checkpoint();
      throw Interrupted("interrupted");
    }
    take_step();
    if (callbacks.step_done) callbacks.step_done();
    if (step_ % steps_per_epoch() == 0) {
      finish_epoch();
      if (callbacks.epoch_done) callbacks.epoch_done(history_.back());
    }
    if (std::chrono::duration<double>(Clock::now() - kept).count() >= options_.checkpoint_seconds) {
      callbacks.keep_checkpoint();
      kept = Clock::now();
    }
  }
  if (!best_.empty()) learner_.restore(best_);
}

void Trainer::take_step() {
  const Index epoch = step_ / steps_per_epoch();
  if (order_epoch_ != epoch) {
    order_ =
        shuffled(options_.seed, TrainStream::Shuffle, static_cast<std::uint64_t>(epoch), data_.train->size());
    order_epoch_ = epoch;
  }
  const Index begin = step_ % steps_per_epoch() * options_.batch_size;
  const Index size = std::min(options_.batch_size, data_.train->size() - begin);
  StepInfo info{step_, plan_.learning_rate};
  if (options_.schedule == Schedule::Cosine) {
    const double part = static_cast<double>(step_) / static_cast<double>(total_steps());
    info.learning_rate *= 0.5 * (1.0 + std::cos(std::numbers::pi * part));
  }
  const double value =
      learner_.step(*data_.train, {order_.data() + begin, static_cast<std::size_t>(size)}, info);
  if (!std::isfinite(value)) {
    throw InvalidArgument("training: the loss is no longer a number in epoch " + std::to_string(epoch + 1) +
                          "; try a smaller --learning-rate than " + format_number(options_.learning_rate));
  }
  epoch_log_likelihood_ += value * static_cast<double>(size);
  ++step_;
}

void Trainer::finish_epoch() {
  const auto examples = static_cast<double>(data_.train->size());
  EpochRecord record;
  record.epoch = step_ / steps_per_epoch();
  record.log_likelihood = epoch_log_likelihood_ / examples;
  epoch_log_likelihood_ = 0.0;
  // A further pass through convolutions would take as long as a third of the epoch's steps.
  const double expected =
      options_.is_variational() && learner_.is_stochastic() && !learner_.has_convolutions()
          ? expected_log_likelihood(learner_, *data_.train, kElboSamples, options_.elbo_samples)
          : record.log_likelihood;
  record.objective = examples * expected + learner_.regulariser();
  const Metrics watched = evaluate_mean(learner_, *data_.watched);
  record.watched_score = watched.score;
  record.watched_loss = watched.negative_log_likelihood;
  record.noise_std = std::sqrt(learner_.likelihood().noise_variance());
  history_.push_back(record);
  keep_if_best();
}

double Trainer::quality(const EpochRecord& record) const {
  return data_.stop_by_watched ? -record.watched_loss : record.objective;
}

void Trainer::keep_if_best() {
  if (options_.patience == 0) return;
  const auto better = [this](const EpochRecord& a, const EpochRecord& b) { return quality(a) < quality(b); };
  const auto best = std::max_element(history_.begin(), history_.end(), better);
  if (best == history_.end() - 1) best_ = learner_.state();
}

bool Trainer::should_stop() const {
  if (options_.patience == 0 || history_.empty() || step_ % steps_per_epoch() != 0) return false;
  const auto better = [this](const EpochRecord& a, const EpochRecord& b) { return quality(a) < quality(b); };
  const auto best = std::max_element(history_.begin(), history_.end(), better);
  return history_.end() - 1 - best >= options_.patience;
}

State Trainer::state() const {
  State state = with_prefix("learner.", learner_.state());
  state.merge(with_prefix("best.", best_));
  state["step"] = number_array(static_cast<double>(step_));
  state["epoch_log_likelihood"] = number_array(epoch_log_likelihood_);
  if (!history_.empty()) state["history"] = history_array(history_);
  return state;
}

void Trainer::restore(const State& state) {
  learner_.restore(without_prefix("learner.", state));
  best_ = without_prefix("best.", state);
  step_ = static_cast<Index>(read_number(state, "step"));
  epoch_log_likelihood_ = read_number(state, "epoch_log_likelihood");
  history_.clear();
  if (const auto found = state.find("history"); found != state.end()) history_ = read_history(found->second);
}

}  // namespace mixcert::lab
