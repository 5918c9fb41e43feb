// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The one set of tolerances of the tests: each says why two numbers may differ at all.
#pragma once

namespace mixcert::testing {

struct Tolerance {
  /// Two formulas of a few operations each, relative.
  static constexpr double rounding = 1e-13;
  /// Sums and products of vectors and matrices, relative to the largest entry.
  static constexpr double linear_algebra = 1e-11;
  /// Eigenvalue problems and what is made from them, relative to the trace.
  static constexpr double eigenvalues = 1e-9;
  /// Locations of optimal quantizers, absolute.
  static constexpr double quantizer = 1e-12;
  /// Adaptive quadrature in double precision, relative.
  static constexpr double quadrature = 1e-10;
  /// Central differences with step 1e-5, absolute.
  static constexpr double finite_differences = 1e-8;
  /// Sums of weights against one, absolute.
  static constexpr double weights = 1e-12;
  /// Standard errors that a Monte Carlo mean may be off (one in 1e9 by chance).
  static constexpr double standard_errors = 6.0;
};

}  // namespace mixcert::testing
