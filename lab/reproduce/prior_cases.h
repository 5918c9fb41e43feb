// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Priors of one-dimensional tanh networks beside a Gaussian process with an rbf kernel: isotropic, with
// variances 1/fan-in, tuned by `mixcert tune`'s library, and the critic's.
#pragma once

#include <string>

#include "mixcert/gp/gaussian_process.h"
#include "mixcert/network/network.h"
#include "reproduce/experiment.h"

namespace mixcert::lab {

enum class PriorKind { Isotropic, FanIn, Tuned, Critic };

struct PriorCase {
  std::string arch;  ///< "1-64-64-1"
  std::string lengthscale;
  PriorKind kind = PriorKind::Isotropic;

  /// "rbf(lengthscale=0.5)".
  [[nodiscard]] std::string kernel() const { return "rbf(lengthscale=" + lengthscale + ")"; }
};

std::string_view to_string(PriorKind kind);
GaussianProcess process_of(const PriorCase& prior);

struct MadePrior {
  std::filesystem::path file;
  std::string sha256;
  std::string command;  ///< that makes it
  Network network;
};

/// From its file below out/priors, made where that is missing. The critic's is a reduced run (far fewer steps
/// than published): enough for a picture, not for a table.
MadePrior make_prior(const Context& context, const PriorCase& prior);

/// Inputs to tune at: a low-discrepancy sequence in [-1,1]; columns.
Matrix tuning_points();
/// The middles of twenty equal parts of [-1,1].
Matrix judged_points();

}  // namespace mixcert::lab
