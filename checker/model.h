// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The network of a model file, as far as the checker knows networks: dense layers with independent normal
// weights and biases, Kronecker products, or fixed ones, and an activation and perhaps dropout between each
// two.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "activation.h"
#include "ball_matrix.h"
#include "mask.h"
#include "safetensors.h"
#include "weight_law.h"

namespace mixcert_check {

/// y = W a + b, W and b normal and independent of each other.
struct Layer {
  long inputs = 0, outputs = 0;
  BallMatrix mean{0, 0};                      ///< of W
  BallMatrix variance{0, 0};                  ///< of W, where its entries are independent
  bool is_random = false;                     ///< has W any?
  std::optional<WeightLaw> dependent;         ///< of W, where they are not
  std::optional<BallMatrix> correlated_bias;  ///< covariance of b, where its entries are not independent
  std::vector<double> bias_mean;              ///< zeros where there is none
  std::vector<double> bias_variance;          ///< zeros where it is fixed

  [[nodiscard]] bool has_independent_outputs() const { return !dependent && !correlated_bias; }
  [[nodiscard]] BallMatrix bias_covariance() const;
};

struct Model {
  std::string sha256;  ///< of the file, in hexadecimal digits
  std::vector<Layer> layers;
  std::vector<Activation> activations;  ///< [k] stands between layers k and k + 1
  std::vector<Mask> masks;              ///< [k] behind activation k
};

/// Throws BadFile, which says so where the network is one that the checker does not cover.
Model read_model(const std::string& path);
/// The same from the bytes of a file.
Model parse_model(const std::string& bytes);

}  // namespace mixcert_check
