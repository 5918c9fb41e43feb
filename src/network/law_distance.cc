// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// W2^2 <= 2 - 2 E[X Z] for every coupling of X with Z ~ N(0,1), both of variance one. The coupling (W.2)
// pairs cells of equal mass on both sides, independently inside a cell. Its value needs the masses of cells
// from above and their first moments from below, nowhere a quantile of X: edges may be off, which only loses
// correlation. With cells of width 0.002 it is within 3e-6 of the optimum; the optimum itself would need
// Student's distribution function with a proven error at every real number of degrees.
#include "network/law_distance.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/normal.h"
#include "mixcert/core/rounding.h"

namespace mixcert {
namespace {

constexpr int kCells = 5000;
constexpr double kWidth = 0.002;
// Every factor of a term is computed to 1e-11 of itself, and so are sums of 5000 positive terms (W.2).
constexpr double kInward = 1.0 - 1e-10;
// Above this the closed form (W.5) is below 6e-10, less than the sum can resolve.
constexpr double kManyDegrees = 1e5;

/// One cell on the positive half line; the law is symmetric.
struct Cell {
  double mass = 0.0;   ///< P(X in cell), from above
  double first = 0.0;  ///< E[X; X in cell], from below
};

double bell(double x) { return std::exp(-0.5 * x * x); }

/// exp(-c a^2/2) - exp(-c b^2/2), b > a >= 0, without cancellation.
double bell_difference(double a, double b, double c) {
  return -std::exp(-0.5 * c * a * a) * std::expm1(-0.5 * c * (b - a) * (b + a));
}

/// No less than sinh(x)/x for |x| <= 1: convex in x^2, one at zero and 1.1752 at one.
double relative_sinh(double x) { return 1.0 + 0.2 * x * x; }

/// 2 sum_i A_i B_i / max(P_i, Q_i), (W.2). Cell i of the normal law is [z_i, z_{i+1}], the last one
/// unbounded.
double coupled_correlation(const std::vector<double>& edges, const std::vector<Cell>& cells) {
  const double density = 0.3989422804014327;  // 1/sqrt(2 pi)
  double correlation = 0.0;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const bool last = i + 1 == cells.size();
    const double z = edges[i];
    const double width = last ? 0.0 : edges[i + 1] - z;
    const double middle = z + 0.5 * width;
    const double mass =
        last ? density * bell(z) / z : density * width * bell(middle) * relative_sinh(0.5 * width * middle);
    const double first = density * (last ? bell(z) : bell_difference(z, edges[i + 1], 1.0));
    correlation += first * cells[i].first / std::max(mass, cells[i].mass);
  }
  return 2.0 * kInward * correlation;
}

double distance_of(double correlation) { return next_up(2.0 - next_down(2.0 * correlation)); }

/// The law of Student in the variable s >= 0, t = (n expm1(s^2/n))^{1/2}, where its density is close to
/// normal for every n: w(s) = exp(-a s^2/2) (y/expm1(y))^{1/2}, y = s^2/n, a = (n-1)/n, up to a factor (W.4).
class StudentCells {
 public:
  explicit StudentCells(double degrees) : degrees_(degrees), power_((degrees - 1.0) / degrees) {
    const double end = kCells * kWidth;
    upper_.resize(kCells + 1);
    upper_.back() = weight(end) / (power_ * end);
    for (int i = 0; i < kCells; ++i) {
      const double middle = (i + 0.5) * kWidth;
      upper_[static_cast<std::size_t>(i)] = kWidth * weight(middle) * relative_sinh(0.5 * kWidth * middle);
      lower_total_ += kWidth * std::sqrt(weight(i * kWidth) * weight((i + 1) * kWidth));
    }
    for (const double mass : upper_) upper_total_ += mass;
  }

  /// Of t scaled to variance one.
  [[nodiscard]] std::vector<Cell> cells() const {
    const double scale = std::sqrt((degrees_ - 2.0) / degrees_) / (2.0 * upper_total_ * power_);
    std::vector<Cell> cells(upper_.size());
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const double begin = static_cast<double>(i) * kWidth;
      const double bells = i + 1 == cells.size() ? std::exp(-0.5 * power_ * begin * begin)
                                                 : bell_difference(begin, begin + kWidth, power_);
      cells[i] = {upper_[i] / (2.0 * lower_total_), scale * bells};
    }
    return cells;
  }

  /// About the points that N(0,1) exceeds as often as t exceeds the cells' ends.
  [[nodiscard]] std::vector<double> normal_edges() const {
    std::vector<double> edges(upper_.size(), 0.0);
    double tail = 0.0;
    for (std::size_t i = upper_.size() - 1; i > 0; --i) {
      tail += upper_[i];
      edges[i] = -normal_quantile(0.5 * tail / upper_total_);
    }
    for (std::size_t i = 1; i < edges.size(); ++i) edges[i] = std::max(edges[i], edges[i - 1]);
    return edges;
  }

 private:
  [[nodiscard]] double weight(double s) const {
    const double y = s * s / degrees_;
    return std::exp(-0.5 * power_ * s * s) * (y > 0.0 ? std::sqrt(y / std::expm1(y)) : 1.0);
  }

  double degrees_;
  double power_;
  std::vector<double> upper_;  // integrals of w over the cells, from above
  double upper_total_ = 0.0;
  double lower_total_ = 0.0;  // of w over all cells but the last, from below
};

/// |X| = r / sqrt(2) with r exponential: cells are [r_i, r_{i+1}].
Cell laplace_cell(double begin, double end) {
  const double step = end - begin;
  const double kept = -std::expm1(-step);
  return {0.5 * std::exp(-begin) * kept,
          std::sqrt(0.125) * std::exp(-begin) * ((begin + 1.0) * kept - step * std::exp(-step))};
}

}  // namespace

double uniform_squared_distance() {
  // E[X Z] = sqrt(3/pi), (W.3); 0.977205023805839 is below it.
  return distance_of(0.977205023805839);
}

double laplace_squared_distance() {
  std::vector<double> edges;
  std::vector<double> levels;
  for (int i = 0; i <= kCells; ++i) {
    edges.push_back(i * kWidth);
    levels.push_back(i == 0 ? 0.0 : -std::log(2.0 * normal_tail(edges.back())));
  }
  std::vector<Cell> cells;
  for (std::size_t i = 0; i + 1 < levels.size(); ++i) cells.push_back(laplace_cell(levels[i], levels[i + 1]));
  const double tail = std::exp(-levels.back());
  cells.push_back({0.5 * tail, std::sqrt(0.125) * tail * (levels.back() + 1.0)});
  return distance_of(coupled_correlation(edges, cells));
}

double student_squared_distance(double degrees) {
  // (W.5): the Fisher information relative to N(0,1).
  const double closed = next_up(next_up(next_up(6.0 / (degrees + 3.0) / (degrees - 2.0))));
  if (degrees > kManyDegrees) return closed;
  const StudentCells student(degrees);
  return std::min(closed, distance_of(coupled_correlation(student.normal_edges(), student.cells())));
}

}  // namespace mixcert
