// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Box and Muller's transform of uniform bits with a proven error, in loops that compilers turn into vector
// instructions: docs/theory/simulation.md (F.1). The library's log, sin and cos take four times as long, one
// number after another.
#pragma once

#include <cstdint>

#include "mixcert/core/types.h"

namespace mixcert {

/// A computed number differs from a standard normal one by at most this, but for kLostProbability (F.1).
inline constexpr double kNormalError = 1e-13;
inline constexpr double kLostProbability = 0x1.0p-79;

/// Pairs that are made at once, and the words of 64 bits that they take.
inline constexpr Index kNormalPairs = 256;
inline constexpr Index kNormalWords = 3 * kNormalPairs;

/// From kNormalWords uniform words, high and low halves of the radii's numbers and then the angles, to both
/// normals of each pair: r cos(phi) first, then r sin(phi).
void box_muller(const std::uint64_t* words, double* normals);

}  // namespace mixcert
