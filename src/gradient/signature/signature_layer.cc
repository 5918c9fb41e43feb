// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// propagate()'s loop body from its end to its beginning: affine map, activation, grid points, local error,
// directions, compression.
#include <utility>

#include "gradient/signature/signature_gradient.h"
#include "gradient/weight_gradient.h"

namespace mixcert {
namespace {

using Components = std::vector<ComponentGradient>;

class LayerSweep {
 public:
  LayerSweep(const SignatureSweep& sweep, Index k, const SignatureLayerTrace& layer, const LayerTerms& terms,
             ChainGradient& chains)
      : sweep_(sweep), k_(k), layer_(layer), terms_(terms), chains_(chains) {
    for (std::size_t j = 0; j < layer.signatures.size(); ++j) {
      components_.push_back(
          ComponentGradient::zero(layer.after.component(static_cast<Index>(j)), layer.signatures[j]));
    }
  }

  void pull_back_points(const std::vector<GaussianGradient>& behind, LayerGradient& gradient);
  void add_local_term();
  std::vector<GaussianGradient> in_front();

 private:
  [[nodiscard]] Vector metric_of(const std::string& name) const {
    const MetricChain& chain = chain_named(sweep_.sensitivity, name);
    return over_inputs(chain.activation_weights[static_cast<std::size_t>(k_ - 1)], sweep_.input_count);
  }
  void pull_back_grid(Index component, const DiscreteLaw& law, const Matrix& points_bar);
  void add_compression_term(std::vector<GaussianGradient>& before, std::vector<GaussianGradient>& after);

  const SignatureSweep& sweep_;
  Index k_;
  const SignatureLayerTrace& layer_;
  const LayerTerms& terms_;
  ChainGradient& chains_;
  Components components_;
};

/// The points of one component: m + sum_d location_d u_d, the first axis fastest.
void LayerSweep::pull_back_grid(Index component, const DiscreteLaw& law, const Matrix& points_bar) {
  const auto j = static_cast<std::size_t>(component);
  const GridSignature& signature = layer_.signatures[j];
  components_[j].gaussian.mean += points_bar.rowwise().sum();
  Index repeat = 1;
  for (Index d = 0; d < signature.axis_count(); ++d) {
    const NormalQuantizer& quantizer = *signature.quantizers[static_cast<std::size_t>(d)];
    for (Index p = 0; p < law.weights.size(); ++p) {
      const double location = quantizer.locations((p / repeat) % quantizer.size());
      components_[j].directions.col(d) += location * points_bar.col(p);
    }
    repeat *= quantizer.size();
  }
}

void LayerSweep::pull_back_points(const std::vector<GaussianGradient>& behind, LayerGradient& gradient) {
  const Index inputs = sweep_.input_count;
  const ActivationMap& activation = sweep_.network.activation(k_);
  std::vector<DiscreteLaw> laws;
  Index count = 0;
  for (std::size_t j = 0; j < components_.size(); ++j) {
    laws.push_back(layer_.signatures[j].points(layer_.after.component(static_cast<Index>(j)).mean));
    laws.back().weights *= layer_.after.weights()(static_cast<Index>(j));
    count += laws.back().weights.size();
  }
  Matrix points(layer_.after.dimension(), count);
  Vector weights(count);
  Index column = 0;
  for (const DiscreteLaw& law : laws) {
    points.middleCols(column, law.weights.size()) = law.points;
    weights.segment(column, law.weights.size()) = law.weights;
    column += law.weights.size();
  }
  const Matrix values = activation.apply(points, inputs);
  const std::vector<Index> group = equal_points(values);
  Vector masses = Vector::Zero(static_cast<Index>(behind.size()));
  for (Index p = 0; p < count; ++p) masses(group[static_cast<std::size_t>(p)]) += weights(p);
  // Equal points were pushed once, with their joint weight: each has its share of the derivatives.
  std::vector<Vector> pushed(behind.size());
  Matrix points_bar(points.rows(), count);
  for (Index p = 0; p < count; ++p) {
    const auto g = static_cast<std::size_t>(group[static_cast<std::size_t>(p)]);
    if (pushed[g].size() == 0) {
      pushed[g] = pull_back_push(sweep_.network.layer(k_), values.col(p), inputs, behind[g], gradient);
    }
    const double mass = masses(static_cast<Index>(g));
    const double share = mass > 0.0 ? weights(p) / mass : 0.0;
    for (Index i = 0; i < points.rows(); ++i) {
      points_bar(i, p) = share * pushed[g](i) * activation.at(i / inputs).derivative(points(i, p));
    }
  }
  column = 0;
  for (std::size_t j = 0; j < laws.size(); ++j) {
    pull_back_grid(static_cast<Index>(j), laws[j], points_bar.middleCols(column, laws[j].weights.size()));
    column += laws[j].weights.size();
  }
}

/// A term that rounding alone explains is zero: a root has no derivative there (Z.20).
bool is_zero(const UpperBound& term) { return !(term.nominal > term.inflation()); }

/// sqrt(q): (Z.23).
void LayerSweep::add_local_term() {
  if (is_zero(terms_.local) || sweep_.bound_weight == 0.0) return;
  const double q_bar = sweep_.bound_weight / (2.0 * terms_.local.nominal);
  const Vector g_bar = add_local_gradient(layer_, sweep_.network.activation(k_), sweep_.input_count,
                                          sweep_.refine, metric_of(terms_.metric), q_bar, components_);
  chains_.add(terms_.metric, k_, g_bar, sweep_.input_count);
}

/// l sqrt(cost): (Z.24).
void LayerSweep::add_compression_term(std::vector<GaussianGradient>& before,
                                      std::vector<GaussianGradient>& after) {
  if (is_zero(terms_.compression) || sweep_.bound_weight == 0.0) return;
  const double l = sweep_.sensitivity.lipschitz[static_cast<std::size_t>(k_ - 1)].nominal;
  const double cost_bar = sweep_.bound_weight * l * l / (2.0 * terms_.compression.nominal);
  const Vector g_bar =
      add_compression_cost_gradient(layer_, metric_of(terms_.compression_metric), cost_bar, before, after);
  chains_.add(terms_.compression_metric, k_, g_bar, sweep_.input_count);
}

std::vector<GaussianGradient> LayerSweep::in_front() {
  const bool placed = layer_.placement_chain.has_value();
  const std::string name = placed ? sweep_.sensitivity.metrics[*layer_.placement_chain].name : "";
  const Vector metric = placed ? metric_of(name) : Vector::Ones(layer_.after.dimension());
  std::vector<GaussianGradient> after;
  for (std::size_t j = 0; j < components_.size(); ++j) {
    const Vector metric_bar = pull_back_directions(layer_.after.component(static_cast<Index>(j)),
                                                   layer_.signatures[j], metric, components_[j]);
    if (placed) chains_.add(name, k_, metric_bar, sweep_.input_count);
    after.push_back(std::move(components_[j].gaussian));
  }
  if (layer_.plan.empty()) return after;
  std::vector<GaussianGradient> before;
  for (const Gaussian& component : layer_.before.components()) {
    before.push_back(GaussianGradient::zero(component));
  }
  add_compression_term(before, after);
  pull_back_compression(layer_, after, before);
  return before;
}

}  // namespace

std::vector<GaussianGradient> pull_back_layer(const SignatureSweep& sweep, Index k,
                                              const SignatureLayerTrace& layer, const LayerTerms& terms,
                                              const std::vector<GaussianGradient>& behind,
                                              ChainGradient& chains, NetworkGradient& gradient) {
  LayerSweep layer_sweep(sweep, k, layer, terms, chains);
  layer_sweep.pull_back_points(behind, gradient[static_cast<std::size_t>(k)]);
  layer_sweep.add_local_term();
  return layer_sweep.in_front();
}

}  // namespace mixcert
