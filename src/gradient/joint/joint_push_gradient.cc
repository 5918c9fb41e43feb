// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// docs/theory/gradients.md (Z.68). Where the neurons are independent the signal's covariance is handled one
// pair of inputs at a time, as in the forward pass.
#include "gradient/joint/joint_gradient.h"

namespace mixcert {
namespace {

using Strided = Eigen::Map<const Matrix, 0, Eigen::Stride<Eigen::Dynamic, Eigen::Dynamic>>;

/// Entries (l, d), (l', e) of a matrix over (output, input), for one pair of inputs.
Strided pair_of_inputs(const Matrix& whole, Index d, Index e, Index input_count) {
  const Index count = whole.rows() / input_count;
  return {whole.data() + e * whole.rows() + d, count, count,
          Eigen::Stride<Eigen::Dynamic, Eigen::Dynamic>(input_count * whole.rows(), input_count)};
}

/// (M' (x) I) X (M (x) I) restricted to blocks of single neurons, and the derivative in M.
void pull_blocks(const Matrix& m, const Covariance& scaled, const Matrix& of, Index input_count,
                 Matrix& of_scaled, Matrix& of_m) {
  const Matrix& blocks = scaled.stacked_blocks();
  const Index neurons = m.cols();
  of_scaled.resize(neurons * input_count, input_count);
  for (Index d = 0; d < input_count; ++d) {
    for (Index e = 0; e < input_count; ++e) {
      const Matrix back = pair_of_inputs(of, d, e, input_count) * m;
      const Vector diagonal = m.cwiseProduct(back).colwise().sum().transpose();
      Vector values(neurons);
      for (Index j = 0; j < neurons; ++j) {
        of_scaled(j * input_count + d, e) = diagonal(j);
        values(j) = blocks(j * input_count + d, e);
      }
      of_m += 2.0 * back * values.asDiagonal();
    }
  }
}

/// The same with neurons that depend on each other.
void pull_dense(const Matrix& m, const Matrix& scaled, const Matrix& of, Index input_count, Matrix& of_scaled,
                Matrix& of_m) {
  const Index outputs = m.rows();
  const Index neurons = m.cols();
  // Rows of (M' (x) I) of, then its columns; of (M (x) I) scaled is what M's derivative is made of.
  const auto times = [input_count](const Matrix& left, const Matrix& x) {
    Matrix result(left.rows() * input_count, x.cols());
    for (Index c = 0; c < x.cols(); ++c) {
      const Eigen::Map<const Matrix> from(x.col(c).data(), input_count, left.cols());
      Eigen::Map<Matrix>(result.col(c).data(), input_count, left.rows()).noalias() = from * left.transpose();
    }
    return result;
  };
  const Matrix half = times(m.transpose(), of);
  of_scaled = times(m.transpose(), half.transpose());
  const Matrix mixed = times(m, scaled).transpose();  // scaled (M' (x) I)
  const Matrix full = mixed * of;                     // (neuron, d) x (output, e)
  for (Index l = 0; l < outputs; ++l) {
    for (Index j = 0; j < neurons; ++j) {
      of_m(l, j) += 2.0 * full.block(j * input_count, l * input_count, input_count, input_count).trace();
    }
  }
}

}  // namespace

PushCotangent pull_joint_push(const DenseLayer& next, Index input_count, const JointLayerTrace& layer,
                              const GaussianGradient& of, LayerGradient& gradient) {
  const Matrix& m = next.weight_mean();
  const Index outputs = next.outputs();
  const Index neurons = next.inputs();
  const Eigen::Map<const Matrix> of_mean(of.mean.data(), input_count, outputs);
  const Eigen::Map<const Matrix> mean(layer.surrogate.mean.data(), input_count, neurons);
  gradient.weight_mean += of_mean.transpose() * mean;
  gradient.bias_mean += of_mean.colwise().sum().transpose();
  PushCotangent back;
  back.mean = (of_mean * m).reshaped();
  back.gain = back.deviation = Vector::Zero(neurons * input_count);
  if (m.isZero(0.0)) {
    back.noise = of.blocks;
    return back;
  }
  back.noise.resize(outputs * input_count, input_count);
  for (Index l = 0; l < outputs; ++l) {
    back.noise.middleRows(l * input_count, input_count) =
        of.blocks.block(l * input_count, l * input_count, input_count, input_count);
  }
  const Covariance& covariance = layer.law.covariance;
  const Vector deviations = covariance.variances().cwiseSqrt();
  const Vector slope =
      layer.surrogate.gain.binaryExpr(deviations, [](double k, double s) { return s > 0.0 ? k / s : 0.0; });
  const Covariance scaled = covariance.scaled(slope);
  const bool independent = covariance.block_size() == input_count && covariance.rank() == 0;
  Matrix of_scaled;
  if (independent) {
    pull_blocks(m, scaled, of.blocks, input_count, of_scaled, gradient.weight_mean);
  } else {
    pull_dense(m, scaled.to_dense(), of.blocks, input_count, of_scaled, gradient.weight_mean);
  }
  // scaled_de = k_d k_e C_de, k = gain / s.
  const Index size = of_scaled.cols();
  const Matrix original = independent ? covariance.stacked_blocks() : covariance.to_dense();
  back.covariance.resize(of_scaled.rows(), size);
  Vector of_slope = Vector::Zero(slope.size());
  for (Index i = 0; i < of_scaled.rows(); ++i) {
    const auto columns = slope.segment(i / size * size, size);
    const Eigen::RowVectorXd row = of_scaled.row(i);
    back.covariance.row(i) = slope(i) * row.cwiseProduct(columns.transpose());
    of_slope(i) = 2.0 * row.cwiseProduct(columns.transpose()).dot(original.row(i));
  }
  for (Index i = 0; i < slope.size(); ++i) {
    if (!(deviations(i) > 0.0)) continue;
    back.gain(i) = of_slope(i) / deviations(i);
    back.deviation(i) = -of_slope(i) * slope(i) / deviations(i);
  }
  return back;
}

}  // namespace mixcert
