// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Randomness of a training. Every draw comes from a generator made of (seed, purpose, index, part),
// so a resumed training draws what an uninterrupted one would, on any number of threads.
#pragma once

#include <cstdint>
#include <vector>

#include "data/dataset.h"
#include "mixcert/core/rng.h"

namespace mixcert::lab {

using FloatVector = Eigen::VectorXf;

/// Continues mixcert::Stream, from which it stays clear.
enum class TrainStream : std::uint64_t {
  InitialWeights = 101,
  Shuffle = 102,
  WeightNoise = 103,
  Dropout = 104,
  OutputRoot = 105,
  Evaluation = 106,
  Validation = 107,
  EvaluationDropout = 108,
  PriorFunctions = 109,
  CriticWeights = 110,
  CriticMixing = 111,
};

inline Generator train_generator(std::uint64_t seed, TrainStream stream, std::uint64_t index = 0,
                                 std::uint64_t part = 0) {
  return make_generator(seed, static_cast<Stream>(stream), index, part);
}

/// Standard normals, drawn in pieces that have generators of their own.
void fill_noise(std::uint64_t seed, TrainStream stream, std::uint64_t index, int threads, FloatVector& out);

/// 0..count-1 in random order.
std::vector<Index> shuffled(std::uint64_t seed, TrainStream stream, std::uint64_t index, Index count);

/// 1/(1-rate) where an entry stays, 0 where it is dropped.
void fill_dropout_scale(Generator& generator, double rate, FloatRows& scale);

}  // namespace mixcert::lab
