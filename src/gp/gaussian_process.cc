// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Values of a Gaussian process at given inputs: their law, and samples of it.
#include "mixcert/gp/gaussian_process.h"

#include "mixcert/core/error.h"
#include "mixcert/core/rng.h"
#include "mixcert/core/rounding.h"
#include "mixture/symmetric_eigen.h"
#include "statistics/simulate/normal_source.h"

namespace mixcert {

Gaussian GaussianProcess::law(ConstMatrixRef inputs) const {
  return {mean_at(inputs), Covariance::dense(covariance(inputs))};
}

Matrix sample_functions(const GaussianProcess& process, ConstMatrixRef inputs, Index count,
                        std::uint64_t seed) {
  require(count >= 0,
          "sample_functions: expected a number of functions from 0 on, got " + std::to_string(count));
  const SymmetricEigen eigen = symmetric_eigen(process.covariance(inputs));
  Matrix normals(inputs.cols(), count);
  Generator generator = make_generator(seed, Stream::Process);
  fill_normal(generator, normals);
  // Eigenvalues that rounding made negative are zero.
  const Vector deviations = positive_part(eigen.values).cwiseSqrt();
  Matrix functions = eigen.vectors * (deviations.asDiagonal() * normals);
  functions.colwise() += process.mean_at(inputs);
  return functions;
}

}  // namespace mixcert
