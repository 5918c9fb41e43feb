// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Samples of an ensemble: labels first, then all samples of a member at once, so that whatever a member needs
// is factored once. Labels come from one generator and members have seeds of their own, so that nothing
// depends on threads.
#include <functional>
#include <string>
#include <vector>

#include "mixcert/core/error.h"
#include "mixcert/core/rng.h"
#include "mixcert/statistics/simulate.h"

namespace mixcert {
namespace {

/// For each member, the samples that belong to it; labels by inversion.
std::vector<std::vector<Index>> draw_labels(const Vector& weights, Index samples, Generator& generator) {
  std::vector<std::vector<Index>> members(static_cast<std::size_t>(weights.size()));
  for (Index s = 0; s < samples; ++s) {
    double rest = uniform(generator) * weights.sum();
    Index label = 0;
    // The last member takes what rounding leaves.
    while (label + 1 < weights.size() && rest >= weights(label)) rest -= weights(label++);
    members[static_cast<std::size_t>(label)].push_back(s);
  }
  return members;
}

using MemberSimulation = std::function<Matrix(const Network&, const SimulationOptions&)>;

Matrix simulate_members(const Ensemble& ensemble, Index rows, std::uint64_t stream_index,
                        const SimulationOptions& options, const MemberSimulation& simulate_member) {
  if (ensemble.size() == 1) return simulate_member(ensemble.member(0), options);
  require(options.samples > 0, "simulate: expected samples >= 1, got " + std::to_string(options.samples));
  Generator generator = make_generator(options.seed, Stream::Member, stream_index);
  const auto labels = draw_labels(ensemble.weights(), options.samples, generator);
  Matrix result(rows, options.samples);
  for (Index i = 0; i < ensemble.size(); ++i) {
    const std::vector<Index>& mine = labels[static_cast<std::size_t>(i)];
    if (mine.empty()) continue;
    SimulationOptions own = options;
    own.samples = static_cast<Index>(mine.size());
    own.seed = member_seed(options.seed, i);
    result(Eigen::all, mine) = simulate_member(ensemble.member(i), own);
  }
  return result;
}

}  // namespace

std::uint64_t member_seed(std::uint64_t seed, Index member) {
  return member == 0 ? seed : split_mix(seed ^ split_mix(static_cast<std::uint64_t>(member)));
}

Matrix simulate(const Ensemble& ensemble, ConstVectorRef input, Index input_index,
                const SimulationOptions& options) {
  return simulate_members(ensemble, ensemble.outputs(), static_cast<std::uint64_t>(input_index), options,
                          [&](const Network& member, const SimulationOptions& own) {
                            return simulate(member, input, input_index, own);
                          });
}

Matrix simulate_joint(const Ensemble& ensemble, ConstMatrixRef inputs, const SimulationOptions& options) {
  return simulate_members(ensemble, ensemble.outputs() * inputs.cols(), 0, options,
                          [&](const Network& member, const SimulationOptions& own) {
                            return simulate_joint(member, inputs, own);
                          });
}

}  // namespace mixcert
