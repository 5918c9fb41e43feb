// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Chains of sensitivity metrics, docs/theory/metrics.md: (M.3) for A, (M.4) for what is verified, (M.5) for
// the feasible closed forms, (M.6) for the paper's constants.
#include "sensitivity/sensitivity.h"

#include <algorithm>
#include <cmath>
#include <variant>
#include <vector>

#include "mixcert/core/error.h"
#include "network/ordinary_scale.h"

namespace mixcert {
namespace {

// What underflow can hide in a computed A is far below this; adding it to every g keeps the chain
// feasible however small the weights are (M.4).
constexpr double kLeastSize = 1e-290;

// The later ones need to know the errors that the metric will multiply.
constexpr std::size_t kFormsWithoutErrors = 4;

/// Roundings in one entry of A, whatever the family (M.4).
Index operations_per_entry(const DenseLayer& layer) {
  const Index factors = factor_count(layer.weights());
  return 4 * (layer.outputs() + layer.inputs()) + factors * (layer.outputs() + 1) + 32;
}

/// E m^2 of a mask: what it multiplies the diagonal of A by (D.1).
UpperBound mean_square_factor(const Mask& mask) {
  return mask.is_none() ? UpperBound::exact(1.0) : UpperBound::exact(1.0) + mask.variance();
}

/// One backward pass with one form at every layer.
class MetricChainBuilder {
 public:
  MetricChainBuilder(const Network& network, const std::vector<UpperBound>& lipschitz)
      : network_(network), lipschitz_(lipschitz) {}

  [[nodiscard]] MetricChain build(const MetricForm& form) const {
    const auto hidden = static_cast<std::size_t>(network_.hidden_count());
    MetricChain chain{form.name, std::vector<Vector>(hidden), std::vector<double>(hidden, 1.0),
                      std::vector<Vector>(hidden)};
    Vector metric = Vector::Ones(network_.outputs());
    double inflation = 1.0;
    for (std::size_t k = hidden; k-- > 0;) {
      const DenseLayer& layer = network_.layer(static_cast<Index>(k) + 1);
      Matrix a = layer.second_moment_gram(metric);
      chain.mask_weights[k] = (1.0 + rounding_gamma(operations_per_entry(layer))) * a.diagonal();
      a.diagonal() *= mean_square_factor(network_.mask(static_cast<Index>(k) + 1)).upper;
      const Vector g = raised_form(form, a, a.diagonal()).array() + kLeastSize;
      inflation = next_up(inflation * feasibility_factor(g, a, operations_per_entry(layer)));
      chain.activation_weights[k] = g;
      chain.inflation[k] = inflation;
      const UpperBound l2 = lipschitz_[k] * lipschitz_[k];
      metric = l2.nominal * g;
      // l^2 and the product with g round, in total, by less than this.
      const double rounded = l2.nominal > 0.0 ? l2.upper / l2.nominal : 1.0;
      inflation = next_up(inflation * next_up(rounded + 8 * kUnitRoundoff));
    }
    return chain;
  }

 private:
  const Network& network_;
  const std::vector<UpperBound>& lipschitz_;
};

/// No less than E|W - M|^2 up to rounding: that of Frobenius, or for weights that occur at many places, as a
/// convolution's, times how often one input meets them (M.6).
double square_noise_norm(const DenseLayer& layer) {
  const double frobenius = layer.total_weight_variance();
  const auto* shared = std::get_if<SharedWeights>(&layer.weights());
  if (shared == nullptr) return frobenius;
  const Index rows = shared->rows_per_group > 0 ? shared->rows_per_group : layer.outputs();
  const Index groups = (layer.outputs() + rows - 1) / rows;
  Eigen::MatrixXi met = Eigen::MatrixXi::Zero(layer.inputs(), groups);
  Vector variances = Vector::Zero(groups);
  std::vector<bool> is_counted(static_cast<std::size_t>(shared->variance.size()), false);
  for (const SharedWeights::Place& place : shared->places) {
    if (place.column == layer.inputs()) continue;  // a bias
    const Index group = place.row / rows;
    ++met(place.column, group);
    if (is_counted[static_cast<std::size_t>(place.parameter)]) continue;
    is_counted[static_cast<std::size_t>(place.parameter)] = true;
    variances(group) += shared->variance(place.parameter);
  }
  return std::min(frobenius, variances.dot(met.colwise().maxCoeff().cast<double>().transpose()));
}

/// (M.6): (|M| + (E|W - M|^2)^{1/2})^2 times the later layers' constants.
MetricChain paper_chain(const Network& network, const std::vector<UpperBound>& lipschitz) {
  const auto hidden = static_cast<std::size_t>(network.hidden_count());
  MetricChain chain{"paper", std::vector<Vector>(hidden), std::vector<double>(hidden, 1.0),
                    std::vector<Vector>(hidden)};
  UpperBound product = UpperBound::exact(1.0);
  for (std::size_t k = hidden; k-- > 0;) {
    const DenseLayer& layer = network.layer(static_cast<Index>(k) + 1);
    const Matrix& mean = layer.weight_mean();
    const Matrix gram = mean.transpose() * mean;
    const double top = spectral_form(gram)(0);
    const double factor =
        feasibility_factor(Vector::Constant(gram.rows(), std::max(top, 1e-300)), gram, mean.rows());
    const UpperBound norm = sqrt(UpperBound{top, next_up(std::max(top, 1e-300) * factor)});
    const UpperBound noise = sqrt(UpperBound::of_sum(square_noise_norm(layer), 8 * mean.size() + 64));
    product = product * (norm + noise) * (norm + noise) + UpperBound::exact(kLeastSize);
    chain.mask_weights[k] = Vector::Constant(layer.inputs(), product.nominal);
    product = product * mean_square_factor(network.mask(static_cast<Index>(k) + 1));
    chain.activation_weights[k] = Vector::Constant(layer.inputs(), product.nominal);
    chain.inflation[k] = product.nominal > 0.0 ? next_up(next_up(product.upper / product.nominal)) : 1.0;
    product = product * lipschitz[k] * lipschitz[k];
  }
  return chain;
}

/// Where the first weights are deterministic nothing distinguishes the coordinates.
Vector variance_scale(const DenseLayer& layer) {
  const Vector scale = layer.row_variances() + layer.bias_variances();
  return scale.maxCoeff() > 0.0 ? scale : Vector::Ones(scale.size());
}

/// The chain whose metric of layer k makes sum_i g_i v_i smallest, v the noise that the layer
/// before puts on the coordinates: a heuristic for placing grids, never part of a bound.
std::size_t choose_reference(const Network& network, const std::vector<MetricChain>& chains, std::size_t k) {
  const Vector scale = variance_scale(network.layer(static_cast<Index>(k)));
  std::size_t best = 0;
  for (std::size_t c = 1; c < chains.size(); ++c) {
    if (chains[c].activation_weights[k].dot(scale) < chains[best].activation_weights[k].dot(scale)) best = c;
  }
  return best;
}

}  // namespace

Vector over_inputs(ConstVectorRef per_neuron, Index input_count) {
  return per_neuron.transpose().replicate(input_count, 1).reshaped();
}

Sensitivity analyse_sensitivity(const Network& network) {
  Sensitivity result;
  result.log_sizes = typical_sizes(network);
  require_ordinary_sizes(network, result.log_sizes);
  for (Index k = 1; k <= network.hidden_count(); ++k) {
    result.lipschitz.push_back(network.activation(k).lipschitz());
  }
  const MetricChainBuilder builder(network, result.lipschitz);
  result.paper = paper_chain(network, result.lipschitz);
  for (std::size_t f = 0; f < kFormsWithoutErrors; ++f) {
    result.metrics.push_back(builder.build(closed_forms()[f]));
  }
  result.expected = result.metrics.front();
  for (Index k = 0; k < network.hidden_count(); ++k) {
    result.reference.push_back(choose_reference(network, result.metrics, static_cast<std::size_t>(k)));
  }
  result.underflow = underflow_charge(result, network.outputs());
  return result;
}

}  // namespace mixcert
