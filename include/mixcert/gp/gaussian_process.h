// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// A Gaussian process: at any inputs its values are Gaussian, with mean and covariance from two functions.
#pragma once

#include <cstdint>

#include "mixcert/gp/kernel.h"
#include "mixcert/gp/mean_function.h"
#include "mixcert/mixture/gaussian_mixture.h"

namespace mixcert {

struct GaussianProcess {
  MeanFunction mean;
  Kernel kernel;

  [[nodiscard]] Vector mean_at(ConstMatrixRef inputs) const { return mean.at(inputs); }
  [[nodiscard]] Matrix covariance(ConstMatrixRef inputs) const { return kernel.covariance(inputs); }
  /// Law of the values at the columns of `inputs`, its covariance dense.
  [[nodiscard]] Gaussian law(ConstMatrixRef inputs) const;
};

/// `count` functions drawn from the process, one per column, at the columns of `inputs`. The square root is
/// by eigenvectors, because covariances of close inputs are singular in floating point.
Matrix sample_functions(const GaussianProcess& process, ConstMatrixRef inputs, Index count,
                        std::uint64_t seed);

}  // namespace mixcert
