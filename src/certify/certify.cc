// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Certification of a network at inputs, in their order.
#include "mixcert/certify/certify.h"

#include <algorithm>
#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include "certify/certifier.h"
#include "certify/input_change.h"
#include "certify/method_choice.h"
#include "mixcert/core/error.h"
#include "network/ordinary_scale.h"

namespace mixcert {
namespace {

/// Hands results to the sink in the order of the inputs although threads finish them in any
/// order, holding back only a bounded number of them.
class OrderedDelivery {
 public:
  OrderedDelivery(const ResultSink& sink, Index window) : sink_(sink), window_(window) {}

  /// Waits until input `index` is within the window of the next one to deliver, so that one
  /// slow input cannot make the finished ones pile up. Returns at once after abandon().
  void wait_for_turn(Index index) {
    std::unique_lock lock(mutex_);
    advanced_.wait(lock, [&] { return abandoned_ || index < next_ + window_; });
  }

  /// Delivers this and every waiting result whose turn has come.
  void deliver(Result&& result) {
    const std::scoped_lock lock(mutex_);
    const Index index = result.input;
    waiting_.emplace(index, std::move(result));
    for (auto entry = waiting_.find(next_); entry != waiting_.end(); entry = waiting_.find(next_)) {
      Result ready = std::move(entry->second);
      waiting_.erase(entry);
      sink_(std::move(ready));
      ++next_;
    }
    advanced_.notify_all();
  }

  /// Wakes all waiters for good: some piece has failed and the loop is ending.
  void abandon() {
    const std::scoped_lock lock(mutex_);
    abandoned_ = true;
    advanced_.notify_all();
  }

 private:
  const ResultSink& sink_;
  const Index window_;
  std::mutex mutex_;
  std::condition_variable advanced_;
  Index next_ = 0;
  bool abandoned_ = false;
  std::map<Index, Result> waiting_;
};

}  // namespace

std::vector<std::string> certificate_assumptions(const Options& options) {
  std::vector<std::string> assumptions = {
      "layers are independent of each other; weights and biases within a layer have the stored law: jointly "
      "Gaussian, or independent and normal, Laplace, uniform or Student's t",
      "arithmetic is IEEE double, rounding to nearest",
      "elementary functions are accurate to 16 units of roundoff: those of the C library and Eigen's "
      "vectorised exp, log, sin and cos"};
  if (options.predictive == Predictive::Glm) {
    assumptions.emplace_back(
        "the law is that of the network linearised at the means of its weights (glm), not that of the "
        "network; "
        "the linearisation, computed in double precision, is taken as it is");
  }
  if (options.simulate) {
    assumptions.push_back(
        "bounds certified by simulation: the bits of AES-256 are independent and fair; such a bound "
        "fails with probability " +
        format_number(options.simulation_failure) + " at each input");
  }
  if (options.method == Method::Cross) assumptions = {"no bound: the cross signature carries none"};
  if (options.method == Method::Coupled)
    assumptions.emplace_back(
        "method coupled makes its Gaussian of draws of their own; a formal bound beside it is about the "
        "Gaussian as it is stored, and there is none behind dropout");
  return assumptions;
}

void certify_blocks(Index input_count, Index block, const Options& options, const Services& services,
                    const ResultSink& sink, const CertifyBlock& certify_block) {
  const int threads = resolve_thread_count(options.threads);
  OrderedDelivery delivery(sink, 4 * block * static_cast<Index>(threads));
  const ResultSink deliver = [&](Result&& result) { delivery.deliver(std::move(result)); };
  // Cancellation is looked at inside the piece, where abandon() wakes the threads that wait.
  parallel_for((input_count + block - 1) / block, threads, [&](Index piece) {
    try {
      if (services.cancel != nullptr && services.cancel->load()) throw Interrupted("interrupted");
      const Index first = piece * block;
      delivery.wait_for_turn(first);
      certify_block(first, std::min(block, input_count - first), deliver);
    } catch (...) {
      delivery.abandon();
      throw;
    }
  });
}

void certify(const Network& network, ConstMatrixRef inputs, const Options& options, const ResultSink& sink,
             const Services& services) {
  options.validate();
  const std::optional<Network> rescaled =
      stays_graph(network, options) ? std::nullopt : with_ordinary_sizes(network);
  const Network& ordinary = rescaled ? *rescaled : network;
  check_inputs(ordinary, inputs);
  require(options.statistics == 0 || services.statistics != nullptr,
          "option --statistics: needs Services::statistics, which mixcert::statistics provides");
  const Certifier certifier(ordinary, options, services);
  if (options.joint) {
    sink(certifier.certify_fully(inputs, 0));
    return;
  }
  const BallWidening ball(Ensemble(ordinary), inputs, options, services);
  certify_blocks(inputs.cols(), block_size(certifier, inputs.cols()), options, services, sink,
                 [&](Index first, Index count, const ResultSink& deliver) {
                   certifier.certify_block(inputs, first, count, ball.in_front_of(deliver));
                 });
}

std::vector<Result> certify(const Network& network, ConstMatrixRef inputs, const Options& options,
                            const Services& services) {
  std::vector<Result> results;
  certify(
      network, inputs, options, [&](Result&& result) { results.push_back(std::move(result)); }, services);
  return results;
}

}  // namespace mixcert
