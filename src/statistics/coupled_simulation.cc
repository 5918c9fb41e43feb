// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The coupled simulation of docs/theory/statistics.md (C.3): one layer, and the network in pieces of samples
// with a generator each.
#include "statistics/coupled_simulation.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/normal.h"
#include "methods/moment/surrogate_law.h"
#include "mixcert/core/error.h"
#include "statistics/simulate/normal_source.h"

namespace mixcert {

// The coupling of (H.4), drawn. Columns that share a component are moved together.

namespace {

std::map<Index, std::vector<Index>> columns_by_label(const std::vector<Index>& labels) {
  std::map<Index, std::vector<Index>> columns;
  for (std::size_t s = 0; s < labels.size(); ++s) columns[labels[s]].push_back(static_cast<Index>(s));
  return columns;
}

/// Var(W a + b) of independent weights, one column per column of activations.
Matrix noise_variances(const DenseLayer& layer, const Matrix& activations) {
  Matrix variances = layer.bias_variances().replicate(1, activations.cols());
  if (const Matrix* of_weights = independent_variances(layer.weights())) {
    variances.noalias() += *of_weights * activations.cwiseAbs2();
  }
  return variances;
}

}  // namespace

CoupledLayer::CoupledLayer(const ActivationMap& activation, const Mask& mask, const DenseLayer& next,
                           const MomentLayerTrace& layer)
    : activation_(activation), mask_(mask), next_(next), layer_(layer) {
  targets_.resize(static_cast<std::size_t>(layer.before.size()));
  for (const PlanEntry& entry : layer.plan) {
    if (!(entry.mass > 0.0)) continue;
    auto& targets = targets_[static_cast<std::size_t>(entry.source)];
    targets.emplace_back(entry.target, entry.mass + (targets.empty() ? 0.0 : targets.back().second));
    maps_.try_emplace({entry.source, entry.target}, layer.before.component(entry.source),
                      layer.after.component(entry.target));
  }
  for (std::size_t j = 0; j < layer.splits.size(); ++j) {
    first_piece_.push_back(j == 0 ? 0 : first_piece_.back() + splits_.back().piece_count());
    splits_.emplace_back(layer.after.component(static_cast<Index>(j)), layer.splits[j]);
  }
  const auto count = static_cast<Index>(layer.surrogates.size());
  slopes_.resize(next.inputs(), count);
  noise_roots_.resize(next.outputs(), count);
  for (Index i = 0; i < count; ++i) {
    const SurrogateLaw& law = layer.surrogates[static_cast<std::size_t>(i)];
    slopes_.col(i) = gain_per_unit(layer.pieces.component(i / layer.masks.size()), law);
    noise_roots_.col(i) = mean_noise(next, law).cwiseSqrt();
  }
}

void CoupledLayer::advance(CoupledState& state, Generator& generator) const {
  if (!targets_.empty()) compress(state, generator);
  if (!splits_.empty()) split(state, generator);
  push(state, generator);
}

void CoupledLayer::compress(CoupledState& state, Generator& generator) const {
  for (const auto& [source, columns] : columns_by_label(state.labels)) {
    const auto& targets = targets_[static_cast<std::size_t>(source)];
    for (const Index s : columns) {
      const double u = uniform(generator) * targets.back().second;
      const auto place = std::find_if(targets.begin(), targets.end() - 1,
                                      [u](const auto& target) { return u < target.second; });
      state.labels[static_cast<std::size_t>(s)] = place->first;
    }
    for (const auto& [target, end] : targets) {
      std::vector<Index> moved;
      for (const Index s : columns) {
        if (state.labels[static_cast<std::size_t>(s)] == target) moved.push_back(s);
      }
      if (moved.empty()) continue;
      const Matrix samples = state.surrogate(Eigen::all, moved);
      state.surrogate(Eigen::all, moved) = maps_.at({source, target}).apply(samples, generator);
    }
  }
}

void CoupledLayer::split(CoupledState& state, Generator& generator) const {
  for (const auto& [component, columns] : columns_by_label(state.labels)) {
    const auto j = static_cast<std::size_t>(component);
    Matrix samples = state.surrogate(Eigen::all, columns);
    const std::vector<Index> pieces = splits_[j].apply(samples, generator);
    state.surrogate(Eigen::all, columns) = samples;
    for (std::size_t s = 0; s < columns.size(); ++s) {
      state.labels[static_cast<std::size_t>(columns[s])] = first_piece_[j] + pieces[s];
    }
  }
}

/// Factors m_j and the normals eta_j that they are coupled to (D.2): m_j is nondecreasing in sign(a_j) eta_j,
/// and eta_j is standard normal whatever the activations are.
CoupledLayer::MaskDraws CoupledLayer::draw_masks(const Matrix& activations, Generator& generator) const {
  MaskDraws draws{Matrix(activations.rows(), activations.cols()),
                  Matrix(activations.rows(), activations.cols())};
  fill_normal(generator, draws.normals);
  const Matrix aligned = (activations.array() < 0.0).select(-draws.normals, draws.normals);
  if (mask_.kind() == Mask::Kind::Gaussian) {
    draws.factors = (1.0 + std::sqrt(mask_.variance().nominal) * aligned.array()).matrix();
  } else {
    const double threshold = normal_quantile(mask_.rate());
    const double kept = 1.0 / mask_.keep();
    draws.factors = aligned.unaryExpr([=](double x) { return x > threshold ? kept : 0.0; });
  }
  return draws;
}

/// From pieces to pieces and leaves of enumerated masks (D.4).
void CoupledLayer::add_leaves(const Matrix& factors, std::vector<Index>& labels) const {
  for (std::size_t s = 0; s < labels.size(); ++s) {
    const auto column = factors.col(static_cast<Index>(s));
    labels[s] = labels[s] * layer_.masks.size() +
                layer_.masks.find([&](Index neuron) { return column(neuron) > 0.0; });
  }
}

/// b_j = mean_j + gain_j (z_j - m_j) / s_j of each sample's piece and leaf (H.1).
Matrix CoupledLayer::surrogate_activations(const CoupledState& state) const {
  Matrix activations(state.surrogate.rows(), state.surrogate.cols());
  for (Index s = 0; s < activations.cols(); ++s) {
    const Index piece = state.labels[static_cast<std::size_t>(s)];
    const Vector& mean = layer_.surrogates[static_cast<std::size_t>(piece)].mean;
    const Vector& center = layer_.pieces.component(piece / layer_.masks.size()).mean;
    activations.col(s) = mean + slopes_.col(piece).cwiseProduct(state.surrogate.col(s) - center);
  }
  return activations;
}

/// The same normals on both sides, as in the proof of (H.3).
void CoupledLayer::push(CoupledState& state, Generator& generator) const {
  Matrix activations = activation_.apply(state.network);
  MaskDraws masks;
  if (!mask_.is_none()) {
    masks = draw_masks(activations, generator);
    add_leaves(masks.factors, state.labels);
    activations.array() *= masks.factors.array();
  }
  Matrix surrogate = surrogate_activations(state);
  for (Index s = 0; s < masks.normals.cols(); ++s) {
    const auto component = static_cast<std::size_t>(state.labels[static_cast<std::size_t>(s)]);
    surrogate.col(s) += layer_.surrogates[component].mask_gain.cwiseProduct(masks.normals.col(s));
  }
  Matrix normals(next_.outputs(), activations.cols());
  fill_normal(generator, normals);
  state.network = next_.weight_mean() * activations +
                  noise_variances(next_, activations).cwiseSqrt().cwiseProduct(normals);
  state.network.colwise() += next_.bias_mean();
  state.surrogate =
      next_.weight_mean() * surrogate + noise_roots_(Eigen::all, state.labels).cwiseProduct(normals);
  state.surrogate.colwise() += next_.bias_mean();
}

// The whole network.

namespace {

constexpr Index kCoupledColumns = 200;

void check_arguments(const Network& network, ConstVectorRef input, const MomentTrace& trace,
                     const SimulationOptions& options) {
  require(input.size() == network.inputs(), "simulate_coupled: expected an input of " +
                                                std::to_string(network.inputs()) + " numbers, got " +
                                                std::to_string(input.size()));
  require(static_cast<Index>(trace.layers.size()) == network.hidden_count(),
          "simulate_coupled: the trace has " + std::to_string(trace.layers.size()) +
              " hidden layers, the network " + std::to_string(network.hidden_count()));
  require(options.samples > 0,
          "simulate_coupled: expected samples >= 1, got " + std::to_string(options.samples));
  for (std::size_t k = 0; k < trace.layers.size(); ++k) {
    const MomentLayerTrace& layer = trace.layers[k];
    require(layer.pieces.dimension() == network.layer(static_cast<Index>(k)).outputs() &&
                static_cast<Index>(layer.surrogates.size()) == layer.pieces.size() * layer.masks.size(),
            "simulate_coupled: the trace of hidden layer " + std::to_string(k + 1) +
                " does not belong to the network");
  }
}

/// The network's first affine layer at the input: one Gaussian, the same in both chains.
Gaussian first_law(const Network& network, ConstVectorRef input) {
  DenseLayer::Pushed pushed =
      network.layer(0).push(network.activation(0).apply(network.features(input).values), 1);
  return {pushed.means.col(0), std::move(pushed.covariances.front())};
}

}  // namespace

CoupledSamples simulate_coupled(const Network& network, ConstVectorRef input, Index input_index,
                                const MomentTrace& trace, const SimulationOptions& options) {
  check_arguments(network, input, trace, options);
  const GaussianSampler first(first_law(network, input));
  std::vector<CoupledLayer> layers;
  for (Index k = 1; k <= network.hidden_count(); ++k) {
    layers.emplace_back(network.activation(k), network.mask(k), network.layer(k),
                        trace.layers[static_cast<std::size_t>(k - 1)]);
  }
  CoupledSamples samples{Matrix(network.outputs(), options.samples),
                         Matrix(network.outputs(), options.samples)};
  const auto run_piece = [&](Index piece) {
    Generator generator =
        make_generator(options.seed, Stream::Coupling, static_cast<std::uint64_t>(input_index),
                       static_cast<std::uint64_t>(piece));
    const Index begin = piece * kCoupledColumns;
    const Index count = std::min(kCoupledColumns, options.samples - begin);
    CoupledState state{
        first.draw(generator, count), {}, std::vector<Index>(static_cast<std::size_t>(count), 0)};
    state.surrogate = state.network;
    for (const CoupledLayer& layer : layers) layer.advance(state, generator);
    samples.network.middleCols(begin, count) = state.network;
    samples.surrogate.middleCols(begin, count) = state.surrogate;
  };
  const Index pieces = (options.samples + kCoupledColumns - 1) / kCoupledColumns;
  parallel_for(pieces, options.threads, run_piece, options.cancel);
  return samples;
}

CoupledDistance coupled_distance(const CoupledSamples& samples, double failure_probability) {
  const Vector squares = (samples.network - samples.surrogate).colwise().squaredNorm();
  CoupledDistance distance;
  distance.square = mean_upper_bound(squares, failure_probability);
  distance.w2_upper_statistical = std::sqrt(distance.square.upper);
  return distance;
}

}  // namespace mixcert
