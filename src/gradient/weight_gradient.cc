// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// From metrics of a chain (Z.27) and from the law behind the first layer (Z.26) back to weights.
#include "gradient/weight_gradient.h"

#include <algorithm>
#include <cmath>

#include "mixcert/core/error.h"
#include "mixture/symmetric_eigen.h"
#include "sensitivity/sensitivity.h"

namespace mixcert {

// A chain is built from the output back, so its derivatives run from the first hidden layer to the last.

namespace {

/// Derivatives of A = M' diag(m) M + diag_j(sum_i m_i V_ij); returns those in m.
Vector pull_back_gram(const DenseLayer& layer, const Vector& metric, const Matrix& a_bar,
                      LayerGradient& gradient) {
  const Matrix& mean = layer.weight_mean();
  const Matrix product = mean * (0.5 * (a_bar + a_bar.transpose()));
  gradient.weight_mean += 2.0 * metric.asDiagonal() * product;
  Vector metric_bar = product.cwiseProduct(mean).rowwise().sum();
  if (const Matrix* variances = independent_variances(layer.weights())) {
    gradient.weight_variance += metric * a_bar.diagonal().transpose();
    metric_bar += *variances * a_bar.diagonal();
  }
  return metric_bar;
}

}  // namespace

const MetricChain& chain_named(const Sensitivity& sensitivity, const std::string& name) {
  if (name == sensitivity.paper.name) return sensitivity.paper;
  const auto found = std::find_if(sensitivity.metrics.begin(), sensitivity.metrics.end(),
                                  [&](const MetricChain& chain) { return chain.name == name; });
  require(found != sensitivity.metrics.end(), "gradient: there is no chain of metrics '" + name + "'");
  return *found;
}

void ChainGradient::add(const std::string& name, Index layer, ConstVectorRef metric_bar, Index input_count) {
  std::vector<Vector>& bars = bars_[name];
  bars.resize(static_cast<std::size_t>(network_.hidden_count()));
  Vector& bar = bars[static_cast<std::size_t>(layer - 1)];
  // Coordinates are neuron * input_count + input.
  const Vector per_neuron = metric_bar.reshaped(input_count, metric_bar.size() / input_count).colwise().sum();
  if (bar.size() == 0) bar = Vector::Zero(per_neuron.size());
  bar += per_neuron;
}

void ChainGradient::pull_back(NetworkGradient& gradient) const {
  for (const auto& [name, bars] : bars_) {
    if (name == sensitivity_.paper.name) {
      pull_back_paper(bars, gradient);
      continue;
    }
    for (std::size_t c = 0; c < sensitivity_.metrics.size(); ++c) {
      if (sensitivity_.metrics[c].name == name) pull_back_metrics(c, bars, gradient);
    }
  }
}

void ChainGradient::pull_back_paper(const std::vector<Vector>& bars, NetworkGradient& gradient) const {
  double relative = 0.0;  // derivative in the logarithm of the next layer's constant
  for (std::size_t k = 0; k < bars.size(); ++k) {
    if (bars[k].size() > 0) relative += bars[k].dot(sensitivity_.paper.activation_weights[k]);
    const DenseLayer& layer = network_.layer(static_cast<Index>(k) + 1);
    LayerGradient& bar = gradient[k + 1];
    const Matrix& mean = layer.weight_mean();
    const Vector v = leading_eigenpairs(Covariance::dense(mean.transpose() * mean), 1).vectors.col(0);
    const Vector left = mean * v;
    const double norm = left.norm();
    const double noise = std::sqrt(layer.total_weight_variance());
    // (|M| + noise)^2; |M| is not differentiable at zero, nor is the noise.
    const double root_bar = 2.0 * relative / (norm + noise);
    if (norm > 0.0) bar.weight_mean += root_bar / norm * left * v.transpose();
    if (noise > 0.0 && independent_variances(layer.weights()) != nullptr)
      bar.weight_variance.array() += root_bar / (2.0 * noise);
  }
}

void ChainGradient::pull_back_metrics(std::size_t chain, std::vector<Vector> bars,
                                      NetworkGradient& gradient) const {
  const std::vector<Vector>& weights = sensitivity_.metrics[chain].activation_weights;
  Vector carried;
  for (std::size_t k = 0; k < bars.size(); ++k) {
    Vector bar = carried.size() > 0 ? carried : Vector::Zero(weights[k].size());
    if (bars[k].size() > 0) bar += bars[k];
    const bool last = k + 1 == bars.size();
    const double l = last ? 1.0 : sensitivity_.lipschitz[k + 1].nominal;
    const Vector metric = last ? Vector::Ones(network_.outputs()) : Vector(l * l * weights[k + 1]);
    const DenseLayer& layer = network_.layer(static_cast<Index>(k) + 1);
    const Matrix a = layer.second_moment_gram(metric);
    MetricGradient form_bar = closed_forms()[chain].pull_back(a, a.diagonal(), bar);
    if (form_bar.errors.size() > 0) form_bar.a.diagonal() += form_bar.errors;
    carried = l * l * pull_back_gram(layer, metric, form_bar.a, gradient[k + 1]);
  }
}

// A point that is pushed (Z.26): with P (inputs x neurons) the means are P M' + 1 b' and the block of neuron
// i is P diag(V_i) P' + v_i 1 1'.

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
