// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Answers from the law of one output behind dropout (U.20), (D.7), against enumerated masks.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "mixcert/answer/answers.h"
#include "mixcert/certify/certify.h"
#include "theorems/masked_cases.h"

namespace mixcert::testing {
namespace masked_law_test {

/// Mass of the atoms from..to, ends included.
long double mass_between(const Atoms& atoms, long double from, long double to) {
  long double sum = 0.0L;
  for (std::size_t k = 0; k < atoms.points.size(); ++k) {
    if (atoms.points[k] >= from && atoms.points[k] <= to) sum += atoms.masses[k];
  }
  return sum;
}

TEST(MaskedLaw, HoldsTheProbabilitiesOfEnumeratedMasks) {
  std::vector<double> widths;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    const MaskedNetwork made = random_masked_network(seed, 1.0, 0.7, 10);
    const Atoms atoms = made.atoms(0.0);
    Options options;
    options.threads = 1;
    const Result result = certify(made.network, Vector::Ones(1), options).front();
    // The law is the network's: it is kept whichever method has the closest mixture.
    ASSERT_NE(result.distribution, nullptr);
    const CertifiedLine line = coordinate(CertifiedLaw(result), 0);
    const auto low = static_cast<double>(atoms.points.front()),
               high = static_cast<double>(atoms.points.back());
    std::vector<double> places;
    for (std::size_t k = 0; k < atoms.points.size(); k += 1 + atoms.points.size() / 40)
      places.push_back(static_cast<double>(atoms.points[k]));
    const std::size_t at_atoms = places.size();
    for (double part = -0.05; part < 1.1; part += 0.0437) places.push_back(low + part * (high - low));
    for (std::size_t i = 0; i < places.size(); ++i) {
      const double place = places[i];
      const Interval known = line.below(place);
      EXPECT_LE(known.lower, mass_between(atoms, -INFINITY, place) + 1e-12L) << place;
      EXPECT_GE(known.upper, mass_between(atoms, -INFINITY, place) - 1e-12L) << place;
      // At an atom nothing is known but on which side its mass lies.
      if (i >= at_atoms) widths.push_back(known.upper - known.lower);
    }
    const CredibleInterval credible = credible_interval(line, 0.9);
    EXPECT_GE(mass_between(atoms, credible.lower, credible.upper), 0.9L - 1e-12L);
  }
  std::nth_element(widths.begin(), widths.begin() + static_cast<std::ptrdiff_t>(widths.size() / 2),
                   widths.end());
  EXPECT_LE(widths[widths.size() / 2], 1e-2);
}

}  // namespace masked_law_test
}  // namespace mixcert::testing
