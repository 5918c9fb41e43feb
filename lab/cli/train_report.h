// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// What a training reports at its end, for people and for programs.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "data/load.h"
#include "train/hmc_posterior.h"
#include "train/train.h"

namespace mixcert::lab {

/// An error, or an accuracy in percent.
std::string score_text(double score, bool regression);

std::string train_text(const Dataset& data, const TrainOptions& options, const TrainSummary& summary);

/// Scores of the mean network and of the average of networks; in regression also in the data's units.
nlohmann::ordered_json train_json(const Dataset& data, const DataRequest& request,
                                  const TrainOptions& options, const TrainSummary& summary);

/// The same of networks that were sampled: `summary` has seconds, noise and the scores of the average.
std::string hmc_text(const Dataset& data, const HmcSamples& samples, const TrainSummary& summary);
nlohmann::ordered_json hmc_json(const Dataset& data, const DataRequest& request, const TrainOptions& model,
                                const HmcOptions& options, const HmcSamples& samples,
                                const TrainSummary& summary);

}  // namespace mixcert::lab
