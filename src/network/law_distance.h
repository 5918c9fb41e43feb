// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Squared 2-Wasserstein distance between a law of mean zero and variance one and N(0,1), rounded up, for each
// shape of independent weights; docs/theory/weight-laws.md (W.2) to (W.5).
#pragma once

namespace mixcert {

double uniform_squared_distance();
double laplace_squared_distance();
/// Any real number of degrees above two, infinity included.
double student_squared_distance(double degrees);

}  // namespace mixcert
