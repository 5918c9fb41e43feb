// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// NoisySines, a generated regression problem with one input and one output:
//     y = a (sin(2 pi f x) + sin(4 pi f x) / 2) + s e,   x ~ U[-1, 1],   e ~ N(0, 1),
// with 1024 training and 102 test rows. Neither x nor y is standardised. The rows depend on the
// seed alone; amplitude, frequency and noise change y but not x or e.
#pragma once

#include <cstdint>

#include "data/dataset.h"
#include "mixcert/core/option_table.h"

namespace mixcert::lab {

inline constexpr Index kNoisySinesTrain = 1024;
inline constexpr Index kNoisySinesTest = 102;

struct NoisySinesOptions {
  double amplitude = 1.0;  ///< a
  double frequency = 1.0;  ///< f, periods per unit of x
  double noise = 0.1;      ///< s, standard deviation
  std::uint64_t seed = 0;
};

/// Flags --amplitude, --frequency, --noise, --data-seed.
const OptionTable<NoisySinesOptions>& noisy_sines_table();

Dataset make_noisy_sines(const NoisySinesOptions& options);

}  // namespace mixcert::lab
