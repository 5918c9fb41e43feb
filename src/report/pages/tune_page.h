// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The HTML report of `mixcert tune`.
#pragma once

#include <string>
#include <vector>

#include "mixcert/statistics/prior_comparison.h"
#include "mixcert/tune/tune.h"
#include "report/pages/page_parts.h"

namespace mixcert::page {

/// Network and target at some of the inputs, the first output: covariances, and functions drawn where inputs
/// are numbers.
struct PriorPicture {
  int side = 0;
  std::vector<double> target_covariance, network_covariance;  ///< row-major; the network's from samples
  Index samples = 0;
  std::vector<double> x;  ///< rising; empty where inputs are no numbers
  std::vector<std::vector<double>> target_functions, network_functions;
};

/// `network` simulated with this seed on `threads` threads.
PriorPicture prior_picture(const Network& network, const TuneProblem& problem, std::uint64_t seed,
                           int threads);

struct TuneContents {
  RunFacts run;  ///< without models
  std::string target;
  std::string inputs_file;
  std::string prior_file;
  Index inputs = 0;
  Index held_out = 0;
  Index parameter_count = 0;
  double seconds = 0.0;  ///< of the steps
  bool resumed = false;
  std::vector<TuneStep> history;
  PriorComparison comparison;
  PriorPicture picture;
};

Page tune_page(const TuneContents& contents);

}  // namespace mixcert::page
