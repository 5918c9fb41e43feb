// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Boost's ziggurat: 6 to 9 ns a number, and one fixed algorithm, whereas each standard
// library has its own std::normal_distribution. Only the tails (one number in 4,000) call
// log, whose last bit may differ between platforms.
#include "statistics/simulate/normal_source.h"

#include <boost/random/normal_distribution.hpp>

namespace mixcert {

void fill_normal(Generator& generator, Eigen::Ref<Matrix> out) {
  boost::random::normal_distribution<double> normal;
  for (Index j = 0; j < out.cols(); ++j) {
    double* const column = out.col(j).data();
    for (Index i = 0; i < out.rows(); ++i) column[i] = normal(generator);
  }
}

}  // namespace mixcert
