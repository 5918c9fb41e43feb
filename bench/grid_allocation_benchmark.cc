// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Exact grid sizes for 128 eigenvalues; distortions are cached before timing starts.
#include <benchmark/benchmark.h>

#include <cmath>

#include "quantize/signature.h"

namespace mixcert {
namespace {

void grid_sizes(benchmark::State& state) {
  const Vector eigenvalues =
      Vector::NullaryExpr(128, [](Index i) { return std::exp(-0.1 * static_cast<double>(i)); });
  const DistortionTable table = [](Index n) { return optimal_quantizer(n).distortion.nominal; };
  benchmark::DoNotOptimize(optimal_grid_sizes(eigenvalues, state.range(0), table));
  for ([[maybe_unused]] auto _ : state)
    benchmark::DoNotOptimize(optimal_grid_sizes(eigenvalues, state.range(0), table));
}
BENCHMARK(grid_sizes)->Arg(10)->Arg(100)->Arg(1000)->Arg(10000)->Arg(100000);

void quantizer(benchmark::State& state) {
  // Sizes are cached, so each iteration asks for another one near the wanted size.
  Index size = state.range(0);
  for ([[maybe_unused]] auto _ : state) benchmark::DoNotOptimize(optimal_quantizer(size++).distortion);
}
BENCHMARK(quantizer)->Arg(10)->Iterations(50);
BENCHMARK(quantizer)->Arg(1000)->Iterations(50);
BENCHMARK(quantizer)->Arg(9900)->Iterations(50);

}  // namespace
}  // namespace mixcert
