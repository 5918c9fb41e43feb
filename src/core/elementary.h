// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Two formulas that several files use: x^2 without std::pow, which is slower and not always exact, and the
// inner product of matrices.
#pragma once

#include "mixcert/core/types.h"

namespace mixcert {

inline double square(double x) { return x * x; }

/// tr(a' b).
inline double inner(const Matrix& a, const Matrix& b) { return a.cwiseProduct(b).sum(); }

}  // namespace mixcert
