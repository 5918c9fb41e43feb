// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Certification of a network at inputs, in their order.
#include "mixcert/certify/certify.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "certify/block_size.h"
#include "certify/certifier.h"
#include "certify/ordered_delivery.h"
#include "mixcert/core/error.h"
#include "network/ordinary_scale.h"

namespace mixcert {

std::vector<std::string> certificate_assumptions(const Options& options) {
  std::vector<std::string> assumptions = {
      "layers are independent of each other; weights and biases within a layer have the stored law: jointly "
      "Gaussian, or independent and normal, Laplace, uniform or Student's t",
      "arithmetic is IEEE double, rounding to nearest",
      "elementary functions are accurate to 16 units of roundoff: those of the C library and Eigen's "
      "vectorised exp, log, sin and cos"};
  if (options.method == Method::Cross) assumptions = {"no bound: the cross signature carries none"};
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
  const std::optional<Network> rescaled = with_ordinary_sizes(network);
  const Network& ordinary = rescaled ? *rescaled : network;
  check_inputs(ordinary, inputs);
  require(options.statistics == 0 || services.statistics != nullptr,
          "option --statistics: needs Services::statistics, which mixcert::statistics provides");
  const Certifier certifier(ordinary, options, services);
  if (options.joint) {
    sink(certifier.certify_fully(inputs, 0));
    return;
  }
  certify_blocks(inputs.cols(), block_size(certifier, inputs.cols()), options, services, sink,
                 [&](Index first, Index count, const ResultSink& deliver) {
                   certifier.certify_block(inputs, first, count, deliver);
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
