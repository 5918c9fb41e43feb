// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Functions drawn from a network whose weights and biases are independent, centred and normal, and the
// derivative of a number of those functions in the deviations. A deviation is softplus(rho), divided by the
// root of the layer's inputs for weights, as in the published code of Tran et al. (2022): one rho for the
// weights and one for the biases of each layer, or one for each weight and bias.
#pragma once

#include "mixcert/network/network.h"
#include "train/dense_net.h"

namespace mixcert::lab {

enum class Granularity { PerLayer, PerWeight };

class FunctionPrior {
 public:
  /// `points`: rows are inputs at which functions are taken; one output.
  FunctionPrior(std::vector<Index> sizes, const Activation& activation, Granularity granularity,
                FloatRows points);

  /// Every rho is one at the start.
  [[nodiscard]] FloatVector initial_parameters() const { return FloatVector::Ones(parameter_count()); }
  [[nodiscard]] Index parameter_count() const;
  [[nodiscard]] Index point_count() const { return points_.rows(); }

  /// `count` functions, one per row. The draw is a function of (seed, index) alone.
  [[nodiscard]] FloatRows draw(const FloatVector& parameters, Index count, std::uint64_t seed,
                               std::uint64_t index, int threads) const;
  /// Derivative in rho of a number whose derivative in the functions of the same draw is `slopes`. The
  /// functions are computed anew, which costs less than keeping what the backward pass needs.
  [[nodiscard]] FloatVector gradient(const FloatVector& parameters, const FloatRows& slopes,
                                     std::uint64_t seed, std::uint64_t index, int threads) const;

  [[nodiscard]] Network network(const FloatVector& parameters) const;

 private:
  /// Deviations of all weights and biases, in the order of DenseNet.
  [[nodiscard]] FloatVector deviations(const FloatVector& parameters) const;
  /// The standard normals behind one function's weights and biases.
  [[nodiscard]] FloatVector noise(std::uint64_t seed, std::uint64_t index, Index function) const;
  /// 1 / sqrt(inputs of the layer) for weights, 1 for biases.
  [[nodiscard]] FloatVector scales() const;
  /// Sums of `all`, in the order of DenseNet, over the weights and biases that share a rho.
  [[nodiscard]] FloatVector summed(const FloatVector& all) const;

  DenseNet net_;
  Granularity granularity_;
  FloatRows points_;
};

}  // namespace mixcert::lab
