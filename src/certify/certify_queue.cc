// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Certification of inputs in the order in which somebody asks for them, and how many go through the layers
// together.
#include <algorithm>
#include <atomic>
#include <functional>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "certify/certifier.h"
#include "certify/input_change.h"
#include "certify/method_choice.h"
#include "mixcert/certify/certify.h"
#include "mixcert/core/error.h"
#include "network/ordinary_scale.h"

namespace mixcert {

// Blocks are cut by memory: between two layers every input of a block holds the law of its pre-activations,
// which after the first layer is a dense covariance.

namespace {

/// What the inputs of a block may hold together.
constexpr double kBlockBytes = 0x1.0p20;
/// More inputs than this gain nothing: the weights are read once for all of them already.
constexpr double kMostInputs = 64.0;
/// Blocks that a thread should get at least, so that no thread waits long for the last one.
constexpr Index kBlocksPerThread = 4;

/// Covariances and the dozen vectors of each hidden layer, for one input.
double bytes_per_input(const Network& network) {
  double numbers = static_cast<double>(network.inputs());
  for (Index k = 0; k < network.hidden_count(); ++k) {
    const double n = static_cast<double>(network.layer(k).outputs());
    numbers += k == 0 ? 16.0 * n : n * (n + 16.0);
  }
  return static_cast<double>(sizeof(double)) * numbers;
}

}  // namespace

Index block_size(const Certifier& certifier, Index input_count) {
  // Signatures take inputs one by one.
  if (!certifier.takes_blocks()) return 1;
  const Prepared& prepared = certifier.prepared();
  Index block = prepared.options.block;
  if (block == 0) {
    const double fitting = kBlockBytes / bytes_per_input(prepared.network);
    block = static_cast<Index>(std::clamp(fitting, 1.0, kMostInputs));
  }
  const Index threads = resolve_thread_count(prepared.options.threads);
  if (threads == 1) return block;
  const Index shares = threads * kBlocksPerThread;
  return std::min(block, (input_count + shares - 1) / shares);
}

namespace {

/// Neighbours go through the layers together.
void for_each_run(const std::vector<Index>& inputs, const std::function<void(Index, Index)>& certify_run) {
  for (std::size_t begin = 0; begin < inputs.size();) {
    std::size_t end = begin + 1;
    while (end < inputs.size() && inputs[end] == inputs[end - 1] + 1) ++end;
    certify_run(inputs[begin], static_cast<Index>(end - begin));
    begin = end;
  }
}

bool is_cancelled(const Services& services) { return services.cancel != nullptr && services.cancel->load(); }

}  // namespace

void certify_queue(const Ensemble& ensemble, ConstMatrixRef inputs, const Options& options,
                   const InputQueue& queue, const ResultSink& sink, const Services& services) {
  options.validate();
  require(options.method != Method::Coupled || ensemble.size() == 1,
          "method coupled: expected one network, got an ensemble of " + std::to_string(ensemble.size()));
  const std::optional<Ensemble> rescaled =
      with_ordinary_sizes(ensemble, [&](const Network& one) { return stays_graph(one, options); });
  const Ensemble& ordinary = rescaled ? *rescaled : ensemble;
  require(!options.joint, "certify_queue: expected inputs one by one, got option joint");
  check_inputs(ordinary.member(0), inputs);
  const bool alone = ordinary.size() == 1;
  require(options.statistics == 0 ||
              (alone ? services.statistics != nullptr : services.ensemble_statistics != nullptr),
          "option --statistics: needs the services of mixcert::statistics");
  const std::vector<Certifier> members = member_certifiers(ordinary, options, services);
  const int threads = resolve_thread_count(options.threads);
  const Index block = alone ? block_size(members.front(), inputs.cols()) : 1;
  const BallWidening ball(ordinary, inputs, options, services);
  std::mutex one_at_a_time;
  std::atomic<bool> stopped{false};
  const ResultSink deliver = [&](Result&& result) {
    ball.apply(result);
    const std::lock_guard<std::mutex> guard(one_at_a_time);
    sink(std::move(result));
  };
  const auto certify_run = [&](Index first, Index count) {
    if (alone) return members.front().certify_block(inputs, first, count, deliver);
    for (Index i = first; i < first + count; ++i)
      deliver(certify_members(ordinary, members, inputs.col(i), i, options, services));
  };
  // One piece per thread, each taking inputs until there are none.
  parallel_for(threads, threads, [&](Index) {
    try {
      for (std::vector<Index> taken = queue(block); !taken.empty() && !stopped.load(); taken = queue(block)) {
        if (is_cancelled(services)) throw Interrupted("interrupted");
        for_each_run(taken, certify_run);
      }
    } catch (...) {
      stopped.store(true);
      throw;
    }
  });
}

}  // namespace mixcert
