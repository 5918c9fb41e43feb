// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// A stack of dense layers on float matrices, rows being examples: forward, backward, and the squared
// derivatives that VOGN needs. All weights and biases lie in one flat vector,
//     W_0 (row by row), b_0, W_1, b_1, ...
// Eigen's products run at 55 GFLOP/s a core here; libtorch's at 2 with Debian's default BLAS, and
// chunks of a batch on our own threads make results independent of the number of threads.
#pragma once

#include <vector>

#include "mixcert/activation/activation.h"
#include "mixcert/core/rng.h"
#include "train/random_stream.h"

namespace mixcert::lab {

class DenseNet {
 public:
  using ConstRowsMap = Eigen::Map<const FloatRows>;
  using ConstVectorMap = Eigen::Map<const FloatVector>;

  /// `sizes` from input to output; `dropout_rates[k]` acts on the input of layer k.
  DenseNet(std::vector<Index> sizes, const Activation& activation, std::vector<double> dropout_rates);

  [[nodiscard]] Index layer_count() const { return static_cast<Index>(sizes_.size()) - 1; }
  [[nodiscard]] Index inputs() const { return sizes_.front(); }
  [[nodiscard]] Index outputs() const { return sizes_.back(); }
  [[nodiscard]] Index layer_inputs(Index k) const { return sizes_[static_cast<std::size_t>(k)]; }
  [[nodiscard]] Index layer_outputs(Index k) const { return sizes_[static_cast<std::size_t>(k) + 1]; }
  [[nodiscard]] Index parameter_count() const { return offsets_.back(); }
  [[nodiscard]] const Activation& activation() const { return activation_; }
  [[nodiscard]] double dropout_rate(Index k) const { return dropout_rates_[static_cast<std::size_t>(k)]; }
  [[nodiscard]] bool has_dropout() const;

  [[nodiscard]] ConstRowsMap weight(const float* parameters, Index k) const;
  [[nodiscard]] ConstVectorMap bias(const float* parameters, Index k) const;

  /// What the backward pass needs of the forward pass.
  struct Pass {
    std::vector<FloatRows> inputs;   ///< of each layer, after dropout
    std::vector<FloatRows> outputs;  ///< W a + b of each layer
    std::vector<FloatRows> scales;   ///< dropout factors on the inputs; empty matrix: none
  };
  /// Without a generator nothing is dropped.
  void forward(const float* parameters, const FloatRows& inputs, Generator* dropout, Pass& pass) const;

  /// Where results go; null: not wanted. Sums over the examples replace what is there.
  struct Sinks {
    float* gradient = nullptr;          ///< sum_n g_n
    float* squared_gradient = nullptr;  ///< sum_n g_n^2, entry by entry
    FloatRows* input_gradient = nullptr;
  };
  /// `output_gradient` has the derivative of each example's loss by its outputs. Since the gradient of
  /// example n by W_ij is d_ni a_nj, sum_n (d_ni a_nj)^2 is the product of squares D^2' A^2.
  void backward(const float* parameters, const Pass& pass, FloatRows output_gradient,
                const Sinks& sinks) const;

  /// Normal weights of variance gain / inputs (gain 2 for relu and its kin, else 1) and biases of
  /// variance 1 / inputs: with zero biases all neurons on one input would have their bend at zero.
  void set_initial_weights(Generator& generator, float* parameters) const;
  /// Multiplications and additions for one example, forward.
  [[nodiscard]] double flops_per_example() const { return 2.0 * static_cast<double>(parameter_count()); }

 private:
  std::vector<Index> sizes_;
  Activation activation_;
  std::vector<double> dropout_rates_;
  std::vector<Index> offsets_;  ///< of layer k in the flat vector; the last is the total
};

}  // namespace mixcert::lab
