// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Five Gauss-Legendre nodes on [0, 1]. For a function of modulus at most M in the ellipse r around an
// interval their error is at most 8 M r^-10/(1 - 1/r) per half-width (V.3).
#pragma once

#include <array>

namespace mixcert {

inline constexpr std::array<double, 5> kFiveNodes = {0.046910077030668004, 0.23076534494715845, 0.5,
                                                     0.76923465505284155, 0.95308992296933200};
inline constexpr std::array<double, 5> kFiveWeights = {
    0.11846344252809454, 0.23931433524968324, 0.28444444444444444, 0.23931433524968324, 0.11846344252809454};

}  // namespace mixcert
