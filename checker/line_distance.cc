// Licensed under the Apache License, Version 2.0; see LICENSE.
#include "line_distance.h"

#include <array>
#include <cmath>
#include <optional>

namespace mixcert_check {
namespace {

constexpr long kTailParts = 4;  // of a cell of a tail
// A sum this much above the best one is beyond it.
constexpr double kGrown = 1.02;

/// A cubic on [0, 1] by its powers: from values and slopes at its ends.
std::array<Ball, 4> cubic(const Ball& v0, const Ball& d0, const Ball& v1, const Ball& d1) {
  const Ball rise = v1 - v0;
  return {v0, d0, Ball(3.0) * rise - Ball(2.0) * d0 - d1, d0 + d1 - Ball(2.0) * rise};
}

/// One side: its cubics, the integrals over its cells from the inside out, and its tail from the outside in.
class Side {
 public:
  Side(const LineSide& side, double cell, const Ball& error) : side_(side), cell_(cell), error_(error) {
    add_cells();
  }

  struct End {
    Ball transport = INFINITY, inverse = INFINITY, tail = INFINITY;
  };
  /// Where the middle ends, so that the square of the whole, about, is least; `middle` is about that of the
  /// middle's root.
  [[nodiscard]] End best_end(double middle) const;
  /// The middle up to three deviations, about.
  [[nodiscard]] double middle() const {
    const auto at = static_cast<std::size_t>(std::lround(3.0 / cell_));
    return transport_[std::min(transport_.size() - 1, at)].about();
  }

 private:
  /// y, and with A = P(Z > y): lower <= P(Y > y) <= upper, T(y) = Q_Z(F_Y(y)) in [y - down, y + up].
  struct Point {
    Ball y, lower, upper, up, down;
  };
  [[nodiscard]] Ball place(std::size_t i) const { return Ball(cell_) * Ball(static_cast<double>(i)); }
  [[nodiscard]] std::array<Ball, 4> cubic_of(std::size_t i) const {
    return cubic(side_.value[i], Ball(-cell_) * side_.slope[i], side_.value[i + 1],
                 Ball(-cell_) * side_.slope[i + 1]);
  }
  void add_cells();
  [[nodiscard]] Ball carried(std::size_t i, const Ball& left, const Ball& right) const;
  [[nodiscard]] bool covers(std::size_t a, std::size_t b) const;
  [[nodiscard]] std::optional<Point> point(const Ball& y, const Ball& change) const;
  [[nodiscard]] Ball beyond(const Point& last) const;
  /// What the cell behind node i adds, from its outer end, which is replaced by the inner one; nothing where
  /// a point in it is not known.
  [[nodiscard]] std::optional<Ball> tail_cell(std::size_t i, Point& outer) const;

  const LineSide& side_;
  double cell_;
  Ball error_;
  Balls transport_{Ball(0.0)}, inverse_{Ball(0.0)};  ///< up to a node: (Y.6)'s integrals
};

/// Integral over a cell of the cubic's square times the line from left to right: exact, by powers.
Ball Side::carried(std::size_t i, const Ball& left, const Ball& right) const {
  const std::array<Ball, 4> c = cubic_of(i);
  Ball sum;
  for (std::size_t a = 0; a < 4; ++a) {
    for (std::size_t b = 0; b < 4; ++b) {
      const double power = static_cast<double>(a + b);
      sum += c[a] * c[b] * (left / (power + 1.0) + (right - left) / (power + 2.0));
    }
  }
  return Ball(cell_) * positive_part(sum);
}

/// Cells with a density of at least a thousandth of Z's: the integrals of D^2/Lambda and 1/rho_1 (Y.5).
void Side::add_cells() {
  for (std::size_t i = 0; i + 1 < side_.value.size(); ++i) {
    const Ball s0 = side_.slope[i], s1 = side_.slope[i + 1];
    const Ball rise = (Ball(side_.value[i]) - Ball(side_.value[i + 1])) / Ball(cell_);
    // Bernstein coefficients of the cubic's slope.
    const Ball least = smaller(smaller(s0, Ball(3.0) * rise - s0 - s1), s1);
    const Ball most = normal_density(place(i)), lowest = normal_density(place(i + 1));
    const Ball ratio = Ball(1.0) + (least.about() < 0.0 ? smaller(least, Ball(0.0)) / lowest
                                                        : smaller(least / most, least / lowest));
    if (!at_most(Ball(1e-3), ratio)) return;
    // The logarithmic mean of 1 and the ratio is at least the geometric one.
    Ball mean = root(ratio);
    const Ball gap = absolute(ratio - Ball(1.0));
    if (at_most(Ball(0.05), gap)) mean = larger(mean, (ratio - Ball(1.0)) / logarithm(ratio));
    const Ball left = Ball(1.0) / most, right = Ball(1.0) / lowest;
    transport_.push_back(transport_.back() + carried(i, left, right) / mean);
    inverse_.push_back(inverse_.back() + Ball(cell_ / 2.0) * (left + right) / ratio);
  }
}

/// May what Y has up to y_a be carried inside of y_b? F_1(b) >= F_1(a) + 2 eps, Phi(b) >= F_1(a) + eps (Y.6).
bool Side::covers(std::size_t a, std::size_t b) const {
  const Ball inner = normal_tail(place(a)) + Ball(side_.value[a]);
  const Ball outer = normal_tail(place(b)) + Ball(side_.value[b]);
  return at_most(outer + Ball(2.0) * error_, inner) && at_most(normal_tail(place(b)) + error_, inner);
}

std::optional<Side::Point> Side::point(const Ball& y, const Ball& change) const {
  const Ball tail = normal_tail(y);
  Point made{y, tail + change - error_, tail + change + error_, {}, {}};
  if (!made.lower.is_positive() || !at_most(made.upper, Ball(0.5))) return std::nullopt;
  made.up = positive_part(logarithm(tail / made.lower)) / y;
  // The smaller root of y d - d^2/2 = r is at most r y/(y^2 - r).
  const Ball r = positive_part(logarithm(made.upper / tail)), rest = square(y) - r;
  made.down = rest.is_positive() && at_most(r, rest) ? smaller(y, r * y / rest) : y;
  return made;
}

/// E[(Y - x)^2; Y > y] + E (Z - y)_+^2, x = y - down (Y.7).
Ball Side::beyond(const Point& last) const {
  const Ball x = last.y - last.down;
  Ball best = INFINITY;
  for (const TailMoment& moment : side_.moments) {
    const double order = moment.order.about();
    const double least = std::fmax(upper_end(last.y), upper_end(x + Ball(2.0) / moment.order));
    double z = std::fmax(least, (upper_end(moment.log) - std::log(upper_end(last.upper))) / order);
    for (int i = 0; i < 4; ++i, z += 1.0 / order) {
      const Ball distance = Ball(z) - x;
      best =
          smaller(best, square(distance) * (last.upper + exponential(moment.log - moment.order * Ball(z))));
    }
  }
  return best + Ball(2.0) * normal_tail(last.y) / square(last.y);
}

std::optional<Ball> Side::tail_cell(std::size_t i, Point& outer) const {
  const std::array<Ball, 4> c = cubic_of(i);
  Ball cost;
  for (long part = kTailParts - 1; part >= 0; --part) {
    const Ball t = static_cast<double>(part) / static_cast<double>(kTailParts);
    const std::optional<Point> inner =
        point(place(i) + Ball(cell_) * t, c[0] + t * (c[1] + t * (c[2] + t * c[3])));
    if (!inner) return std::nullopt;
    const Ball gap = outer.y - inner->y + larger(inner->down, outer.up);
    cost += positive_part(inner->upper - outer.lower) * square(gap);
    outer = *inner;
  }
  return cost;
}

Side::End Side::best_end(double middle) const {
  // The outermost node whose probability is known to a tenth from below.
  std::size_t a = side_.value.size() - 1;
  const auto unit = static_cast<std::size_t>(std::lround(1.0 / cell_));
  const auto is_known = [&](std::size_t i) {
    return at_most(error_, normal_tail(place(i)) * Ball(0.9) + Ball(side_.value[i]));
  };
  while (a > unit && !is_known(a)) --a;
  std::optional<Point> last = point(place(a), side_.value[a]);
  End best;
  if (!last) return best;
  Ball tail = beyond(*last);
  double least = INFINITY;
  for (;; --a) {
    std::size_t b = a + 1;
    while (b < transport_.size() && !covers(a, b)) ++b;
    if (b < transport_.size()) {
      const Ball left = error_ * root(Ball(2.0) * inverse_[b]);
      const double sum = (transport_[b] + (Ball(2.0 * middle) + left) * left + tail).about();
      if (sum > kGrown * least) return best;
      if (sum < least) {
        least = sum;
        best = {transport_[b], inverse_[b], tail};
      }
    }
    if (a <= unit || !(tail.about() < least)) return best;
    const std::optional<Ball> more = tail_cell(a - 1, *last);
    if (!more) return best;
    tail += *more;
  }
}

}  // namespace

Ball distance_to_normal(const LineLaw& law) {
  const Side upper(law.upper, law.cell, law.error), lower(law.lower, law.cell, law.error);
  const double middle = std::sqrt(upper.middle() + lower.middle());
  const Side::End right = upper.best_end(middle), left = lower.best_end(middle);
  const Ball carried =
      root(right.transport + left.transport) + law.error * root(Ball(2.0) * (right.inverse + left.inverse));
  return root(square(carried) + right.tail + left.tail);
}

}  // namespace mixcert_check
