// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Masses by one shift-and-add for each mask, docs/theory/dropout-laws.md (D.7). All numbers are in units of a
// power of two in which the range of the sum is about one, so that nothing depends on its size.
#include "theorems/output_law/lattice_law.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

namespace mixcert {
namespace {

// Masses below this count as zero: the processor is slow where they vanish, and far fewer than 2^32 of them
// are lost.
constexpr double kLeastMass = 1e-42;
constexpr double kMostLost = 1e-32;
// What underflow can hide, in units.
constexpr double kHiddenLength = 1e-130;
constexpr int kFewestLogPoints = 8;
// Sums run over blocks of this many masses, and over blocks.
constexpr std::size_t kSumBlock = 512;

/// Contributions of kept neurons, a_j / kappa, in units of 2^exponent in which their sizes add up to at least
/// 1/2 and less than 2.
struct ScaledHeights {
  int exponent = 0;
  std::vector<double> heights;
  double total = 0.0;
};

ScaledHeights scaled_heights(const MaskedSum& sum) {
  ScaledHeights scaled;
  const double largest = sum.contributions.size() == 0 ? 0.0 : sum.contributions.cwiseAbs().maxCoeff();
  if (!(largest > 0.0)) return scaled;
  const int first = std::ilogb(largest);
  const double keep = 1.0 - sum.rate;
  for (const double contribution : sum.contributions) {
    const double height = std::ldexp(contribution, -first) / keep;
    if (height != 0.0) scaled.heights.push_back(height);
    scaled.total += std::abs(height);
  }
  const int second = std::ilogb(scaled.total);
  for (double& height : scaled.heights) height = std::ldexp(height, -second);
  scaled.total = std::ldexp(scaled.total, -second);
  scaled.exponent = first + second;
  return scaled;
}

/// Multiples of the step, and what rounding to them leaves; both are exact, because the step is a power of
/// two.
struct Shifts {
  double step = 1.0;
  std::vector<std::int64_t> shifts;  ///< those that are not zero, the smallest first
  double sum = 0.0, squares = 0.0;   ///< of the shifts
  double rest = 0.0, rest_squares = 0.0;
};

Shifts lattice_shifts(const ScaledHeights& scaled, const LatticeEffort& effort) {
  Shifts lattice;
  const auto masks = static_cast<double>(std::max<std::size_t>(scaled.heights.size(), 1));
  const int points = std::min(effort.log_points, effort.log_work - std::ilogb(masks) - 1);
  lattice.step = std::ldexp(1.0, 1 - std::max(points, kFewestLogPoints));
  for (const double height : scaled.heights) {
    const auto shift = static_cast<std::int64_t>(std::llround(height / lattice.step));
    const auto whole = static_cast<double>(shift);
    const double rest = height - whole * lattice.step;
    lattice.rest += std::abs(rest);
    lattice.rest_squares += rest * rest;
    if (shift == 0) continue;
    lattice.shifts.push_back(shift);
    lattice.sum += whole;
    lattice.squares += whole * whole;
  }
  std::sort(lattice.shifts.begin(), lattice.shifts.end(),
            [](std::int64_t a, std::int64_t b) { return std::abs(a) < std::abs(b); });
  return lattice;
}

/// Masses of the points from `low` on; those at both ends are not zero.
class MassRow {
 public:
  /// The point zero.
  MassRow() : masses_{1.0} {}

  /// Adds `shift` with probability `kept`, nothing with probability `dropped`.
  void add(std::int64_t shift, double kept, double dropped) {
    const auto size = static_cast<std::size_t>(std::abs(shift));
    // Seen from the lower end a negative shift is one of the dropped mask.
    const double stays = shift > 0 ? dropped : kept, moves = shift > 0 ? kept : dropped;
    if (shift < 0) low_ += shift;
    const std::size_t old = masses_.size();
    next_.resize(old + size);
    for (std::size_t i = 0; i < std::min(size, old); ++i) next_[i] = least(stays * masses_[i]);
    for (std::size_t i = old; i < size; ++i) next_[i] = 0.0;
    for (std::size_t i = size; i < old; ++i) next_[i] = least(stays * masses_[i] + moves * masses_[i - size]);
    for (std::size_t i = std::max(size, old); i < old + size; ++i)
      next_[i] = least(moves * masses_[i - size]);
    masses_.swap(next_);
    trim();
  }
  [[nodiscard]] std::int64_t low() const { return low_; }
  [[nodiscard]] const std::vector<double>& masses() const { return masses_; }

 private:
  static double least(double mass) { return mass < kLeastMass ? 0.0 : mass; }
  void trim() {
    const auto is_mass = [](double mass) { return mass > 0.0; };
    const auto begin = std::find_if(masses_.begin(), masses_.end(), is_mass);
    const auto end = std::find_if(masses_.rbegin(), masses_.rend(), is_mass).base();
    if (!(begin < end)) return;  // not with probabilities
    low_ += begin - masses_.begin();
    masses_.erase(end, masses_.end());
    masses_.erase(masses_.begin(), begin);
  }

  std::int64_t low_ = 0;
  std::vector<double> masses_, next_;
};

/// Sums of the masses up to each point: they never fall, and each is off by as many roundings as a block and
/// the blocks have.
template <class Iterator>
std::vector<double> running_sums(Iterator begin, Iterator end) {
  std::vector<double> sums;
  sums.reserve(static_cast<std::size_t>(end - begin));
  double outer = 0.0, inner = 0.0;
  for (Iterator at = begin; at != end; ++at) {
    inner += *at;
    sums.push_back(outer + inner);
    if (sums.size() % kSumBlock != 0) continue;
    outer += inner;
    inner = 0.0;
  }
  return sums;
}

}  // namespace

LatticeLaw lattice_law(const MaskedSum& sum, const LatticeEffort& effort) {
  if (!sum.contributions.allFinite() || !(sum.rate > 0.0 && sum.rate < 1.0)) {
    LatticeLaw nothing;
    nothing.points = {0.0, 1.0, {1.0}, {1.0}};
    nothing.moved = nothing.offset = INFINITY;
    return nothing;
  }
  const double dropped = sum.rate, kept = 1.0 - sum.rate;
  const ScaledHeights scaled = scaled_heights(sum);
  const Shifts lattice = lattice_shifts(scaled, effort);
  MassRow row;
  for (const std::int64_t shift : lattice.shifts) row.add(shift, kept, dropped);
  LatticeLaw law;
  law.exponent = scaled.exponent;
  const std::vector<double>& masses = row.masses();
  law.points.step = lattice.step;
  law.points.first = lattice.step * (static_cast<double>(row.low()) - kept * lattice.sum);
  law.points.below = running_sums(masses.begin(), masses.end());
  law.points.above = running_sums(masses.rbegin(), masses.rend());
  std::reverse(law.points.above.begin(), law.points.above.end());
  const double spread = std::sqrt(dropped * kept);
  law.deviation = enlarged(spread * lattice.step * std::sqrt(lattice.squares));
  // Heights are off by 4 u of themselves, places by as much of the range.
  const double rounding = 32.0 * kUnitRoundoff * scaled.total + kHiddenLength;
  law.moved = enlarged(spread * std::sqrt(lattice.rest_squares)) + rounding;
  law.offset = enlarged(std::max(dropped, kept) * lattice.rest) + rounding;
  const auto masks = static_cast<Index>(lattice.shifts.size());
  const auto blocks = static_cast<Index>(masses.size() / kSumBlock + kSumBlock);
  law.error = rounding_gamma(4 * masks + blocks + 8);
  law.lost = kMostLost;
  return law;
}

}  // namespace mixcert
