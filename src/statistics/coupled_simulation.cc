// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The coupled simulation of docs/theory/statistics.md (C.3), in pieces of samples with a generator each.
#include "statistics/coupled_simulation.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "mixcert/core/error.h"
#include "statistics/coupled_layer.h"
#include "statistics/simulate/gaussian_sampler.h"

namespace mixcert {
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
  distance.w2_upper = std::sqrt(distance.square.upper);
  return distance;
}

}  // namespace mixcert
