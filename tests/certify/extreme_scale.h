// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// What the tests at extreme scales share: a network is answered by finite numbers, or refused.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <optional>
#include <vector>

#include "mixcert/certify/certify.h"
#include "mixcert/core/error.h"

namespace mixcert::testing {

inline Options options_of(Method method, bool joint = false) {
  Options options;
  options.method = method;
  if (method == Method::Moment) options.theorems = TheoremSet::Coupling;
  options.joint = joint;
  options.threads = 1;
  return options;
}

inline const std::vector<Method>& methods() {
  static const std::vector<Method> all = {Method::Auto, Method::Moment, Method::Signature};
  return all;
}

inline bool is_finite(const Result& result) {
  bool finite = std::isfinite(result.w2.value) && std::isfinite(result.w1.value);
  for (const Gaussian& component : result.mixture.components()) {
    finite = finite && component.mean.allFinite() && component.covariance.to_dense().allFinite();
  }
  return finite;
}

/// Nothing where the library refuses; fails where it answers with something that is not finite.
inline std::optional<Result> answered(const Network& network, const Matrix& inputs, const Options& options) {
  try {
    Result result = certify(network, inputs, options).front();
    EXPECT_TRUE(is_finite(result)) << "bound " << result.w2.value;
    if (!is_finite(result)) return std::nullopt;
    return result;
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace mixcert::testing
