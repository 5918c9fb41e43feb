// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Certification of ensembles: every member as a network of its own, then one mixture and one bound (B.1).
#include <optional>
#include <utility>
#include <vector>

#include "certify/certifier.h"
#include "certify/ensemble_result.h"
#include "mixcert/certify/certify.h"
#include "mixcert/core/error.h"
#include "network/ordinary_scale.h"

namespace mixcert {

std::vector<Certifier> member_certifiers(const Ensemble& ensemble, const Options& options,
                                         const Services& services) {
  std::vector<Certifier> members;
  for (Index i = 0; i < ensemble.size(); ++i) members.emplace_back(ensemble.member(i), options, services);
  return members;
}

Result certify_members(const Ensemble& ensemble, const std::vector<Certifier>& members, ConstMatrixRef inputs,
                       Index index, const Options& options, const Services& services) {
  std::vector<Result> results;
  std::vector<Certified> certified;
  for (const Certifier& member : members) {
    Certified made = member.certify(inputs, index);
    results.push_back(std::move(made.result));
    // Traces can be large; only statistics look at them again.
    if (options.statistics > 0) certified.push_back(std::move(made));
  }
  Result result = combine_results(std::move(results), ensemble.weights(), options);
  require_finite(result);
  if (options.statistics == 0) return result;
  std::vector<CouplingTrace> simulated;
  simulated.reserve(members.size());
  for (std::size_t i = 0; i < members.size(); ++i) simulated.push_back(members[i].coupling(certified[i]));
  result.statistics =
      services.ensemble_statistics(ensemble, inputs, index, simulated, result.mixture, options);
  return result;
}

void certify(const Ensemble& ensemble, ConstMatrixRef inputs, const Options& options, const ResultSink& sink,
             const Services& services) {
  if (ensemble.size() == 1) return certify(ensemble.member(0), inputs, options, sink, services);
  options.validate();
  const std::optional<Ensemble> rescaled = with_ordinary_sizes(ensemble);
  const Ensemble& ordinary = rescaled ? *rescaled : ensemble;
  check_inputs(ordinary.member(0), inputs);
  require(options.statistics == 0 || services.ensemble_statistics != nullptr,
          "option --statistics: needs Services::ensemble_statistics, which mixcert::statistics provides");
  const std::vector<Certifier> members = member_certifiers(ordinary, options, services);
  if (options.joint) {
    sink(certify_members(ordinary, members, inputs, 0, options, services));
    return;
  }
  certify_blocks(inputs.cols(), 1, options, services, sink, [&](Index i, Index, const ResultSink& deliver) {
    deliver(certify_members(ordinary, members, inputs.col(i), i, options, services));
  });
}

std::vector<Result> certify(const Ensemble& ensemble, ConstMatrixRef inputs, const Options& options,
                            const Services& services) {
  std::vector<Result> results;
  certify(
      ensemble, inputs, options, [&](Result&& result) { results.push_back(std::move(result)); }, services);
  return results;
}

}  // namespace mixcert
