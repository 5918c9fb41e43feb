// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// With P (inputs x neurons) the means are P M' + 1 b' and the block of neuron i is P diag(V_i) P' + v_i 1 1'.
#include "gradient/point_push_gradient.h"

namespace mixcert {

Vector pull_back_push(const DenseLayer& layer, ConstVectorRef point, Index input_count,
                      const GaussianGradient& bar, LayerGradient& gradient) {
  const Index d = input_count;
  const Vector column = point;
  const Eigen::Map<const Matrix> p(column.data(), d, layer.inputs());
  const Eigen::Map<const Matrix> mean_bar(bar.mean.data(), d, layer.outputs());
  gradient.weight_mean.noalias() += mean_bar.transpose() * p;
  gradient.bias_mean += mean_bar.colwise().sum().transpose();
  Matrix p_bar = mean_bar * layer.weight_mean();
  const Matrix* variances = independent_variances(layer.weights());
  const bool random_bias = independent_variances(layer.bias()) != nullptr;
  for (Index i = 0; i < layer.outputs(); ++i) {
    const auto block = bar.blocks.middleRows(i * d, d);
    if (random_bias) gradient.bias_variance(i) += block.sum();
    if (variances == nullptr) continue;
    const Matrix product = block * p;
    gradient.weight_variance.row(i) += p.cwiseProduct(product).colwise().sum();
    p_bar += 2.0 * product * variances->row(i).asDiagonal();
  }
  return Eigen::Map<const Vector>(p_bar.data(), p_bar.size());
}

}  // namespace mixcert
