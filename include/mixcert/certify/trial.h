// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// What other options give at the same input: measured, not guessed.
#pragma once

#include <string>
#include <vector>

#include "mixcert/certify/certify.h"
#include "mixcert/network/ensemble.h"

namespace mixcert {

struct Trial {
  Options options;
  std::string change;  ///< "--pieces 4": what differs from the options it is compared with
  double w2_bound = 0.0;
  double seconds = 0.0;
  std::string failure;  ///< why there is no bound; empty when there is one
};

/// Options worth a try where `options` gave `result`: larger sizes, other metrics, the other method. All are
/// valid.
std::vector<Options> candidate_options(const Options& options, const Result& result);

/// "--pieces 4 --method moment": fields of `to` that differ from those of `from`.
std::string changed_options(const Options& from, const Options& to);

/// Certifies with `options` and then with each candidate, in order, for at most `seconds` in all; `inputs` as
/// certify() takes them. A trial that is cut off or refused says so. Throws Interrupted when services.cancel
/// is set.
std::vector<Trial> run_trials(const Ensemble& ensemble, ConstMatrixRef inputs, const Options& options,
                              const std::vector<Options>& candidates, double seconds,
                              const Services& services = {});

}  // namespace mixcert
