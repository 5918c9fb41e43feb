// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// A program of a user who links mixcert::core from an installed tree.
#include <cmath>

#include "mixcert/core/normal.h"
#include "mixcert/core/parallel.h"

int main() {
  mixcert::Vector probabilities(8);
  mixcert::parallel_for(probabilities.size(), 2, [&](mixcert::Index i) {
    probabilities[i] = mixcert::normal_mass(-static_cast<double>(i), static_cast<double>(i));
  });
  return std::abs(probabilities[1] - 0.6826894921370859) < 1e-14 ? 0 : 1;
}
