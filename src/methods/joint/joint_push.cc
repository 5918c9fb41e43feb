// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// N((M (x) I) mu + b, (M (x) I) diag(k) r diag(k) (M (x) I)' + blockdiag(T_l)), docs/theory/joint-moments.md
// (J.1). Without mean weights (a prior) the blocks are all there is and stay blocks.
#include <utility>

#include "methods/joint/joint_tracer.h"
#include "mixcert/core/rounding.h"

namespace mixcert {
namespace {

/// (M (x) I_D) X, X with one column per right-hand side.
Matrix times_per_input(const Matrix& m, const Matrix& x, Index input_count) {
  Matrix result(m.rows() * input_count, x.cols());
  for (Index c = 0; c < x.cols(); ++c) {
    const Eigen::Map<const Matrix> from(x.col(c).data(), input_count, m.cols());
    Eigen::Map<Matrix> to(result.col(c).data(), input_count, m.rows());
    to.noalias() = from * m.transpose();
  }
  return result;
}

/// gain / deviation; zero where z is constant.
Vector gain_per_unit(const JointLayerTrace& layer) {
  const Vector deviations = layer.law.covariance.variances().cwiseSqrt();
  return layer.surrogate.gain.binaryExpr(deviations,
                                         [](double k, double s) { return s > 0.0 ? k / s : 0.0; });
}

/// Independent neurons: entry (l, d), (l', e) is sum_j M_lj M_l'j k_jd k_je r_j,de.
Matrix signal_of_blocks(const Matrix& m, const Covariance& scaled, Index input_count) {
  const Index outputs = m.rows();
  const Matrix& blocks = scaled.stacked_blocks();
  Matrix signal(outputs * input_count, outputs * input_count);
  for (Index d = 0; d < input_count; ++d) {
    for (Index e = 0; e <= d; ++e) {
      const Vector weights = Eigen::Map<const Vector, 0, Eigen::InnerStride<>>(
          blocks.col(e).data() + d, m.cols(), Eigen::InnerStride<>(input_count));
      const Matrix weighted = m * weights.asDiagonal();
      const Matrix product = weighted * m.transpose();
      for (Index l = 0; l < outputs; ++l) {
        for (Index i = 0; i < outputs; ++i) {
          signal(i * input_count + d, l * input_count + e) = product(i, l);
          signal(l * input_count + e, i * input_count + d) = product(i, l);
        }
      }
    }
  }
  return signal;
}

Matrix signal_of_dense(const Matrix& m, const Covariance& scaled, Index input_count) {
  const Matrix half = times_per_input(m, scaled.to_dense(), input_count).transpose();
  Matrix signal = times_per_input(m, half, input_count);
  signal = 0.5 * (signal + signal.transpose()).eval();
  return signal;
}

/// P^2 of (J.6), per output coordinate: entries of the signal part are off by at most gamma P_i P_j.
Vector signal_majorant(const Matrix& m, const Vector& gain, bool independent, Index input_count) {
  const Matrix majorant = independent
                              ? times_per_input(m.cwiseAbs2(), gain.cwiseAbs2(), input_count)
                              : times_per_input(m.cwiseAbs(), gain.cwiseAbs(), input_count).cwiseAbs2();
  return majorant;
}

Covariance pushed_covariance(const DenseLayer& next, Index input_count, JointLayerTrace& layer) {
  const Matrix& m = next.weight_mean();
  const Index outputs = next.outputs();
  layer.majorant = Vector::Zero(outputs);
  if (m.isZero(0.0)) return Covariance::block_diagonal(layer.noise.blocks);
  const Covariance& covariance = layer.law.covariance;
  const bool independent = covariance.block_size() == input_count && covariance.rank() == 0;
  const Covariance scaled = covariance.scaled(gain_per_unit(layer));
  Matrix signal =
      independent ? signal_of_blocks(m, scaled, input_count) : signal_of_dense(m, scaled, input_count);
  Vector majorant = signal_majorant(m, layer.surrogate.gain, independent, input_count);
  for (Index l = 0; l < outputs; ++l) {
    const Index at = l * input_count;
    const auto block = layer.noise.blocks.middleRows(at, input_count);
    signal.block(at, at, input_count, input_count) += block;
    majorant.segment(at, input_count) += block.diagonal();
    layer.majorant(l) = majorant.segment(at, input_count).sum() * (1.0 + 1e-9);
  }
  const double gamma = rounding_gamma(2 * m.cols() + 64);
  signal.diagonal() += 2.0 * static_cast<double>(signal.rows()) * gamma * majorant;
  return Covariance::dense(std::move(signal));
}

}  // namespace

Gaussian push_jointly(const DenseLayer& next, Index input_count, JointLayerTrace& layer) {
  Vector mean = times_per_input(next.weight_mean(), layer.surrogate.mean, input_count);
  for (Index l = 0; l < next.outputs(); ++l) {
    mean.segment(l * input_count, input_count).array() += next.bias_mean()(l);
  }
  return {std::move(mean), pushed_covariance(next, input_count, layer)};
}

}  // namespace mixcert
