// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// What an error of a layer's outputs costs at the network's output, docs/theory/metrics.md (M.8).
#pragma once

#include <string>
#include <vector>

#include "ball_matrix.h"
#include "model.h"
#include "rounded_product.h"
#include "safetensors.h"

namespace mixcert_check {

/// factor |d|_Q for differences d of the outputs of a layer: (E d'Q d)^{1/2}.
struct Norm {
  Ball factor;
  Balls diagonal;   ///< of Q
  BallMatrix gram;  ///< M'QM, M the mean weights of the layer
  DoubleMatrix rounded_gram{gram};
};

/// The proof says that an inequality holds, and it could not be shown to. Exit status 1.
struct NotProven : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Of a chain of metrics that a proof names: element [k] is a list of norms on the outputs of layer k, whose
/// sum bounds the error at the network's output; element 0 is empty, since the first layer's law is exact.
/// Throws NotProven where a metric is not feasible.
std::vector<std::vector<Norm>> carried_norms(const Model& model, const Block& proof,
                                             const std::string& chain);

/// The same at the last layer, whatever the chain.
Norm output_norm(const Model& model);

}  // namespace mixcert_check
