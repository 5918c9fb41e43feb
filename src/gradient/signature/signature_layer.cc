// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// One hidden layer of the signature method, backwards (Z.20), and its local error (Z.23).
#include <cmath>
#include <utility>

#include "gradient/signature/signature_gradient.h"
#include "gradient/weight_gradient.h"
#include "methods/signature/signature_certificate.h"

namespace mixcert {

// The local error. (S.1) is differentiated as it stands. The refined error (S.4) of a coordinate is a
// function of its mean and deviation alone, made of maxima of slopes over cells; it is differentiated by
// central differences, accurate to about 1e-9 of the error per deviation wherever no maximum changes hands
// (Z.23).

namespace {

// Of the deviation: truncation and rounding of the differences are then both near 1e-10.
constexpr double kRelativeStep = 1e-5;

/// One component's share.
class ComponentErrors {
 public:
  ComponentErrors(const Gaussian& gaussian, const GridSignature& signature, const ActivationMap& activation,
                  Index input_count)
      : gaussian_(gaussian), signature_(signature), activation_(activation), input_count_(input_count) {
    const double l = activation.lipschitz().nominal;
    lipschitz_squared_ = l * l;
    variances_ = gaussian.covariance.variances();
    plain_ = lipschitz_squared_ * signature.mean_square_errors(variances_);
  }

  /// Is the error of coordinate i the refined one?
  [[nodiscard]] bool is_refined(Index i, double error) const { return error < plain_(i); }

  void add_plain(Index i, double error_bar, ComponentGradient& gradient) const {
    // Rounding has made an error negative; where there is no variance the derivative is one-sided.
    if (plain_(i) == 0.0 && variances_(i) > 0.0) return;
    const double bar = lipschitz_squared_ * error_bar;
    const Covariance& covariance = gaussian_.covariance;
    gradient.gaussian.blocks(i, i % covariance.block_size()) += bar;
    if (covariance.rank() > 0) gradient.gaussian.factor.row(i) += 2.0 * bar * covariance.factor().row(i);
    for (Index d = 0; d < signature_.axis_count(); ++d) {
      const double captured = 1.0 - signature_.quantizers[static_cast<std::size_t>(d)]->distortion.nominal;
      gradient.directions(i, d) -= 2.0 * bar * captured * signature_.directions(i, d);
    }
  }

  void add_refined(Index i, double error_bar, ComponentGradient& gradient) const {
    const Activation& activation = activation_.at(i / input_count_);
    const NormalQuantizer& quantizer = quantizer_of(i);
    const double mean = gaussian_.mean(i);
    const double deviation = std::sqrt(variances_(i));
    const double step = kRelativeStep * deviation;
    const auto error = [&](double m, double s) {
      return coordinate_error(activation, m, s, quantizer).nominal;
    };
    const double in_mean = error(mean + step, deviation) - error(mean - step, deviation);
    const double in_deviation = error(mean, deviation + step) - error(mean, deviation - step);
    gradient.gaussian.mean(i) += error_bar * in_mean / (2.0 * step);
    gradient.gaussian.blocks(i, 0) += error_bar * in_deviation / (4.0 * step * deviation);
  }

 private:
  [[nodiscard]] const NormalQuantizer& quantizer_of(Index i) const {
    for (std::size_t d = 0; d < signature_.coordinates.size(); ++d) {
      if (signature_.coordinates[d] == i) return *signature_.quantizers[d];
    }
    return optimal_quantizer(1);
  }

  const Gaussian& gaussian_;
  const GridSignature& signature_;
  const ActivationMap& activation_;
  Index input_count_;
  double lipschitz_squared_ = 1.0;
  Vector variances_;
  Vector plain_;
};

}  // namespace

Vector add_local_gradient(const SignatureLayerTrace& layer, const ActivationMap& activation,
                          Index input_count, bool refine, ConstVectorRef g, double q_bar,
                          std::vector<ComponentGradient>& components) {
  const Matrix errors = local_errors(layer, activation, input_count, refine).nominal;
  for (Index j = 0; j < layer.after.size(); ++j) {
    const auto at = static_cast<std::size_t>(j);
    const ComponentErrors component(layer.after.component(j), layer.signatures[at], activation, input_count);
    for (Index i = 0; i < g.size(); ++i) {
      const double error_bar = q_bar * layer.after.weights()(j) * g(i);
      if (component.is_refined(i, errors(i, j))) {
        component.add_refined(i, error_bar, components[at]);
      } else {
        component.add_plain(i, error_bar, components[at]);
      }
    }
  }
  return q_bar * errors * layer.after.weights();
}

// The layer: propagate()'s loop body from its end to its beginning: affine map, activation, grid points,
// local error, directions, compression.

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
