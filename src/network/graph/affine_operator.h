// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Affine layers as operators, without a matrix that is written out: docs/theory/graphs.md (O.1). A layer is
// x -> (M + V) x + b + beta with fixed M and b and Gaussian V and beta of mean zero, which are made of
// standard normals of the layer's own. Tensors are columns of matrices, one for each draw.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "mixcert/network/dense_layer.h"
#include "mixcert/network/layer_spec.h"

namespace mixcert {

/// Activations that a layer's noise is replaced at: their mean and mean square over draws.
struct MeanActivations {
  Vector mean, square;
};

/// Fills a matrix with independent standard normals.
using NormalSource = std::function<void(Matrix&)>;

/// A number per draw.
using DrawRow = Eigen::ArrayXd;

class AffineOperator {
 public:
  AffineOperator() = default;
  AffineOperator(const AffineOperator&) = delete;
  AffineOperator& operator=(const AffineOperator&) = delete;
  virtual ~AffineOperator() = default;

  [[nodiscard]] virtual Index inputs() const = 0;
  [[nodiscard]] virtual Index outputs() const = 0;
  /// M x + b.
  [[nodiscard]] virtual Matrix apply(const Matrix& x) const = 0;
  /// M x.
  [[nodiscard]] virtual Matrix linear(const Matrix& x) const = 0;
  /// M' y.
  [[nodiscard]] virtual Matrix transpose(const Matrix& y) const = 0;

  /// Standard normals of one draw: one for each random parameter, or for each output where outputs are
  /// independent given x. Zero: the layer is not random.
  [[nodiscard]] virtual Index normals() const = 0;
  /// Are its random numbers weights that several outputs see, so that it is no dense layer's noise?
  [[nodiscard]] virtual bool has_shared_weights() const { return false; }
  /// Does every input draw its random numbers for itself?
  [[nodiscard]] virtual bool is_noise() const { return false; }
  /// (M + V) x + b + beta: draw i is made of column i of both.
  [[nodiscard]] virtual Matrix draw(const Matrix& x, const Matrix& normals) const = 0;
  /// One draw at several x: weights are the same at all of them, noise is not.
  [[nodiscard]] virtual Matrix draw_jointly(const Matrix& x, const NormalSource& source) const;
  /// The noise at fixed activations is a linear map R of the same normals: R' `cotangents`, a row for each
  /// normal and a column for each of these vectors on the layer's outputs.
  [[nodiscard]] virtual Matrix carried_noise(const MeanActivations& at, const Matrix& cotangents) const = 0;

  /// Of one draw: the transposed slope of draw() in x, (M + V)' where weights are drawn.
  [[nodiscard]] virtual Matrix slope_transpose(const Vector& /*x*/, const Vector& /*normals*/,
                                               const Matrix& cotangents) const {
    return transpose(cotangents);  // noise that does not look at x
  }

  // Second moments of the noise, for bounds without simulation (O.11), (O.12).

  /// Columns that vanish outside the rows [first_row, first_row + columns.rows()).
  struct NoiseBlock {
    Index first_row = 0;
    Matrix columns;
  };
  /// R(x), in any order of columns: R(x) R(x)' is the covariance of V x + beta.
  [[nodiscard]] virtual std::vector<NoiseBlock> noise_blocks(const Vector& x) const = 0;
  /// E V' Q V for a symmetric Q on the outputs.
  [[nodiscard]] virtual Matrix noise_gram(const Matrix& q) const = 0;
  struct Sizes {
    double mean_square = 0.0;  ///< |M|_F^2
    double noise_gram = 0.0;   ///< |E V'V|
    Index roundings = 0;  ///< in an entry of M x, M' y, R(x) and, of E V'QV, of one term of the sum over Q
  };
  /// None too small.
  [[nodiscard]] virtual Sizes sizes() const = 0;

  // Norms for proofs, none too small (O.6), (O.8).

  struct Norms {
    double mean = 0.0;  ///< |M|
    /// How much V can stretch has a norm of order q >= 2 of at most (noise + (q-2) noise_largest)^{1/2}.
    double noise = 0.0, noise_largest = 0.0;
  };
  /// May take as long as many draws: to be asked for once.
  [[nodiscard]] virtual Norms norms() const = 0;
  /// The noise at activations x as a linear map R(x) of the normals.
  struct NoiseAt {
    double largest = 0.0;  ///< |R(x)|
    double change = 0.0;   ///< |R(x) - R(x')| <= change |x - x'|
    double total = 0.0;    ///< |R(x)|_F^2
  };
  [[nodiscard]] virtual NoiseAt noise_at(const Vector& x) const = 0;
  /// What rounding adds to apply() at |x| <= size.
  [[nodiscard]] virtual double apply_error(double size) const = 0;
  /// How far draws are from exact ones of exact normals, each normal being off by at most `normal_error`,
  /// where x is off by `error`; norms() are given.
  [[nodiscard]] virtual DrawRow draw_error(const Norms& norms, const Matrix& x, const DrawRow& error,
                                           const Matrix& normals, double normal_error) const = 0;
};

using OperatorPointer = std::shared_ptr<const AffineOperator>;

/// Throws ResourceError where a few draws of so many numbers would not fit; layer_graph.cc.
void check_draw_bytes(const std::string& who, double numbers);

/// Kernels and biases as normals; convolution_operator.cc.
OperatorPointer convolution_operator(const Conv2dSpec& spec);
/// Outputs as normals; independent Gaussian weights alone: InvalidArgument for others. dense_operator.cc.
bool has_operator(const DenseLayer& layer);
OperatorPointer dense_operator(const DenseLayer& layer);
// plain_operators.cc.
OperatorPointer average_pool_operator(const Window2d& window, const LayerShape& shape);
/// scale_i x_i + shift_i, both computed from numbers of size |scale_i x_i| + sizes_i.
OperatorPointer scale_operator(Vector scale, Vector shift, const Vector& sizes);
/// Entries [first, first + size) of `inputs`.
OperatorPointer slice_operator(Index inputs, Index first, Index size);
/// x + offset + deviations o g.
OperatorPointer noise_operator(Vector deviations, Vector offset);

}  // namespace mixcert
