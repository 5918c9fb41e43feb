// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The sum of a certificate's terms: the triangle inequality, applied once.
#include "certificate/certificate.h"

namespace mixcert {

void Certificate::add_up() {
  UpperBound sum = first + moved;
  UpperBound sum_w1 = sum;
  for (const LayerTerms& terms : layers) {
    sum = sum + terms.compression + terms.local;
    sum_w1 = sum_w1 + terms.compression_w1 + terms.local_w1;
  }
  w2 = bound_of(Distance::W2, sum);
  // After an overflow there is no bound of either kind.
  w1 = w2.exists() ? bound_of(Distance::W1, min(sum_w1, sum)) : Bound::none(Distance::W1);
}

Bound bound_of(Distance distance, UpperBound value) { return {distance, value.upper, value.nominal}; }

}  // namespace mixcert
