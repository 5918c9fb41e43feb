// Licensed under the Apache License, Version 2.0; see LICENSE.
#include "simulated/line/known_law.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "mixcert/core/rounding.h"

namespace mixcert {
namespace {

double square(double x) { return x * x; }

/// On levels from .. to the mixture's quantiles lie in [low, high].
struct Cell {
  double low, high, from, to;
};

/// One side of the line, what is outside of the band's levels.
class TailCost {
 public:
  explicit TailCost(const std::vector<TailRoot>& known) : known_(known), mixture_inside_(known.size(), 0.0) {}

  /// On a share `mass` of the levels the law is at most `law_inside` farther in than the mixture, and the
  /// mixture at most `mixture_inside(c)` farther in than a known point c.
  void add(double mass, double law_inside, const std::function<double(double)>& mixture_inside) {
    law_inside_ += mass * square(positive_part(law_inside));
    for (std::size_t i = 0; i < known_.size(); ++i)
      mixture_inside_[i] += mass * square(positive_part(mixture_inside(known_[i].from)));
  }

  /// `end_square` is what the mixture has beyond its nodes, `gap` how far in the law is from there at most,
  /// on levels of the rounding of distribution functions.
  [[nodiscard]] double sum(double end_square, double gap) const {
    const double law_inside =
        std::sqrt(law_inside_) + std::sqrt(end_square) + positive_part(gap) * std::sqrt(2.0 * kLineCdfError);
    double least = INFINITY;
    for (std::size_t i = 0; i < known_.size(); ++i)
      least = std::min(least, square(known_[i].root + std::sqrt(mixture_inside_[i])));
    return enlarged(square(law_inside) + least);
  }

 private:
  const std::vector<TailRoot>& known_;
  std::vector<double> mixture_inside_;
  double law_inside_ = 0.0;
};

/// A cell has no more levels than this, also at an atom.
constexpr double kMostLevels = 0x1.0p-12;

std::vector<Cell> cells_of(const LineLaw& mixture, const std::vector<double>& nodes) {
  std::vector<Cell> cells;
  double before = mixture.cdf(nodes.front());
  for (std::size_t i = 1; i < nodes.size(); ++i) {
    const double after = mixture.cdf(nodes[i]);
    // Twice the error, for the roundings of these sums.
    const double from = positive_part(before - 2.0 * kLineCdfError);
    const double to = std::min(1.0, after + 2.0 * kLineCdfError);
    const int parts = static_cast<int>((to - from) / kMostLevels) + 1;
    for (int part = 0; part < parts; ++part) {
      const double start = from + (to - from) * part / parts;
      cells.push_back(
          {nodes[i - 1], nodes[i], start, part + 1 == parts ? to : from + (to - from) * (part + 1) / parts});
    }
    before = after;
  }
  return cells;
}

}  // namespace

KnownLaw known_mixture(const LineLaw& law) {
  const QuantileBand band(law);
  const double root = std::sqrt(law.end_square());
  return {band, {{band.least(), root}}, {{band.most(), root}}};
}

double distance_on_line(const KnownLaw& law, const LineLaw& mixture) {
  const QuantileBand& band = law.band;
  const double first = band.first(), last = band.last();
  if (!(first < last)) return INFINITY;
  const std::vector<double> nodes = mixture.nodes();
  double middle = 0.0;
  TailCost lower(law.lower), upper(law.upper);
  for (const Cell& cell : cells_of(mixture, nodes)) {
    if (const double b = std::min(cell.to, first); b > cell.from) {
      lower.add(b - cell.from, band.upper(b) - cell.low, [&](double from) { return cell.high - from; });
    }
    if (const double a = std::max(cell.from, first), b = std::min(cell.to, last); b > a) {
      const double off = std::max(cell.high - band.lower(a), band.upper(b) - cell.low);
      middle += (b - a) * square(off);
    }
    if (const double a = std::max(cell.from, last); cell.to > a) {
      upper.add(cell.to - a, cell.high - band.lower(a), [&](double from) { return from - cell.low; });
    }
  }
  const double end = mixture.end_square();
  const double sum = enlarged(middle) + lower.sum(end, band.upper(first) - nodes.front()) +
                     upper.sum(end, nodes.back() - band.lower(last));
  return enlarged(std::sqrt(enlarged(sum)));
}

}  // namespace mixcert
