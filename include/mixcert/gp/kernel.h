// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Covariance and mean functions of Gaussian processes (K.1, K.2).
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "mixcert/core/types.h"

namespace mixcert {

// Covariance functions of Gaussian processes (K.1): rbf, matern12, matern32, matern52, periodic, linear,
// constant, white, and their sums and products, written as text:
//
//     rbf(lengthscale=[1, 2, 0.5]) + white(variance=0.01)
//     linear(variance=2, center=0) * periodic(period=1, lengthscale=1)
//
// Points are the columns of a matrix. A list of length-scales (rbf and the three Materns) gives each
// coordinate its own; one number serves all. `periodic` is the product over coordinates.

namespace gp {
struct KernelNode;
}  // namespace gp

/// A value: copies share an immutable expression.
class Kernel {
 public:
  /// rbf(lengthscale=1, variance=1).
  Kernel();
  explicit Kernel(std::shared_ptr<const gp::KernelNode> node) : node_(std::move(node)) {}

  /// Throws InvalidArgument with the place in the text and what was expected there. Text is taken as
  /// untrusted: its length, depth, number of terms and lists are limited.
  static Kernel parse(std::string_view text);
  /// rbf with one length-scale for each coordinate.
  static Kernel rbf(ConstVectorRef lengthscales, double variance);

  /// Text that parse() reads back as the same kernel, parameters to the last bit.
  [[nodiscard]] std::string text() const;

  /// k(x_i, x_j). White noise is on the diagonal only: equal columns are two observations.
  [[nodiscard]] Matrix covariance(ConstMatrixRef inputs) const;
  /// k(a_i, b_j) without white noise.
  [[nodiscard]] Matrix cross(ConstMatrixRef a, ConstMatrixRef b) const;
  /// The diagonal of covariance(inputs).
  [[nodiscard]] Vector variances(ConstMatrixRef inputs) const;

  /// Logarithms of all parameters but `center`, which is itself. The order is that of the text.
  [[nodiscard]] Vector parameters() const;
  [[nodiscard]] Index parameter_count() const { return parameters().size(); }
  /// "rbf.lengthscale[0]", "rbf.variance", "2:white.variance" (the number of the term, where there are
  /// several).
  [[nodiscard]] std::vector<std::string> parameter_names() const;
  [[nodiscard]] Kernel with_parameters(ConstVectorRef parameters) const;
  /// Derivative of sum_ij weights_ij covariance(inputs)_ij in parameters() (K.2), in memory of a few n x n
  /// matrices whatever the number of parameters.
  [[nodiscard]] Vector weighted_gradient(ConstMatrixRef inputs, ConstMatrixRef weights) const;

  [[nodiscard]] Kernel operator+(const Kernel& other) const;
  [[nodiscard]] Kernel operator*(const Kernel& other) const;

 private:
  std::shared_ptr<const gp::KernelNode> node_;
};

// Mean functions of Gaussian processes, written as text:
//
//     zero        constant(value=1.5)        linear(weights=[1, -2], offset=0.5)
//
// The linear one is weights . x + offset; one number for `weights` serves all coordinates.

class MeanFunction {
 public:
  /// zero.
  MeanFunction() = default;
  static MeanFunction constant(double value);
  static MeanFunction linear(ConstVectorRef weights, double offset);

  /// Throws InvalidArgument with the place in the text and what was expected there.
  static MeanFunction parse(std::string_view text);
  [[nodiscard]] std::string text() const;

  /// One value for each column.
  [[nodiscard]] Vector at(ConstMatrixRef inputs) const;

  /// None; the value; weights and then the offset.
  [[nodiscard]] Vector parameters() const;
  [[nodiscard]] Index parameter_count() const { return parameters().size(); }
  [[nodiscard]] MeanFunction with_parameters(ConstVectorRef parameters) const;
  /// Derivative of weights . at(inputs) in parameters().
  [[nodiscard]] Vector weighted_gradient(ConstMatrixRef inputs, ConstVectorRef weights) const;

 private:
  enum class Kind { Zero, Constant, Linear };
  Kind kind_ = Kind::Zero;
  Vector weights_;
  bool weights_are_list_ = false;
  double offset_ = 0.0;  ///< the value of a constant
};

}  // namespace mixcert
