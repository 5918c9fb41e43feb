// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// W2 between a diagonal Gaussian and one with a low-rank part, against the dense formula it
// replaces.
#include <benchmark/benchmark.h>

#include "mixcert/transport/gaussian_transport.h"
#include "statistics/simulate/normal_source.h"

namespace mixcert {
namespace {

struct Pair {
  Gaussian plain;
  Gaussian spread;
};

Pair make_pair(Index n, Index rank) {
  Generator generator = make_generator(3, Stream::Example);
  Matrix numbers(n, rank + 4);
  fill_normal(generator, numbers);
  const Vector a = numbers.col(0).cwiseAbs2() + Vector::Constant(n, 0.1);
  const Vector c = numbers.col(1).cwiseAbs2() + Vector::Constant(n, 0.1);
  return {{numbers.col(2), Covariance::diagonal(a)},
          {numbers.col(3), Covariance::diagonal(c).plus_low_rank(0.3 * numbers.rightCols(rank))}};
}

void structured(benchmark::State& state) {
  const Pair pair = make_pair(state.range(0), state.range(1));
  const Vector metric = Vector::Ones(state.range(0));
  for ([[maybe_unused]] auto _ : state)
    benchmark::DoNotOptimize(gaussian_transport_cost(pair.plain, pair.spread, metric));
}
BENCHMARK(structured)->Args({128, 1})->Args({128, 4})->Args({512, 1})->Args({1024, 1});

void dense(benchmark::State& state) {
  const Pair pair = make_pair(state.range(0), state.range(1));
  const Matrix a = pair.plain.covariance.to_dense();
  const Matrix c = pair.spread.covariance.to_dense();
  for ([[maybe_unused]] auto _ : state)
    benchmark::DoNotOptimize(gelbrich_squared(pair.plain.mean, a, pair.spread.mean, c));
}
BENCHMARK(dense)->Args({128, 1})->Args({512, 1});

}  // namespace
}  // namespace mixcert
