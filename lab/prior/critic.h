// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The critic of Tran et al. (2022): a softplus network of two hidden layers on function values, trained to
// tell two samples of functions apart, its slope held near one by a gradient penalty. Then the difference of
// its means over the two samples estimates W1. Losses and derivatives in float, one flat vector
//     W_1 (row by row), b_1, W_2, b_2, w_3;
// a bias of the output would cancel in every difference and is left out.
#pragma once

#include <vector>

#include "train/random_stream.h"

namespace mixcert::lab {

struct CriticLoss {
  double difference = 0.0;  ///< mean over network functions minus mean over target functions
  double penalty = 0.0;     ///< mean of (|slope| - 1)^2 at the mixed functions
};

class Critic {
 public:
  Critic(Index inputs, Index width);

  [[nodiscard]] Index inputs() const { return inputs_; }
  [[nodiscard]] Index parameter_count() const { return width_ * (inputs_ + 1 + width_ + 1 + 1); }
  /// Weights of variance 2 / (fan-in + fan-out), biases standard normal.
  [[nodiscard]] FloatVector initial_parameters(Generator& generator) const;

  /// Loss  penalty_weight * penalty - difference  and its gradient, which replaces what is in `gradient`.
  /// Rows of `network` and `target` are functions; mixing(i) is the share of the network's function i in the
  /// mixed function i at which the slope is taken. Results do not depend on `threads`.
  CriticLoss loss(const FloatVector& parameters, const FloatRows& network, const FloatRows& target,
                  const FloatVector& mixing, double penalty_weight, int threads, FloatVector& gradient) const;

  struct Slopes {
    FloatVector values;  ///< the critic at each function
    FloatRows slopes;    ///< its derivative in the function's values
  };
  [[nodiscard]] Slopes slopes(const FloatVector& parameters, const FloatRows& functions) const;

 private:
  /// The parameters as matrices.
  template <class Scalar>
  struct View;
  /// The functions [begin, begin + count) of a loss over `total` functions.
  struct Batch;
  [[nodiscard]] CriticLoss add_batch(const FloatVector& parameters, const Batch& batch,
                                     FloatVector& gradient) const;

  Index inputs_;
  Index width_;
};

}  // namespace mixcert::lab
