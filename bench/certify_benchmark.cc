// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// One input through whole networks, one thread, beside 1e4 Monte Carlo samples.
#include <benchmark/benchmark.h>

#include "bench_networks.h"
#include "mixcert/certify/certify.h"
#include "mixcert/statistics/simulate.h"
#include "sensitivity/sensitivity.h"

namespace mixcert {
namespace {

std::vector<Index> widths_of(const benchmark::State& state) {
  std::vector<Index> widths = {state.range(0)};
  for (Index k = 0; k < state.range(1); ++k) widths.push_back(state.range(2));
  widths.push_back(state.range(3));
  return widths;
}

void certify_inputs(benchmark::State& state) {
  const Network network = mean_field_network(widths_of(state), ActivationFunction::Relu);
  const Matrix inputs = uniform_inputs(network.inputs(), 20);
  Options options;
  options.method = Method::Signature;
  options.threads = 1;
  for ([[maybe_unused]] auto _ : state) benchmark::DoNotOptimize(certify(network, inputs, options));
  state.SetItemsProcessed(state.iterations() * inputs.cols());
}
BENCHMARK(certify_inputs)
    ->Args({1, 1, 64, 1})
    ->Args({784, 1, 128, 10})
    ->Args({784, 2, 128, 10})
    ->Unit(benchmark::kMillisecond);

void monte_carlo(benchmark::State& state) {
  const Network network = mean_field_network(widths_of(state), ActivationFunction::Relu);
  const Matrix inputs = uniform_inputs(network.inputs(), 1);
  SimulationOptions options;
  options.threads = 1;
  for ([[maybe_unused]] auto _ : state)
    benchmark::DoNotOptimize(simulate(network, inputs.col(0), 0, options));
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(monte_carlo)
    ->Args({1, 1, 64, 1})
    ->Args({784, 1, 128, 10})
    ->Args({784, 2, 128, 10})
    ->Unit(benchmark::kMillisecond);

void sensitivity(benchmark::State& state) {
  const Network network = mean_field_network(widths_of(state), ActivationFunction::Relu);
  for ([[maybe_unused]] auto _ : state) benchmark::DoNotOptimize(analyse_sensitivity(network));
}
BENCHMARK(sensitivity)->Args({784, 2, 128, 10})->Args({784, 2, 512, 10})->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace mixcert
