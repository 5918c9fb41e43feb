// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The law of z~ by shifting and adding masks one after the other (D.7), and means of f(z~) given the first
// masks by the same in reverse: sums of products of positive numbers in both, without a transform.
#include "theorems/masked_layers/lattice_neuron.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "core/elementary.h"
#include "mixcert/core/rounding.h"

namespace mixcert {
namespace {

/// Below it, lattices have no room for digits.
constexpr double kSmallestRange = 1e-280;
/// |v|^2 of directions above which rounding would spoil the part of second order.
constexpr double kWidestDirections = 30.0;
/// Units of what its values may be off by that the unit of a neuron has at least.
constexpr double kLeastAccuracy = 1e6;
/// Of a neuron that is zero for all masks.
constexpr int kUnitOfZero = -2000;

/// z~ = start + step (sum of steps of those masks that move up), all steps positive: a negative jump moves up
/// where its mask drops.
struct Lattice {
  double start = 0.0, step = 0.0;
  double keep = 1.0, rate = 0.0;
  std::vector<Index> masks;        ///< that move the lattice, small steps first
  std::vector<Index> steps;        ///< of these, positive
  std::vector<double> signs;       ///< of these
  std::vector<std::size_t> sizes;  ///< points that the first 0, 1, .. masks reach
  double moved = 0.0;              ///< no less than |z - z~| in L2
  double largest = 0.0;            ///< no less than |z|, |z~|
  double low = 0.0, high = 0.0;    ///< all z and z~ lie between

  [[nodiscard]] std::size_t size() const { return sizes.back(); }
  [[nodiscard]] double up(std::size_t i) const { return signs[i] > 0.0 ? keep : rate; }
  [[nodiscard]] double stay(std::size_t i) const { return signs[i] > 0.0 ? rate : keep; }
};

/// The nearest lattice points to the jumps; `lattice.step` is known.
void place_jumps(const Vector& jumps, Lattice& lattice, double& start, double& squares) {
  std::vector<std::pair<Index, Index>> order;  // step, mask
  for (Index j = 0; j < jumps.size(); ++j) {
    const double place = jumps(j) / lattice.step;
    const double nearest = std::nearbyint(place);
    squares += square(place - nearest);
    start += lattice.keep * lattice.step * (place - nearest);
    if (nearest == 0.0 || !std::isfinite(nearest))
      continue;  // then `squares` is not a number, and no bound is
    order.emplace_back(static_cast<Index>(std::abs(nearest)), j);
    if (nearest < 0.0) start += lattice.step * nearest;
  }
  std::sort(order.begin(), order.end());
  for (const auto& [step, mask] : order) {
    lattice.steps.push_back(step);
    lattice.masks.push_back(mask);
    lattice.signs.push_back(jumps(mask) > 0.0 ? 1.0 : -1.0);
    lattice.sizes.push_back(lattice.sizes.back() + static_cast<std::size_t>(step));
  }
}

Lattice lattice_of(const MaskedNeuron& neuron, double rate, Index points) {
  Lattice lattice;
  lattice.keep = 1.0 - rate;
  lattice.rate = rate;
  lattice.sizes = {1};
  const Index n = neuron.jumps.size();
  const double range = neuron.jumps.cwiseAbs().sum(), spread = std::sqrt(rate * lattice.keep);
  double start = neuron.base, squares = 0.0;
  if (range > kSmallestRange) {
    lattice.step = range / static_cast<double>(points);
    place_jumps(neuron.jumps, lattice, start, squares);
    lattice.moved = enlarged(lattice.step * spread * std::sqrt(squares));
  } else {
    // All masks are left out: z~ is constant.
    start += lattice.keep * neuron.jumps.sum();
    lattice.moved = enlarged(spread * range);
  }
  lattice.start = start;
  lattice.largest =
      enlarged(2.0 * (std::abs(neuron.base) + range) +
               lattice.step * static_cast<double>(lattice.size() + static_cast<std::size_t>(n)));
  // Rounding of jumps, of places (n products of range/step) and of the start; the lattice itself is exact.
  lattice.moved = next_up(lattice.moved + neuron.error + rounding_gamma(4 * n + 64) * lattice.largest);
  return lattice;
}

/// Where z and z~ lie, with room for rounding and for what z is off by.
void find_ends(const MaskedNeuron& neuron, Lattice& lattice) {
  const double room = neuron.error + rounding_gamma(8 * neuron.jumps.size() + 64) * lattice.largest;
  const double up = positive_part(neuron.jumps).sum(), down = positive_part(Vector(-neuron.jumps)).sum();
  const double last = lattice.start + lattice.step * static_cast<double>(lattice.size() - 1);
  lattice.low = std::min(neuron.base - down, lattice.start) - room;
  lattice.high = std::max(neuron.base + up, last) + room;
}

/// E[f(z~) | sum of the first i masks], i = 0, 1, .., one after the other in one array.
class ConditionalMeans {
 public:
  ConditionalMeans(const Lattice& lattice, const std::vector<double>& values) {
    starts_.push_back(0);
    for (const std::size_t size : lattice.sizes) starts_.push_back(starts_.back() + size);
    means_.resize(starts_.back());
    const std::size_t n = lattice.steps.size();
    std::copy(values.begin(), values.end(), at(n));
    for (std::size_t i = n; i-- > 0;) {
      const auto size = static_cast<Index>(lattice.sizes[i]);
      const Eigen::Map<const Eigen::ArrayXd> stays(at(i + 1), size),
          moves(at(i + 1) + lattice.steps[i], size);
      Eigen::Map<Eigen::ArrayXd>(at(i), size) = lattice.stay(i) * stays + lattice.up(i) * moves;
    }
  }
  [[nodiscard]] const double* at(std::size_t i) const { return means_.data() + starts_[i]; }

 private:
  double* at(std::size_t i) { return means_.data() + starts_[i]; }

  std::vector<std::size_t> starts_;
  std::vector<double> means_;
};

/// sum_x mass_x (moved_x - here_x), in several running sums.
double mean_difference(const std::vector<double>& mass, std::size_t size, const double* here, Index step) {
  using Map = Eigen::Map<const Eigen::ArrayXd>;
  const auto n = static_cast<Index>(size);
  return (Map(mass.data(), n) * (Map(here + step, n) - Map(here, n))).sum();
}

/// Adds mask i to the law of the sum of those before it; `spare` is as long as `mass`.
void add_mask(const Lattice& lattice, std::size_t i, std::vector<double>& mass, std::vector<double>& spare) {
  const Index step = lattice.steps[i];
  const auto before = static_cast<Index>(lattice.sizes[i]);
  const Eigen::Map<const Eigen::ArrayXd> old(mass.data(), before);
  Eigen::Map<Eigen::ArrayXd> made(spare.data(), before + step);
  made.head(before) = lattice.stay(i) * old;
  made.tail(step).setZero();
  made.tail(before) += lattice.up(i) * old;
  mass.swap(spare);
}

/// Fills curve and directions from the law of the sum (D.18).
void fill_curve(const Lattice& lattice, const std::vector<double>& mass, const std::vector<double>& values,
                LatticeMoments& moments) {
  const double spread2 = lattice.rate * lattice.keep;
  double squares = 0.0, fourths = 0.0, total = 0.0, by_slopes = 0.0, offset = 0.0;
  for (std::size_t i = 0; i < lattice.steps.size(); ++i) {
    const double step = lattice.signs[i] * static_cast<double>(lattice.steps[i]);
    squares += square(step);
    fourths += square(square(step));
    total += step;
    if (step < 0.0) offset += step;
    by_slopes += square(step) * moments.slopes(lattice.masks[i]);
  }
  const double size = std::sqrt(0.5 * positive_part(square(squares) - fourths));
  if (!(spread2 > 1e-12) || !(size > 0.0) || squares > kWidestDirections * size) return;
  const double centre = lattice.keep * total - offset;
  double weighted = 0.0;
  for (std::size_t x = 0; x < lattice.size(); ++x) {
    weighted += mass[x] * values[x] * square(static_cast<double>(x) - centre);
  }
  const double skew = (2.0 * lattice.rate - 1.0) / std::sqrt(spread2);
  const double curve = 0.5 * (weighted / spread2 - squares * moments.mean - skew * by_slopes) / size;
  // The last: Q is a unit vector up to rounding.
  const double error = 2.0 * moments.error * (squares / size) * (1.0 + 1.0 / std::sqrt(spread2)) +
                       rounding_gamma(4 * moments.slopes.size() + 64) * square(squares / size);
  if (!(error < std::abs(curve))) return;
  moments.curve = curve;
  moments.curve_error = error;
  moments.directions = Vector::Zero(moments.slopes.size());
  for (std::size_t i = 0; i < lattice.steps.size(); ++i) {
    moments.directions(lattice.masks[i]) =
        lattice.signs[i] * static_cast<double>(lattice.steps[i]) / std::sqrt(size);
  }
}

/// Values of f on the lattice; returns what each may be off by, arguments included.
double fill_values(const Activation& f, const Lattice& lattice, double slope, std::vector<double>& values) {
  values.resize(lattice.size());
  for (std::size_t x = 0; x < values.size(); ++x) {
    values[x] = f(lattice.start + lattice.step * static_cast<double>(x));
  }
  return f.value_error(lattice.largest) + 8 * kUnitRoundoff * slope * lattice.largest;
}

/// The power of two that no number of the neuron exceeds. Values that are lost in their errors are small in
/// it.
int unit_of(const std::vector<double>& values, double value_error, double moved) {
  double largest = larger_or_nan(moved, kLeastAccuracy * value_error);
  for (const double value : values) largest = larger_or_nan(largest, std::abs(value) + value_error);
  if (largest == 0.0) return kUnitOfZero;
  int exponent = 0;
  std::frexp(next_up(largest), &exponent);
  return largest < 1e300 ? exponent : std::numeric_limits<int>::max();
}

}  // namespace

LatticeMoments lattice_moments(const Activation& f, const MaskedNeuron& neuron, double rate, Index points) {
  const Index n = neuron.jumps.size();
  LatticeMoments moments;
  moments.slopes = Vector::Zero(n);
  moments.error = std::numeric_limits<double>::infinity();
  Lattice lattice = lattice_of(neuron, rate, points);
  if (!(lattice.largest < 1e300)) return moments;
  find_ends(neuron, lattice);
  const double slope = f.max_slope(lattice.low, lattice.high).upper;
  // Where f is flat nothing moves.
  const double moved = slope == 0.0 ? 0.0 : next_up(slope * lattice.moved);
  std::vector<double> values;
  const double value_error = fill_values(f, lattice, slope, values);
  moments.exponent = unit_of(values, value_error, moved);
  if (moments.exponent == std::numeric_limits<int>::max()) return moments;
  if (moments.exponent == kUnitOfZero) {
    moments.error = 0.0;
    return moments;
  }
  const auto in_units = [&](double x) { return std::ldexp(x, -moments.exponent); };
  for (double& value : values) value = in_units(value);
  moments.moved = next_up(in_units(moved));
  moments.error = 3.0 * (next_up(in_units(value_error)) +
                         rounding_gamma(static_cast<Index>(lattice.size()) + 16 * n + 64));
  const ConditionalMeans means(lattice, values);
  moments.mean = means.at(0)[0];
  std::vector<double> mass(lattice.size(), 0.0), spare(lattice.size(), 0.0);
  mass[0] = 1.0;
  const double spread = std::sqrt(lattice.rate * lattice.keep);
  for (std::size_t i = 0; i < lattice.steps.size(); ++i) {
    const double change = mean_difference(mass, lattice.sizes[i], means.at(i + 1), lattice.steps[i]);
    moments.slopes(lattice.masks[i]) = lattice.signs[i] * spread * change;
    add_mask(lattice, i, mass, spare);
  }
  for (std::size_t x = 0; x < values.size(); ++x) {
    moments.second += mass[x] * square(values[x]);
    moments.absolute += mass[x] * std::abs(values[x]);
  }
  fill_curve(lattice, mass, values, moments);
  return moments;
}

}  // namespace mixcert
