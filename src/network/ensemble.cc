// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Weighted sets of networks.
#include "mixcert/network/ensemble.h"

#include <cmath>
#include <string>
#include <utility>

#include "mixcert/core/error.h"
#include "mixcert/core/option_table.h"

namespace mixcert {

Ensemble::Ensemble(std::vector<Network> members, Vector weights)
    : members_(std::move(members)), weights_(std::move(weights)) {
  require(!members_.empty(), "ensemble: needs at least one network");
  require(static_cast<Index>(members_.size()) == weights_.size(),
          "ensemble: expected " + std::to_string(members_.size()) + " weights, one per network, got " +
              std::to_string(weights_.size()));
  require(weights_.allFinite() && weights_.minCoeff() > 0.0 && std::abs(weights_.sum() - 1.0) <= 1e-9,
          "ensemble: expected positive weights that sum to 1, got a sum of " + format_number(weights_.sum()));
  weights_ /= weights_.sum();
  for (const Network& member : members_) {
    require(member.inputs() == inputs() && member.outputs() == outputs(),
            "ensemble: expected networks with " + std::to_string(inputs()) + " inputs and " +
                std::to_string(outputs()) + " outputs, got one with " + std::to_string(member.inputs()) +
                " and " + std::to_string(member.outputs()));
  }
}

Ensemble::Ensemble(Network network) : Ensemble({std::move(network)}, Vector::Ones(1)) {}

}  // namespace mixcert
