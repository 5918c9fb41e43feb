// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// A training from data to model file. A training that was interrupted or killed continues from its
// checkpoint and ends with the same file, bit for bit, as one that was not.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "data/dataset.h"
#include "mixcert/core/parallel.h"
#include "train/evaluation.h"
#include "train/train_options.h"
#include "train/trainer.h"

namespace mixcert::lab {

/// Networks drawn for the final figures.
inline constexpr Index kFinalSamples = 100;
/// Training examples in the final figures; drawing 100 networks for all of them would take as long as
/// the training.
inline constexpr Index kFinalTrainExamples = 10000;
/// Examples of either set for which networks with dropout in their convolutions are drawn: each draw is a
/// whole forward pass.
inline constexpr Index kFinalConvolutionExamples = 1000;

struct TrainServices {
  /// A part of the training begins: its name, and how many steps it has and had done before.
  std::function<void(const std::string& name, Index steps, Index done)> stage;
  std::function<void(const EpochRecord&)> epoch;
  std::function<void()> step;
  const CancelFlag* cancel = nullptr;
};

struct TrainSummary {
  std::vector<EpochRecord> history;  ///< of the dense layers' training
  Metrics train_mean, test_mean;
  std::optional<Metrics> train_samples, test_samples;  ///< where the network is stochastic
  Index sampled_examples = 0;                          ///< at most this many of either set for them
  double objective = 0.0;                              ///< ELBO, or log posterior less a constant
  std::optional<double> noise_std;                     ///< regression, of the standardised target
  double seconds = 0.0;                                ///< of training, earlier runs included
  bool resumed = false;
  std::vector<std::filesystem::path> files;
  std::vector<std::string> remarks;  ///< what a file does not say
};

/// Where the state is kept.
std::filesystem::path checkpoint_path(const TrainOptions& options, const std::filesystem::path& out);

/// Writes `out` and, with a backbone or dropout, files beside it. Throws Interrupted once the
/// checkpoint is in place, and Diverged (divergence.h) in place of writing a network that is of no use.
TrainSummary train(const Dataset& data, const TrainOptions& options, const std::filesystem::path& out,
                   const TrainServices& services = {});

}  // namespace mixcert::lab
