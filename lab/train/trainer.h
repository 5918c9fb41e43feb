// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The loop over epochs and steps: learning rate, epoch records, early stop, and the state from which
// an interrupted loop continues as if nothing had happened.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "mixcert/core/parallel.h"
#include "train/learner.h"
#include "train/train_options.h"

namespace mixcert::lab {

struct EpochRecord {
  Index epoch = 0;              ///< from 1
  double log_likelihood = 0.0;  ///< mean per example of the steps of this epoch
  double objective = 0.0;       ///< ELBO after the epoch, or log posterior, in nats over all examples
  double watched_score = 0.0;   ///< accuracy or RMSE of the mean network on the watched examples
  double watched_loss = 0.0;    ///< its negative log likelihood there
  double noise_std = 0.0;       ///< regression
};

struct TrainingData {
  const Examples* train = nullptr;
  const Examples* watched = nullptr;  ///< validation examples, or test examples that are only shown
  bool stop_by_watched = false;       ///< the watched examples decide about the early stop
};

struct LoopPlan {
  Index epochs = 0;
  double learning_rate = 0.0;
};

class Trainer {
 public:
  /// All arguments must outlive the trainer.
  Trainer(Learner& learner, const TrainingData& data, const TrainOptions& options, const LoopPlan& plan);

  struct Callbacks {
    std::function<void(const EpochRecord&)> epoch_done;
    std::function<void()> step_done;
    std::function<void()> keep_checkpoint;  ///< called at the times of --checkpoint-seconds
    const CancelFlag* cancel = nullptr;
  };
  /// Throws Interrupted after a last keep_checkpoint(); InvalidArgument where the loss is no longer a
  /// number.
  void run(const Callbacks& callbacks);

  [[nodiscard]] Index steps_per_epoch() const;
  [[nodiscard]] Index total_steps() const { return plan_.epochs * steps_per_epoch(); }
  [[nodiscard]] Index steps_done() const { return step_; }
  [[nodiscard]] const std::vector<EpochRecord>& history() const { return history_; }
  /// Everything, the learner's state included.
  [[nodiscard]] State state() const;
  void restore(const State& state);

 private:
  void take_step();
  void finish_epoch();
  /// True where the history says that no improvement is to be expected.
  [[nodiscard]] bool should_stop() const;
  [[nodiscard]] double quality(const EpochRecord& record) const;
  void keep_if_best();

  Learner& learner_;
  const TrainingData data_;
  const TrainOptions& options_;
  const LoopPlan plan_;
  Index step_ = 0;
  double epoch_log_likelihood_ = 0.0;  ///< sum over the steps of the current epoch, weighted by size
  std::vector<EpochRecord> history_;
  std::vector<Index> order_;
  Index order_epoch_ = -1;
  State best_;  ///< the learner's state after the best epoch; only with patience
};

}  // namespace mixcert::lab
