// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Generation of NoisySines from the library's own streams, so that machines agree: the uniform
// numbers bit for bit, the rest up to the last bit of sin and log before rounding to float.
#include "data/noisy_sines.h"

#include <cmath>
#include <limits>
#include <numbers>

#include "mixcert/core/rng.h"
#include "statistics/simulate/normal_source.h"

namespace mixcert::lab {
namespace {

enum class Part : std::uint64_t { Inputs = 0, Noise = 1 };

/// Streams of the examples, apart from the other users of that stream by the first index.
Generator generator_of(std::uint64_t seed, std::uint64_t split, Part part) {
  constexpr std::uint64_t kNoisySines = 0x4E6F697379ULL;
  return make_generator(seed, Stream::Example, kNoisySines + split, static_cast<std::uint64_t>(part));
}

double noiseless(const NoisySinesOptions& options, double x) {
  const double phase = 2.0 * std::numbers::pi * options.frequency * x;
  return options.amplitude * (std::sin(phase) + 0.5 * std::sin(2.0 * phase));
}

Examples make_split(const NoisySinesOptions& options, std::uint64_t split, Index count) {
  Generator inputs = generator_of(options.seed, split, Part::Inputs);
  Generator noise = generator_of(options.seed, split, Part::Noise);
  Matrix errors(count, 1);
  fill_normal(noise, errors);
  Examples examples{FloatRows(count, 1), FloatRows(count, 1), {}};
  for (Index i = 0; i < count; ++i) {
    // The target belongs to the input that is stored.
    const auto x = static_cast<float>(2.0 * uniform(inputs) - 1.0);
    examples.inputs(i, 0) = x;
    const double y = noiseless(options, static_cast<double>(x)) + options.noise * errors(i, 0);
    examples.targets(i, 0) = static_cast<float>(y);
  }
  return examples;
}

}  // namespace

const OptionTable<NoisySinesOptions>& noisy_sines_table() {
  using Options = NoisySinesOptions;
  static const OptionTable<Options> table = {
      real_option("amplitude", &Options::amplitude, 0.0, "noisy-sines: amplitude"),
      real_option("frequency", &Options::frequency, 0.0, "noisy-sines: periods per unit of x"),
      real_option("noise", &Options::noise, 0.0, "noisy-sines: standard deviation of the noise"),
      integer_option<Options, std::uint64_t>("data-seed", &Options::seed, 0,
                                             std::numeric_limits<std::uint64_t>::max(),
                                             "noisy-sines: seed of the rows"),
  };
  return table;
}

Dataset make_noisy_sines(const NoisySinesOptions& options) {
  Dataset dataset;
  dataset.name = "noisy-sines";
  dataset.task = Task::Regression;
  dataset.train = make_split(options, 0, kNoisySinesTrain);
  dataset.test = make_split(options, 1, kNoisySinesTest);
  dataset.standardisation = {Vector::Zero(1), Vector::Ones(1), Vector::Zero(1), Vector::Ones(1)};
  return dataset;
}

}  // namespace mixcert::lab
