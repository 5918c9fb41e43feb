// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Blocks are cut by memory: between two layers every input of a block holds the law of its pre-activations,
// which after the first layer is a dense covariance.
#include "certify/block_size.h"

#include <algorithm>

namespace mixcert {
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

}  // namespace mixcert
