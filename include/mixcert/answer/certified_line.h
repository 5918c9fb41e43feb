// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// A law on the line that is known by a mixture and bounds of its distance to it: one output of a certified
// law, a combination of outputs, either with observation noise (U.8).
#pragma once

#include "mixcert/answer/certified_law.h"
#include "mixcert/answer/line_mixture.h"

namespace mixcert {

class CertifiedLine {
 public:
  /// Bounds as those of CertifiedLaw: NaN or infinity where there is none.
  CertifiedLine(LineMixture mixture, double w2, double w1);

  [[nodiscard]] const LineMixture& mixture() const { return mixture_; }
  [[nodiscard]] double w2() const { return w2_; }  ///< infinity where there is no bound
  [[nodiscard]] double w1() const { return w1_; }  ///< infinity where there is no bound

  /// The same with independent N(0, deviation^2) added to both laws, which does not move them apart.
  [[nodiscard]] CertifiedLine with_noise(double deviation) const;

 private:
  LineMixture mixture_;
  double w2_;
  double w1_;
};

/// The law of direction'y: distances grow by |direction| at most, and by what rounding moves the mixture.
/// Throws InvalidArgument where the direction has the wrong size, is not finite or is zero.
CertifiedLine project(const CertifiedLaw& law, ConstVectorRef direction);

/// The law of one output.
CertifiedLine coordinate(const CertifiedLaw& law, Index index);

}  // namespace mixcert
