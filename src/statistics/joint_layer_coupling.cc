// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// docs/theory/statistics.md (C.5). S_l(a) = beta_l 11' + sum_j V_lj a_j a_j' is nearly singular for smooth
// networks: its factor comes from a QR decomposition, which is stable where Cholesky's is not, and the
// coupling from singular vectors, which need no inverse.
#include "statistics/joint_layer_coupling.h"

#include <Eigen/QR>
#include <algorithm>
#include <cmath>

#include "mixture/symmetric_eigen.h"
#include "statistics/simulate/normal_source.h"

namespace mixcert {
namespace {

Matrix symmetric_root(ConstMatrixRef matrix) {
  const SymmetricEigen eigen = symmetric_eigen(matrix);
  return eigen.vectors * positive_part(eigen.values).cwiseSqrt().asDiagonal() * eigen.vectors.transpose();
}

/// Square L with L L' = Y Y'.
Matrix square_factor(const Matrix& transposed) {
  const Index n = transposed.cols();
  Matrix factor = Matrix::Zero(n, n);
  if (transposed.rows() <= n) {
    factor.leftCols(transposed.rows()) = transposed.transpose();
    return factor;
  }
  const Eigen::HouseholderQR<Matrix> qr(transposed);
  const Matrix upper = qr.matrixQR().topRows(n).triangularView<Eigen::Upper>();
  return upper.transpose();
}

}  // namespace

Matrix coupled_factor(const Matrix& transposed, const Matrix& root) {
  const Matrix factor = square_factor(transposed);
  const SingularValues svd = singular_values(root * factor);
  return factor * (svd.right * svd.left.transpose());
}

JointLayerCoupling::JointLayerCoupling(const ActivationMap& activation, const DenseLayer& next,
                                       const JointLayerTrace& layer, Index input_count)
    : activation_(activation), next_(next), layer_(layer), input_count_(input_count) {
  const Vector deviations = layer.law.covariance.variances().cwiseSqrt();
  slopes_ =
      layer.surrogate.gain.binaryExpr(deviations, [](double k, double s) { return s > 0.0 ? k / s : 0.0; });
  const Matrix* variances = independent_variances(next.weights());
  const auto block = [&](Index l) { return layer.noise.blocks.middleRows(l * input_count, input_count); };
  const auto same_row = [&](Index l, Index m) {
    return (variances == nullptr || variances->row(l) == variances->row(m)) &&
           next.bias_variances()(l) == next.bias_variances()(m) && block(l) == block(m);
  };
  for (Index l = 0; l < next.outputs(); ++l) {
    const auto found = std::find_if(groups_.begin(), groups_.end(),
                                    [&](const RowGroup& group) { return same_row(group.rows.front(), l); });
    if (found != groups_.end()) {
      found->rows.push_back(l);
      continue;
    }
    RowGroup group{
        {l}, Vector::Zero(next.inputs()), next.bias_variances()(l), symmetric_root(block(l)), false};
    if (variances != nullptr) group.deviations = variances->row(l).cwiseSqrt();
    group.is_fixed = group.deviations.isZero(0.0) && (block(l).array() == group.bias_variance).all();
    groups_.push_back(std::move(group));
  }
}

/// (M (x) I) a + b0 (x) 1.
Matrix JointLayerCoupling::signal(const Matrix& activations) const {
  const Index outputs = next_.outputs();
  Matrix result(outputs * input_count_, activations.cols());
  const bool has_mean = !next_.weight_mean().isZero(0.0);
  for (Index s = 0; s < activations.cols(); ++s) {
    Eigen::Map<Matrix> to(result.col(s).data(), input_count_, outputs);
    to.rowwise() = next_.bias_mean().transpose();
    if (!has_mean) continue;
    const Eigen::Map<const Matrix> from(activations.col(s).data(), input_count_, next_.inputs());
    to.noalias() += from * next_.weight_mean().transpose();
  }
  return result;
}

void JointLayerCoupling::add_noise(const RowGroup& group, const Matrix& activations, Generator& generator,
                                   JointCoupledState& state) const {
  const auto rows = static_cast<Index>(group.rows.size());
  Matrix normals(input_count_, rows * activations.cols());
  fill_normal(generator, normals);
  Matrix transposed(next_.inputs() + 1, input_count_);
  transposed.bottomRows(1).setConstant(std::sqrt(group.bias_variance));
  for (Index s = 0; s < activations.cols(); ++s) {
    const auto white = normals.middleCols(s * rows, rows);
    const Matrix surrogate = group.noise_root * white;
    Matrix network = surrogate;
    if (!group.is_fixed) {
      const Eigen::Map<const Matrix> a(activations.col(s).data(), input_count_, next_.inputs());
      transposed.topRows(next_.inputs()).noalias() = group.deviations.asDiagonal() * a.transpose();
      network.noalias() = coupled_factor(transposed, group.noise_root) * white;
    }
    for (Index r = 0; r < rows; ++r) {
      const Index at = group.rows[static_cast<std::size_t>(r)] * input_count_;
      state.network.col(s).segment(at, input_count_) += network.col(r);
      state.surrogate.col(s).segment(at, input_count_) += surrogate.col(r);
    }
  }
}

void JointLayerCoupling::advance(JointCoupledState& state, Generator& generator) const {
  const Matrix activations = activation_.apply(state.network, input_count_);
  Matrix surrogate = slopes_.asDiagonal() * (state.surrogate.colwise() - layer_.law.mean);
  surrogate.colwise() += layer_.surrogate.mean;
  state.network = signal(activations);
  state.surrogate = signal(surrogate);
  for (const RowGroup& group : groups_) add_noise(group, activations, generator, state);
}

}  // namespace mixcert
