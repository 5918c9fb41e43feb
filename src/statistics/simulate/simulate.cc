// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Monte Carlo samples of a network and of an ensemble.
#include "mixcert/statistics/simulate.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "mixcert/core/error.h"
#include "mixcert/core/rng.h"
#include "network/graph/graph_paths.h"
#include "statistics/simulate/layer_noise.h"
#include "statistics/simulate/normal_source.h"

namespace mixcert {

// The first layer sees fixed inputs, so its output is one Gaussian (N.2), drawn from factors computed once,
// unless its weights are not normal or have normals in common with other layers; each later layer draws its
// output given the masked activations of a piece of samples. Pieces are of about kPieceColumns columns: at
// width 128 matrix products already run at full speed, and the matrices of a piece stay in cache and below
// the size that malloc fetches from the system each time (500 columns: 30 % slower).

namespace {

constexpr Index kPieceColumns = 200;

/// What is the same for every piece. Columns of activations are grouped by sample, one
/// column per input.
class Simulator {
 public:
  Simulator(const Network& network, ConstMatrixRef inputs) : network_(network), input_count_(inputs.cols()) {
    first_activations_ = network.activation(0).apply(network.features(inputs).values);
    const bool has_common = network.common_factor_count() > 0;
    const bool as_one = network.layer(0).is_gaussian() && !has_common;
    if (as_one) first_layer_.emplace(first_layer_law());
    for (Index k = 0; k < network.layer_count(); ++k) {
      noise_.push_back(k > 0 || !as_one ? make_layer_noise(network.layer(k), input_count_, !has_common)
                                        : NoiseTerms());
    }
  }

  /// outputs x (input_count * samples).
  [[nodiscard]] Matrix run(Generator& generator, Index samples) const {
    Matrix common(network_.common_factor_count(), samples);
    fill_normal(generator, common);
    Matrix state = first_layer_
                       ? first_outputs(generator, samples)
                       : layer_outputs(0, first_activations_.replicate(1, samples), common, generator);
    for (Index k = 1; k < network_.layer_count(); ++k) {
      Matrix activations = network_.activation(k).apply(state);
      apply_mask(network_.mask(k), generator, activations);
      state = layer_outputs(k, activations, common, generator);
    }
    return state;
  }

 private:
  using NoiseTerms = std::vector<std::unique_ptr<LayerNoise>>;

  /// `common`: normals of all layers together, a column for each sample.
  [[nodiscard]] Matrix layer_outputs(Index k, const Matrix& activations, const Matrix& common,
                                     Generator& generator) const {
    const DenseLayer& layer = network_.layer(k);
    Matrix outputs = layer.weight_mean() * activations;
    outputs.colwise() += layer.bias_mean();
    for (const auto& term : noise_[static_cast<std::size_t>(k)]) term->add(activations, generator, outputs);
    if (common.rows() > 0 && common_factor_count(layer.weights()) > 0) {
      add_common_noise(std::get<LowRankWeights>(layer.weights()), activations, common, input_count_, outputs);
    }
    return outputs;
  }

  [[nodiscard]] Gaussian first_layer_law() const {
    // Neuron-major: the transpose of features x columns, read column by column.
    const Matrix activations = first_activations_.transpose();
    DenseLayer::Pushed pushed = network_.layer(0).push(activations.reshaped(), input_count_);
    return {pushed.means.col(0), std::move(pushed.covariances.front())};
  }

  [[nodiscard]] Matrix first_outputs(Generator& generator, Index samples) const {
    Matrix draws = first_layer_->draw(generator, samples);
    if (input_count_ == 1) return draws;
    const Index neurons = draws.rows() / input_count_;
    Matrix state(neurons, input_count_ * samples);
    for (Index s = 0; s < samples; ++s) {
      const Eigen::Map<const Matrix> neuron_major(draws.col(s).data(), input_count_, neurons);
      state.middleCols(s * input_count_, input_count_) = neuron_major.transpose();
    }
    return state;
  }

  const Network& network_;
  Index input_count_;
  Matrix first_activations_;                    // of the first layer, one column per input
  std::optional<GaussianSampler> first_layer_;  // where that is Gaussian
  std::vector<NoiseTerms> noise_;               // per layer; none for a Gaussian first one
};

/// Pieces of samples of one network.
struct Sampler {
  Index piece_size = 0;
  std::function<Matrix(Generator&, Index)> draw;  ///< outputs x samples, those of several inputs stacked
};

/// Layers that keep their structure (O.1).
Sampler graph_sampler(const LayerGraph& graph, const Matrix& inputs) {
  return {block_draws(graph), [&graph, inputs](Generator& generator, Index samples) {
            const NormalSource source = [&](Matrix& out) { fill_normal(generator, out); };
            if (inputs.cols() == 1)
              return run_block(graph, inputs.col(0), BlockRandomness(graph, samples, source));
            Matrix made(graph.outputs() * inputs.cols(), samples);
            for (Index i = 0; i < samples; ++i) made.col(i) = run_jointly(graph, inputs, source).reshaped();
            return made;
          }};
}

Sampler chain_sampler(const Network& network, ConstMatrixRef inputs) {
  const auto simulator = std::make_shared<const Simulator>(network, inputs);
  const Index rows = network.outputs() * inputs.cols();
  return {std::max<Index>(1, kPieceColumns / inputs.cols()),
          [simulator, rows](Generator& generator, Index samples) {
            // The columns of a sample one after the other are its input-major result.
            return Matrix(simulator->run(generator, samples).reshaped(rows, samples));
          }};
}

Matrix simulate_inputs(const Network& network, ConstMatrixRef inputs, std::uint64_t stream_index,
                       const SimulationOptions& options) {
  require(inputs.rows() == network.inputs() && inputs.cols() > 0,
          "simulate: expected inputs of " + std::to_string(network.inputs()) + " numbers, one or more, got " +
              std::to_string(inputs.rows()) + " x " + std::to_string(inputs.cols()));
  require(inputs.allFinite(), "simulate: an input is not finite");
  require(options.samples > 0, "simulate: expected samples >= 1, got " + std::to_string(options.samples));
  const Sampler sampler = network.graph() != nullptr
                              ? graph_sampler(*network.graph(), network.features(inputs).values)
                              : chain_sampler(network, inputs);
  const Index piece_count = (options.samples + sampler.piece_size - 1) / sampler.piece_size;
  Matrix result(network.outputs() * inputs.cols(), options.samples);
  const auto run_piece = [&](Index piece) {
    Generator generator =
        make_generator(options.seed, Stream::Network, stream_index, static_cast<std::uint64_t>(piece));
    const Index first = piece * sampler.piece_size;
    const Index count = std::min(sampler.piece_size, options.samples - first);
    result.middleCols(first, count) = sampler.draw(generator, count);
  };
  parallel_for(piece_count, options.threads, run_piece, options.cancel);
  return result;
}

}  // namespace

Matrix simulate(const Network& network, ConstVectorRef input, Index input_index,
                const SimulationOptions& options) {
  return simulate_inputs(network, input, static_cast<std::uint64_t>(input_index), options);
}

Matrix simulate_joint(const Network& network, ConstMatrixRef inputs, const SimulationOptions& options) {
  require(inputs.cols() <= 1 || !network.has_own_noise(),
          "simulate_joint: the network has noise layers, which every input draws for itself");
  return simulate_inputs(network, inputs, 0, options);
}

// Samples of an ensemble: labels first, then all samples of a member at once, so that whatever a member needs
// is factored once. Labels come from one generator and members have seeds of their own, so that nothing
// depends on threads.

namespace {

/// For each member, the samples that belong to it; labels by inversion.
std::vector<std::vector<Index>> draw_labels(const Vector& weights, Index samples, Generator& generator) {
  std::vector<std::vector<Index>> members(static_cast<std::size_t>(weights.size()));
  for (Index s = 0; s < samples; ++s) {
    double rest = uniform(generator) * weights.sum();
    Index label = 0;
    // The last member takes what rounding leaves.
    while (label + 1 < weights.size() && rest >= weights(label)) rest -= weights(label++);
    members[static_cast<std::size_t>(label)].push_back(s);
  }
  return members;
}

using MemberSimulation = std::function<Matrix(const Network&, const SimulationOptions&)>;

Matrix simulate_members(const Ensemble& ensemble, Index rows, std::uint64_t stream_index,
                        const SimulationOptions& options, const MemberSimulation& simulate_member) {
  if (ensemble.size() == 1) return simulate_member(ensemble.member(0), options);
  require(options.samples > 0, "simulate: expected samples >= 1, got " + std::to_string(options.samples));
  Generator generator = make_generator(options.seed, Stream::Member, stream_index);
  const auto labels = draw_labels(ensemble.weights(), options.samples, generator);
  Matrix result(rows, options.samples);
  for (Index i = 0; i < ensemble.size(); ++i) {
    const std::vector<Index>& mine = labels[static_cast<std::size_t>(i)];
    if (mine.empty()) continue;
    SimulationOptions own = options;
    own.samples = static_cast<Index>(mine.size());
    own.seed = member_seed(options.seed, i);
    result(Eigen::all, mine) = simulate_member(ensemble.member(i), own);
  }
  return result;
}

}  // namespace

std::uint64_t member_seed(std::uint64_t seed, Index member) {
  return member == 0 ? seed : split_mix(seed ^ split_mix(static_cast<std::uint64_t>(member)));
}

Matrix simulate(const Ensemble& ensemble, ConstVectorRef input, Index input_index,
                const SimulationOptions& options) {
  return simulate_members(ensemble, ensemble.outputs(), static_cast<std::uint64_t>(input_index), options,
                          [&](const Network& member, const SimulationOptions& own) {
                            return simulate(member, input, input_index, own);
                          });
}

Matrix simulate_joint(const Ensemble& ensemble, ConstMatrixRef inputs, const SimulationOptions& options) {
  return simulate_members(ensemble, ensemble.outputs() * inputs.cols(), 0, options,
                          [&](const Network& member, const SimulationOptions& own) {
                            return simulate_joint(member, inputs, own);
                          });
}

}  // namespace mixcert
