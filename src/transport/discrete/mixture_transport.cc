// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// MW2^2 = min over plans of sum_ij plan_ij W2^2(N_i, N_j). Component costs are upper
// bounds (T.1 to T.5), so the distance is one as well; components are few (hundreds), so the
// dense cost matrix is the small part of the work.
#include "mixcert/transport/mixture_transport.h"

#include <cmath>

#include "mixcert/core/error.h"
#include "mixcert/transport/gaussian_transport.h"

namespace mixcert {

MixtureTransport mixture_transport(const GaussianMixture& from, const GaussianMixture& to) {
  require(from.dimension() == to.dimension(), "mixture_transport: mixtures of dimensions " +
                                                  std::to_string(from.dimension()) + " and " +
                                                  std::to_string(to.dimension()) + ", expected equal ones");
  const Vector ones = Vector::Ones(from.dimension());
  Matrix cost(from.size(), to.size());
  for (Index j = 0; j < to.size(); ++j) {
    for (Index i = 0; i < from.size(); ++i) {
      cost(i, j) = gaussian_transport_cost(from.component(i), to.component(j), ones).upper;
    }
  }
  MixtureTransport result;
  result.plan = optimal_plan(from.weights(), to.weights(), cost);
  result.distance = std::sqrt(result.plan.cost);
  return result;
}

}  // namespace mixcert
