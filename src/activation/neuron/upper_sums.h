// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Upper sums over cells for one neuron, docs/theory/two_layers.md (Y.24): fourth moments of what separates an
// activation from its surrogate, and mean squares of the activation's slope.
#pragma once

#include <vector>

#include "activation/gaussian_moments.h"

namespace mixcert {

/// No less than the moments, z = m + s x, a = f(z).
struct ValuePowers {
  double deviation = 0.0;  ///< E (a - E a - gain x)^4
  double square = 0.0;     ///< E (a^2 - E a^2)^4
};

/// `mean` and `second` enclose E a and E a^2. Zero where s is.
ValuePowers value_powers(const Activation& f, double m, double s, double gain, const Enclosed& mean,
                         const Enclosed& second);

/// What is used of an activation beside its values.
struct SlopeTraits {
  bool piecewise_linear = false;
  double low = 0.0, high = 0.0;  ///< of the slopes
  double curvature = 0.0;        ///< |f''| is at most this; infinite where f has a kink
  explicit SlopeTraits(const Activation& f);
  [[nodiscard]] double jump() const { return high - low; }
  /// No less than |f' - center|.
  [[nodiscard]] double reach(double center) const;
};

/// f'(z), z = m + s x, as the intervals that it stays in on cells of the line.
class SlopeCells {
 public:
  SlopeCells(const Activation& f, double m, double s);

  struct Squares {
    double mean = 0.0;    ///< no less than E r, r = (f'(z) - center)^2
    double spread = 0.0;  ///< no less than the standard deviation of r
  };
  [[nodiscard]] Squares about(double center) const;
  /// No less than E f'(z)^2 x^2.
  [[nodiscard]] double weighted() const;

 private:
  struct Cell {
    double mass, second;  ///< of the normal law: E 1, E x^2 over the cell
    double low, high;     ///< f' lies between
  };
  void add_smooth(const Activation& f, double m, double s);
  SlopeTraits traits_;
  std::vector<Cell> cells_;
};

/// Powers of what separates a function of a normal variable from a number.
struct DistancePowers {
  double second = 0.0;  ///< no less than E r^2
  double fourth = 0.0;  ///< no less than E r^4
  double spread = 0.0;  ///< no less than the deviation of r^2
};

/// Piecewise linear f alone: r = G(h) - center, G(h) = E f'(m + t h + s g), h and g independent standard
/// normals.
DistancePowers smoothed_slope_powers(const Activation& f, double m, double t, double s, double center);

// Cells of the line for upper sums (Y.24), with their masses under the normal law.

inline constexpr double kLastNode = 8.0;
/// No less than the integral of (x - 7)^8 phi over x > 8.
inline constexpr double kBeyondLast = 3e-15;

/// An end of cells, and the cell to its right.
struct CellNode {
  double x;
  double mass, second;  ///< of the normal law over the cell: no less than E 1, E x^2
};

/// From -kLastNode to kLastNode.
const std::vector<CellNode>& cell_nodes();

}  // namespace mixcert
