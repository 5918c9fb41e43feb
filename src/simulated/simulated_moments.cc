// Licensed under the Apache License, Version 2.0; see LICENSE.
#include "simulated/simulated_moments.h"

#include <utility>

namespace mixcert {
namespace {

/// Means and deviations that are this near to the simulated ones, in deviations, stay as they are.
constexpr double kGoodMoments = 0.01;

Vector sample_variances(const Matrix& draws) {
  return (draws.colwise() - draws.rowwise().mean()).rowwise().squaredNorm() /
         static_cast<double>(draws.cols() - 1);
}

}  // namespace

OutputMoments simulated_output_moments(const CoupledChain& chain, const CoupledOutputs& draws) {
  const ChainOutput output(chain);
  return {output.mean() + (draws.network - draws.chain).rowwise().mean(),
          output.signal_variances() + draws.variances.rowwise().mean() + sample_variances(draws.network) -
              sample_variances(draws.chain)};
}

std::optional<StretchedChain> with_simulated_moments(const CoupledChain& chain, const GaussianMixture& own,
                                                     const CoupledOutputs& draws) {
  const auto [mean, variances] = simulated_output_moments(chain, draws);
  const Vector deviations = positive_part(variances).cwiseSqrt(), before = own.standard_deviation();
  const Vector off = (deviations - before).cwiseAbs() + (mean - own.mean()).cwiseAbs();
  if (!off.allFinite() || (off.array() <= kGoodMoments * before.array()).all()) return std::nullopt;
  StretchedMixture made = with_moments(mean, deviations, own);
  return StretchedChain{chain.stretched(made.factor, made.shift), std::move(made)};
}

}  // namespace mixcert
