// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The certificate of the moment method, docs/theory/checking.md (I.1), for one Gaussian: the laws of all
// layers are computed in balls, the local errors are carried to the output by the metrics that the proof
// names, and what is left is the distance to the Gaussian that the proof claims.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "local_error.h"

namespace mixcert_check {

/// What was checked at one input.
struct Checked {
  long input = 0;
  double claimed = 0.0;  ///< the bound of the proof
  double proven = 0.0;   ///< a bound of W2 that the checker computed; no more than the claimed one
};

/// A proof of a model: its first block, with the metrics.
class Proof {
 public:
  /// Throws BadFile, and NotProven where the proof is about another model.
  Proof(const Model& model, Block head);

  /// Of a block of one input. Throws NotProven, which names the inequality.
  Checked check(const Block& claim);

 private:
  /// By layers in doubles, or without: exact.
  Checked check(const Block& claim, const std::vector<RoundedLayer>& rounded);
  /// Of a chain: its metrics are proven when they are first needed.
  const std::vector<std::vector<Norm>>& norms(const std::string& chain);

  const Model& model_;
  Block head_;
  std::vector<RoundedLayer> rounded_layers_;
  std::vector<Norm> output_norm_;  ///< one
  std::map<std::string, std::vector<std::vector<Norm>>> norms_;
};

}  // namespace mixcert_check
