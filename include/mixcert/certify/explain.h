// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Why a bound is what it is: certifies once more and takes the bound apart (X.1) - (X.4).
#pragma once

#include <optional>
#include <vector>

#include "mixcert/certificate/contribution.h"
#include "mixcert/certify/certify.h"
#include "mixcert/network/ensemble.h"

namespace mixcert {

struct Explanation {
  Result result;  ///< as certify() gives it, without statistics
  /// What each network of the ensemble adds to the bound (X.4).
  std::vector<double> members;
  /// The one that adds most; all below is its own.
  Index member = 0;
  Result member_result;
  BoundContributions contributions;
  /// What simulation can be expected to give, where the bound is above a tenth of the output's size; an
  /// estimate.
  std::optional<SimulationForecast> forecast;
};

/// At one input, or jointly at the columns of `inputs` when options.joint. Throws what certify() throws, and
/// InvalidArgument for method cross, which has no bound.
Explanation explain(const Ensemble& ensemble, ConstMatrixRef inputs, const Options& options,
                    const Services& services = {});

}  // namespace mixcert
