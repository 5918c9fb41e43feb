// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// docs/theory/gradients.md (Z.65): the cost tr(P (sum_j U_lj H_j)) + (eps + delta_l)^2 tr P, P = T_l^{-1},
// T_l = E S_l + eps I, backwards, along the ridge that was chosen.
#include <Eigen/Cholesky>
#include <cmath>

#include "gradient/joint/joint_gradient.h"
#include "methods/joint/cross_moments.h"
#include "methods/joint/joint_noise.h"

namespace mixcert {
namespace {

/// Derivatives in the sums over neurons, one row per output.
struct OutputCotangents {
  Matrix mean;        ///< in E S_l, rows of length D^2
  Vector mean_error;  ///< in delta_l
  Matrix spread;      ///< in sum_j U_lj H_j
};

class NoisePull {
 public:
  NoisePull(const DenseLayer& next, const JointNoise& noise, const NoiseCotangent& cotangent,
            const NeuronTerms& terms, const Matrix& variance, const Matrix& u)
      : next_(next), noise_(noise), cotangent_(cotangent), terms_(terms), variance_(variance), u_(u) {}

  [[nodiscard]] OutputCotangents outputs() const {
    const Index inputs = noise_.blocks.cols();
    const Index count = next_.outputs();
    OutputCotangents result{Matrix::Zero(count, inputs * inputs), Vector::Zero(count),
                            Matrix::Zero(count, inputs * inputs)};
    for (Index l = 0; l < count; ++l) pull_output(l, result);
    return result;
  }

 private:
  void pull_output(Index l, OutputCotangents& result) const {
    const Index inputs = noise_.blocks.cols();
    Matrix of_block = cotangent_.blocks.middleRows(l * inputs, inputs);
    const double of_cost = cotangent_.cost(l);
    const double size = static_cast<double>(inputs);
    const double ridge = noise_.ridge(l);
    double of_trace = 0.0;
    if (ridge < 0.0) {  // T = tr(E S) I at the independent coupling
      of_trace = of_block.trace() + of_cost * (2.0 + size);
      result.mean_error(l) = of_cost * std::sqrt(size);
      of_block.setZero();
    } else if (noise_.trivial[static_cast<std::size_t>(l)]) {
      of_trace = of_cost * (2.0 + ridge);
      result.mean_error(l) = of_cost * std::sqrt(size);
    } else if (ridge > 0.0) {
      pull_proven(l, of_cost, of_block, of_trace, result);
    }
    // T = E S + ridge tr(E S)/D I.
    if (ridge > 0.0) of_trace += ridge / size * of_block.trace();
    of_block.diagonal().array() += of_trace;
    result.mean.row(l) = Eigen::Map<const Eigen::RowVectorXd>(of_block.data(), of_block.size());
  }

  /// cost = <P, spread> + off^2 tr P, off = eps + delta.
  void pull_proven(Index l, double of_cost, Matrix& of_block, double& of_trace,
                   OutputCotangents& result) const {
    const Index inputs = noise_.blocks.cols();
    const Matrix block = noise_.blocks.middleRows(l * inputs, inputs);
    const Matrix p = Eigen::LLT<Matrix>(block).solve(Matrix::Identity(inputs, inputs));
    const Eigen::RowVectorXd row = u_.row(l) * terms_.spread;
    const Eigen::Map<const Matrix> whole(row.data(), inputs, inputs);
    const Matrix spread = 0.5 * (whole + whole.transpose());
    const double size = static_cast<double>(inputs);
    // tr T = (1 + ridge) tr(E S).
    const double trace = block.trace() / (1.0 + noise_.ridge(l));
    const double off = noise_.ridge(l) * trace / size + variance_.row(l).dot(terms_.second_error);
    Matrix of_p = spread;
    of_p.diagonal().array() += off * off;
    of_block -= of_cost * (p * of_p * p);
    const double of_off = of_cost * 2.0 * off * p.trace();
    of_trace += of_off * noise_.ridge(l) / size;
    result.mean_error(l) = of_off;
    const Matrix of_spread = of_cost * p;
    result.spread.row(l) = Eigen::Map<const Eigen::RowVectorXd>(of_spread.data(), of_spread.size());
  }

  const DenseLayer& next_;
  const JointNoise& noise_;
  const NoiseCotangent& cotangent_;
  const NeuronTerms& terms_;
  const Matrix& variance_;
  const Matrix& u_;
};

/// The sum of all entries of each of the stacked square blocks.
Vector block_sums(const Matrix& blocks) {
  const Index inputs = blocks.cols();
  const Vector rows = blocks.rowwise().sum();
  return Eigen::Map<const Matrix>(rows.data(), inputs, rows.size() / inputs).colwise().sum().transpose();
}

/// U_lj = V_lj sum_i rho_ij V_li s_i / s_j (J.5): adds to the variances and to the spreads' norms, and gives
/// the derivatives in rho.
Matrix pull_dependence(const Matrix& variance, const Matrix& rho, const Vector& spread_norm,
                       const Matrix& of_u, Matrix& of_variance, Vector& of_norm) {
  const double floor = kLeastSpread * spread_norm.maxCoeff() + 1e-300;
  const Vector scale = spread_norm.cwiseMax(floor).cwiseSqrt();
  const Matrix left = variance * scale.asDiagonal() * rho;
  const Matrix right = variance * scale.cwiseInverse().asDiagonal();
  const Matrix of_left = of_u.cwiseProduct(right);
  const Matrix of_right = of_u.cwiseProduct(left);
  const Matrix back = of_left * rho;
  of_variance += back * scale.asDiagonal();
  of_variance += of_right * scale.cwiseInverse().asDiagonal();
  const Vector of_scale =
      back.cwiseProduct(variance).colwise().sum().transpose() -
      of_right.cwiseProduct(variance).colwise().sum().transpose().cwiseQuotient(scale.cwiseAbs2());
  for (Index j = 0; j < scale.size(); ++j) {
    if (spread_norm(j) > floor) of_norm(j) += of_scale(j) / (2.0 * scale(j));
  }
  return (variance * scale.asDiagonal()).transpose() * of_left;
}

}  // namespace

void pull_noise(const DenseLayer& next, const JointLayerTrace& layer, const CrossMoments& moments,
                const NoiseCotangent& cotangent, LayerGradient& gradient,
                std::vector<NeuronCotangent>& neurons, Matrix& law) {
  const Index inputs = moments.input_count();
  const Matrix* variances = independent_variances(next.weights());
  if (variances == nullptr) {  // T_l = beta_l 11'
    gradient.bias_variance += block_sums(cotangent.blocks);
    return;
  }
  const Matrix& v = *variances;
  const NeuronTerms terms = neuron_terms(moments);
  const Matrix rho = neuron_correlation(layer.law.covariance, inputs);
  const Matrix u = dependence_weights(v, rho, terms.spread_norm);
  const OutputCotangents outputs = NoisePull(next, layer.noise, cotangent, terms, v, u).outputs();
  // Every entry of S_l contains beta_l.
  gradient.bias_variance += outputs.mean.rowwise().sum();
  gradient.weight_variance += outputs.mean * terms.second.transpose();
  gradient.weight_variance += outputs.mean_error * terms.second_error.transpose();
  const Matrix of_u = outputs.spread * terms.spread.transpose();
  Vector of_norm = Vector::Zero(v.cols());
  if (rho.size() == 0) {
    gradient.weight_variance += 2.0 * v.cwiseProduct(of_u);
  } else {
    const Matrix of_rho = pull_dependence(v, rho, terms.spread_norm, of_u, gradient.weight_variance, of_norm);
    pull_neuron_correlation(layer.law.covariance, inputs, of_rho, law);
  }
  const Matrix of_second = v.transpose() * outputs.mean;
  const Vector of_error = v.transpose() * outputs.mean_error;
  const Matrix of_spread = u.transpose() * outputs.spread;
  for (Index j = 0; j < v.cols(); ++j) {
    Matrix of_h = Eigen::Map<const Matrix>(Eigen::RowVectorXd(of_spread.row(j)).data(), inputs, inputs);
    if (of_norm(j) != 0.0) {
      const Eigen::RowVectorXd h = terms.spread.row(j);
      of_h += of_norm(j) / h.norm() * Eigen::Map<const Matrix>(h.data(), inputs, inputs);
    }
    NeuronCotangent& neuron = neurons[static_cast<std::size_t>(j)];
    neuron.error += of_error(j);
    const Matrix of_k = Eigen::Map<const Matrix>(Eigen::RowVectorXd(of_second.row(j)).data(), inputs, inputs);
    neuron.covariance += of_k;
    neuron.mean += 2.0 * of_k * moments.mean.col(j);
    pull_spread(moments, j, of_h, neuron);
  }
}

}  // namespace mixcert
