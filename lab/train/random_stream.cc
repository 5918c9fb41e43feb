// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Noise, shuffles and dropout.
#include "train/random_stream.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "mixcert/core/parallel.h"
#include "statistics/simulate/normal_source.h"

namespace mixcert::lab {
namespace {

constexpr Index kPieceSize = 16384;

}  // namespace

void fill_noise(std::uint64_t seed, TrainStream stream, std::uint64_t index, int threads, FloatVector& out) {
  const Index pieces = (out.size() + kPieceSize - 1) / kPieceSize;
  // A thread costs as much as some thousand numbers.
  parallel_for(pieces, pieces == 1 ? 1 : threads, [&](Index piece) {
    const Index begin = piece * kPieceSize;
    Matrix numbers(std::min(kPieceSize, out.size() - begin), 1);
    Generator generator = train_generator(seed, stream, index, static_cast<std::uint64_t>(piece));
    fill_normal(generator, numbers);
    out.segment(begin, numbers.size()) = numbers.col(0).cast<float>();
  });
}

std::vector<Index> shuffled(std::uint64_t seed, TrainStream stream, std::uint64_t index, Index count) {
  std::vector<Index> order(static_cast<std::size_t>(count));
  std::iota(order.begin(), order.end(), Index{0});
  Generator generator = train_generator(seed, stream, index);
  for (std::size_t i = order.size(); i > 1; --i) {
    const auto other = static_cast<std::size_t>(uniform(generator) * static_cast<double>(i));
    std::swap(order[i - 1], order[other]);
  }
  return order;
}

void fill_dropout_scale(Generator& generator, double rate, FloatRows& scale) {
  const auto kept = static_cast<float>(1.0 / (1.0 - rate));
  for (Index i = 0; i < scale.size(); ++i) scale.data()[i] = uniform(generator) < rate ? 0.0F : kept;
}

}  // namespace mixcert::lab
