// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Activations and what the proofs need to know of them.
#pragma once

#include <optional>
#include <string>

#include "ball.h"
#include "json.h"

namespace mixcert_check {

/// f is analytic where |Im z| <= width, and |f'| <= slope there (V.5).
struct Strip {
  Ball width, slope;
};

class Activation {
 public:
  /// Of an entry of an architecture. Throws BadFile for a function that the checker does not cover.
  static Activation of(const Json& entry);

  [[nodiscard]] bool is_piecewise_linear() const { return !strip_.has_value(); }
  /// Slopes of a piecewise linear one, left and right of zero.
  [[nodiscard]] const Ball& left() const { return left_; }
  [[nodiscard]] const Ball& right() const { return right_; }
  /// Of a smooth one.
  [[nodiscard]] const Strip& strip() const { return *strip_; }
  [[nodiscard]] Ball value(const Ball& z) const { return value_(*this, z); }
  /// Is |f| convex? (Y.27)
  [[nodiscard]] bool has_convex_size() const { return has_convex_size_; }
  /// Of |f|; nothing where it is unbounded.
  [[nodiscard]] const std::optional<Ball>& largest_value() const { return largest_value_; }
  /// All difference quotients lie in [lowest, highest].
  [[nodiscard]] const Ball& lowest_slope() const { return lowest_; }
  [[nodiscard]] const Ball& highest_slope() const { return highest_; }
  [[nodiscard]] Ball steepest_slope() const { return larger(absolute(lowest_), absolute(highest_)); }

 private:
  Ball left_, right_, lowest_, highest_;
  std::optional<Strip> strip_;
  bool has_convex_size_ = true;
  std::optional<Ball> largest_value_;
  Ball (*value_)(const Activation&, const Ball&) = nullptr;
};

}  // namespace mixcert_check
