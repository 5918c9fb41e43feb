// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The Gaussian process that a regression data set suggests: zero mean, rbf kernel, parameters of the largest
// marginal likelihood. Its kernel is what priors of networks are tuned to, its scores what they are compared
// with.
#pragma once

#include "data/dataset.h"
#include "mixcert/core/option_table.h"
#include "mixcert/gp/gaussian_process.h"

namespace mixcert::lab {

enum class LengthscaleChoice {
  Ard,        ///< one for each input
  Isotropic,  ///< one for all
  Auto,       ///< whichever has the larger marginal likelihood
};

struct TableProcessOptions {
  LengthscaleChoice lengthscales = LengthscaleChoice::Auto;
  /// Training examples that parameters are fitted on; 0: all. Predictions use all examples.
  Index subset_size = 1000;
  /// Starts of each fit.
  Index starts = 2;
  Index most_evaluations = 150;
  std::uint64_t seed = 0;
  /// Noisy copies of each training input among the inputs for tuning.
  Index copies = 1;
  /// Their noise's standard deviation, in units of the standardised inputs.
  double copy_noise = 0.2;
};

const OptionTable<TableProcessOptions>& table_process_table();

struct TableProcess {
  GpFit fit;
  std::optional<double> isotropic_likelihood;  ///< where it was fitted
  std::optional<double> ard_likelihood;
  bool ard = false;      ///< what was chosen
  double jitter = 0.0;   ///< beyond the noise, with all examples
  GpScores train, test;  ///< standardised target
  double target_scale = 1.0;

  /// Of the target in its own units: a density is divided by the scale.
  [[nodiscard]] GpScores in_data_units(const GpScores& scores) const;
};

/// Throws InvalidArgument unless the data are a regression with one output.
TableProcess fit_table_process(const Dataset& data, const TableProcessOptions& options,
                               const CancelFlag* cancel);

/// The training inputs, and behind them `copies` times the same with independent normal noise. Columns are
/// points.
Matrix tuning_inputs(const FloatRows& inputs, Index copies, double noise, std::uint64_t seed);

}  // namespace mixcert::lab
