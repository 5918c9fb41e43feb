// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The coupled simulation of docs/theory/statistics.md (C.5), in pieces of samples with a generator each.
#include "statistics/joint_coupling.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "certificate/replaced_weights.h"
#include "methods/moment/moment_propagate.h"
#include "mixcert/core/error.h"
#include "statistics/gaussian_map.h"
#include "statistics/joint_layer_coupling.h"
#include "statistics/simulate/gaussian_sampler.h"

namespace mixcert {
namespace {

// One sample takes D x D decompositions, so that small pieces cost nothing and share work between threads.
constexpr Index kJointPieceColumns = 32;
// Generators of carry_samples: pieces of samples have parts from zero.
constexpr std::uint64_t kCarryPart = ~std::uint64_t{0};

void check_arguments(const Network& network, ConstMatrixRef inputs, const JointTrace& trace,
                     const SimulationOptions& options) {
  const std::string name = "simulate_coupled_jointly: ";
  require(inputs.rows() == network.inputs() && inputs.cols() == trace.input_count,
          name + "expected " + std::to_string(trace.input_count) + " inputs of " +
              std::to_string(network.inputs()) + " numbers, got " + std::to_string(inputs.cols()) + " of " +
              std::to_string(inputs.rows()));
  require(static_cast<Index>(trace.layers.size()) == network.hidden_count(),
          name + "the trace has " + std::to_string(trace.layers.size()) + " hidden layers, the network " +
              std::to_string(network.hidden_count()));
  require(options.samples > 0, name + "expected samples >= 1, got " + std::to_string(options.samples));
  require(!network.has_masks(), name + "the network has dropout");
  for (Index k = 0; k < network.layer_count(); ++k) {
    require(network.layer(k).is_gaussian(), name + "the network has weights that are not Gaussian");
  }
  const std::string correlated = network.correlated_layer();
  require(correlated.empty(), name + correlated);
  for (std::size_t k = 0; k < trace.layers.size(); ++k) {
    const JointLayerTrace& layer = trace.layers[k];
    const auto index = static_cast<Index>(k);
    const Index size = network.layer(index).outputs() * trace.input_count;
    require(layer.law.dimension() == size && layer.surrogate.mean.size() == size &&
                layer.noise.blocks.rows() == network.layer(index + 1).outputs() * trace.input_count,
            name + "the trace of hidden layer " + std::to_string(k + 1) + " does not belong to the network");
  }
}

/// The network's first affine layer at the inputs, neuron-major: one Gaussian, the same in both chains.
Gaussian first_law(const Network& network, ConstMatrixRef inputs) {
  const Matrix activations = network.activation(0).apply(network.features(inputs).values).transpose();
  DenseLayer::Pushed pushed = network.layer(0).push(activations.reshaped(), inputs.cols());
  return {pushed.means.col(0), std::move(pushed.covariances.front())};
}

std::vector<Index> input_major_order(Index outputs, Index input_count) {
  std::vector<Index> order;
  for (Index d = 0; d < input_count; ++d) {
    for (Index l = 0; l < outputs; ++l) order.push_back(l * input_count + d);
  }
  return order;
}

}  // namespace

CoupledSamples simulate_coupled_jointly(const Network& network, ConstMatrixRef inputs,
                                        const JointTrace& trace, const SimulationOptions& options) {
  check_arguments(network, inputs, trace, options);
  const GaussianSampler first(first_law(network, inputs));
  std::vector<JointLayerCoupling> layers;
  for (Index k = 1; k <= network.hidden_count(); ++k) {
    layers.emplace_back(network.activation(k), network.layer(k),
                        trace.layers[static_cast<std::size_t>(k - 1)], trace.input_count);
  }
  const std::vector<Index> order = input_major_order(network.outputs(), trace.input_count);
  const auto rows = static_cast<Index>(order.size());
  CoupledSamples samples{Matrix(rows, options.samples), Matrix(rows, options.samples)};
  const auto run_piece = [&](Index piece) {
    Generator generator =
        make_generator(options.seed, Stream::Coupling, 0, static_cast<std::uint64_t>(piece));
    const Index begin = piece * kJointPieceColumns;
    const Index count = std::min(kJointPieceColumns, options.samples - begin);
    JointCoupledState state{first.draw(generator, count), {}};
    state.surrogate = state.network;
    for (const JointLayerCoupling& layer : layers) layer.advance(state, generator);
    samples.network.middleCols(begin, count) = state.network(order, Eigen::all);
    samples.surrogate.middleCols(begin, count) = state.surrogate(order, Eigen::all);
  };
  const Index pieces = (options.samples + kJointPieceColumns - 1) / kJointPieceColumns;
  parallel_for(pieces, options.threads, run_piece, options.cancel);
  return samples;
}

CoupledSamples simulate_coupled(const Network& network, ConstMatrixRef inputs, Index input_index,
                                const CouplingTrace& trace, const SimulationOptions& options) {
  require(!trace.is_empty(), "simulate_coupled: the trace is empty");
  if (trace.joint != nullptr) return simulate_coupled_jointly(network, inputs, *trace.joint, options);
  return simulate_coupled(network, inputs.col(0), input_index, *trace.moment, options);
}

Gaussian joint_output(const JointTrace& trace) {
  const Index outputs = trace.output.dimension() / trace.input_count;
  return GaussianMixture(trace.output).permuted(input_major_order(outputs, trace.input_count)).component(0);
}

Matrix carry_samples(ConstMatrixRef samples, const Gaussian& from, const GaussianMixture& to,
                     std::uint64_t seed) {
  require(samples.rows() == from.dimension() && to.dimension() == from.dimension(),
          "carry_samples: dimensions " + std::to_string(samples.rows()) + ", " +
              std::to_string(from.dimension()) + " and " + std::to_string(to.dimension()) +
              ", expected equal ones");
  Generator generator = make_generator(seed, Stream::Coupling, 0, kCarryPart);
  std::vector<std::vector<Index>> columns(static_cast<std::size_t>(to.size()));
  for (Index s = 0; s < samples.cols(); ++s) {
    double left = uniform(generator);
    Index chosen = 0;
    while (chosen + 1 < to.size() && left >= to.weights()(chosen)) left -= to.weights()(chosen++);
    columns[static_cast<std::size_t>(chosen)].push_back(s);
  }
  Matrix carried(samples.rows(), samples.cols());
  for (Index j = 0; j < to.size(); ++j) {
    const std::vector<Index>& chosen = columns[static_cast<std::size_t>(j)];
    if (chosen.empty()) continue;
    const Matrix moved = samples(Eigen::all, chosen);
    carried(Eigen::all, chosen) = GaussianMap(from, to.component(j)).apply(moved, generator);
  }
  return carried;
}

}  // namespace mixcert
