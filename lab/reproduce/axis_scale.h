// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// From numbers to places along an axis, linear or logarithmic, and the ticks that people expect on it:
// 1, 2 or 5 times a power of ten; on a logarithmic axis powers of ten with unlabelled ones between.
#pragma once

#include <string>
#include <vector>

namespace mixcert::lab {

struct Tick {
  double value = 0.0;
  std::string label;  ///< "" for a tick between labelled ones
};

class AxisScale {
 public:
  /// Covers `values`, with a margin; those that cannot be shown (NaN, infinite, not positive on a
  /// logarithmic axis) are left out. `low` and `high` take the place of the ends where they are not NaN.
  AxisScale(const std::vector<double>& values, bool logarithmic, double low, double high);

  [[nodiscard]] bool shows(double value) const;
  /// 0 at the lower end, 1 at the upper one; beyond them outside of [0, 1].
  [[nodiscard]] double place(double value) const;
  [[nodiscard]] std::vector<Tick> ticks() const;
  [[nodiscard]] double low() const { return low_; }
  [[nodiscard]] double high() const { return high_; }

 private:
  [[nodiscard]] std::vector<Tick> linear_ticks() const;
  [[nodiscard]] std::vector<Tick> logarithmic_ticks() const;

  bool logarithmic_;
  double low_ = 0.0;
  double high_ = 1.0;
};

/// "0.01", "1", "100"; powers of ten beyond that as "10" with the exponent in superscript.
std::string power_label(int exponent);

}  // namespace mixcert::lab
