// Licensed under the Apache License, Version 2.0; see LICENSE.
#include "simulated/box_muller.h"

#include <bit>
#include <numbers>

namespace mixcert {
namespace {

using Pairs = Eigen::Array<double, kNormalPairs, 1>;

constexpr std::uint64_t kTopBit = std::uint64_t{1} << 63U;
constexpr std::uint64_t kMantissa = (std::uint64_t{1} << 52U) - 1;
constexpr auto kRootOfHalf = std::bit_cast<std::uint64_t>(0.5 * std::numbers::sqrt2);
constexpr auto kOneLessRootOfHalf = std::bit_cast<std::uint64_t>(1.0 - 0.5 * std::numbers::sqrt2);

/// U = (1 + f) 2^e with |log(1 + f)| <= (log 2)/2, from 128 bits. The first says on which side of 1/2 it
/// lies, the others how far x from the nearer end, so that neither loses digits. f and e are exact for the
/// rounded x.
struct Logarithms {
  Pairs f, e;
};

Logarithms logarithms(const std::uint64_t* high, const std::uint64_t* low) {
  Logarithms made;
  for (Index i = 0; i < kNormalPairs; ++i) {
    const double x = static_cast<double>(high[i] & ~kTopBit) * 0x1.0p-64 +
                     (static_cast<double>(low[i]) + 0.5) * 0x1.0p-128;
    // x = m 2^e with m in [2^-1/2, 2^1/2): positive numbers are ordered as their bits.
    const auto bits = std::bit_cast<std::uint64_t>(x);
    const std::uint64_t above = bits - kRootOfHalf;
    const auto exponent = static_cast<double>(static_cast<std::int64_t>(above) >> 52U);
    const double m = std::bit_cast<double>(bits - (above & ~kMantissa));
    // U = 1 - x: f = -x, or 1 - 2x with e = -1 where x is beyond 1 - 2^-1/2.
    const auto far = static_cast<double>((kOneLessRootOfHalf - bits) >> 63U);
    // Integers and products with 0 and 1: a branch on random bits cannot be foreseen.
    const auto near_one = static_cast<double>(high[i] >> 63U), near_zero = 1.0 - near_one;
    made.f(i) = near_one * (far - x * (1.0 + far)) + near_zero * (m - 1.0);
    made.e(i) = near_zero * exponent - near_one * far;
  }
  return made;
}

/// log(1 + f) = 2 s (1 + z/3 + z^2/5 + ..), s = f/(2+f), z = s^2 < 0.0295.
Pairs radii(const Logarithms& of) {
  const Pairs s = of.f / (2.0 + of.f), z = s.square();
  const Pairs high =
      1.0 / 11 + z * (1.0 / 13 + z * (1.0 / 15 + z * (1.0 / 17 + z * (1.0 / 19 + z * (1.0 / 21)))));
  const Pairs sum = 1.0 + z * (1.0 / 3 + z * (1.0 / 5 + z * (1.0 / 7 + z * (1.0 / 9 + z * high))));
  return (-2.0 * (of.e * std::numbers::ln2 + 2.0 * s * sum)).sqrt();
}

/// Taylor's polynomials of degrees 16 and 17, for angles of at most an eighth of a turn; b is the square.
Pairs cosines(const Pairs& b) {
  const Pairs high =
      1.0 / 40320 -
      b * (1.0 / 3628800 - b * (1.0 / 479001600 - b * (1.0 / 87178291200 - b * (1.0 / 20922789888000))));
  return 1.0 - b * (1.0 / 2 - b * (1.0 / 24 - b * (1.0 / 720 - b * high)));
}
Pairs sines_over_angle(const Pairs& b) {
  const Pairs high =
      1.0 / 362880 -
      b * (1.0 / 39916800 - b * (1.0 / 6227020800 - b * (1.0 / 1307674368000 - b * (1.0 / 355687428096000))));
  return 1.0 - b * (1.0 / 6 - b * (1.0 / 120 - b * (1.0 / 5040 - b * high)));
}

}  // namespace

void box_muller(const std::uint64_t* words, double* normals) {
  const Pairs radius = radii(logarithms(words, words + kNormalPairs));
  // Two bits are a quarter turn, the others an angle of at most an eighth of a turn to either side.
  const std::uint64_t* const turns = words + 2 * kNormalPairs;
  Pairs angle;
  for (Index i = 0; i < kNormalPairs; ++i)
    angle(i) = (static_cast<double>(static_cast<std::int64_t>(turns[i] << 2U)) + 2.0) * 0x1.0p-64;
  angle *= 0.5 * std::numbers::pi;
  const Pairs square = angle.square();
  const Pairs across = radius * cosines(square), up = radius * angle * sines_over_angle(square);
  for (Index i = 0; i < kNormalPairs; ++i) {
    const std::uint64_t quarter = turns[i] >> 62U;
    const bool is_turned = (quarter & 1U) != 0;
    const double first = is_turned ? up(i) : across(i), second = is_turned ? across(i) : up(i);
    normals[i] = ((quarter + 1U) & 2U) != 0 ? -first : first;
    normals[kNormalPairs + i] = (quarter & 2U) != 0 ? -second : second;
  }
}

}  // namespace mixcert
