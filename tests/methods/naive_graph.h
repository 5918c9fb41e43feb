// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Convolutional networks written out, with a matrix for each random number: what formal bounds of graphs are
// held against. Written from docs/theory/graphs.md (O.1), (O.11) and not from operators.
#pragma once

#include <vector>

#include "mixcert/network/layer_spec.h"
#include "network/graph/layer_graph.h"
#include "support/random_specs.h"

namespace mixcert::testing {

/// x -> (mean + sum_w n_w directions_w) x + bias + sum_w n_w shifts_w, n_w standard normals.
struct NaiveAffine {
  Matrix mean;
  Vector bias;
  std::vector<Matrix> directions;
  std::vector<Vector> shifts;
};

struct NaiveStep {
  enum class Kind { Affine, Activation, Maximum, Keep, AddKept, AppendKept };
  Kind kind = Kind::Affine;
  NaiveAffine affine;
  Activation activation;
  std::vector<std::vector<Index>> windows;  ///< of a maximum, over all values
};

/// A network twice: as layers, and written out.
class NaiveGraph {
 public:
  explicit NaiveGraph(const LayerShape& input) : shape_(input) {}

  void convolution(Generator& generator, Index out, Index kernel, Index padding, Index stride, double noise);
  void dense(Generator& generator, Index outputs, double noise);
  void activation(ActivationFunction function);
  void average_pool(Index size, Index stride);
  void max_pool(Index size, Index stride);
  void batch_norm(Generator& generator);
  /// A residual block of a 3 x 3 convolution and an activation.
  void residual(Generator& generator, ActivationFunction function, double noise);
  /// Channels of such a block, those in front of it behind them.
  void dense_block(Generator& generator, ActivationFunction function, double noise);

  [[nodiscard]] const LayerShape& shape() const { return shape_; }
  [[nodiscard]] LayerGraph graph() const { return build_graph(layers_); }

  struct Gaussian {
    Vector mean;
    Matrix covariance;
  };
  /// (O.11), every random number a column; maxima of windows by pairs (O.17).
  [[nodiscard]] Gaussian surrogate(const Vector& input);
  /// E |y - y^|^2 over draws with equal weights on both sides, and its standard error. surrogate() comes
  /// first.
  struct Cost {
    double mean = 0.0, error = 0.0;
  };
  [[nodiscard]] Cost coupled_cost(const Vector& input, Generator& generator, int draws) const;

 private:
  void append(LayerSpec layer, NaiveStep step);
  /// Values that each position of a window sees.
  [[nodiscard]] std::vector<std::vector<Index>> windows(Index size, Index stride) const;
  NaiveAffine written_out(const Conv2dSpec& spec) const;
  [[nodiscard]] Conv2dSpec random_kernel(Generator& generator, Index out, Index kernel, Index padding,
                                         Index stride, double noise) const;

  LayerShape shape_;
  std::vector<LayerSpec> layers_;
  std::vector<NaiveStep> steps_;
  // Of activations and maxima, in order: means, and the linear maps that stand for them.
  std::vector<Vector> means_;
  std::vector<Matrix> maps_;
};

}  // namespace mixcert::testing
