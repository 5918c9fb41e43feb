// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Multiplications and bytes of each method from sizes alone. The factors of proportion were fitted to the
// networks of `scripts/check_estimates`, which prints estimates beside measured times.
#include "mixcert/certify/work_estimate.h"

#include <algorithm>
#include <cmath>
#include <variant>
#include <vector>

#include "certify/method_choice.h"
#include "methods/graph/graph_chain.h"
#include "methods/graph/pair_rounds.h"
#include "mixcert/core/parallel.h"
#include "network/graph/layer_graph.h"

namespace mixcert {
namespace {

// Fitted; multiplications, but for the last.
constexpr double kPush = 1.7;               ///< W C W' and what bounds it, over in out (in + out)
constexpr double kPerNeuron = 2.5e4;        ///< the law of one output, by neuron
constexpr double kPerNeuronOutput = 1.3e3;  ///< and for each output
constexpr double kPieces = 12.0;            ///< splits that are tried, over the root of pieces cubed
constexpr double kPerMaskPair = 1.2e4;      ///< two layers of masks, by pair of neurons
constexpr double kPerGridPoint = 5.0;       ///< a push of one point, over in * out
constexpr double kJoint = 0.6;              ///< of pairs of inputs, over in out (in + out)
constexpr double kPerDraw = 2.0;            ///< network and surrogate
constexpr double kPerRandomNumber = 60.0;
constexpr double kGraph = 0.4;      ///< products of forms and tangents
constexpr double kForm = 0.3;       ///< the largest eigenvalue of a form, over its size cubed
constexpr Index kMostDense = 3000;  ///< values of a node whose form is written out

/// Of M x, roughly: a convolution's roundings are those of its windows and of its transposed ones, the larger
/// part of which belongs to as many channels again.
double multiplications(const AffineOperator& layer) {
  const auto in = static_cast<double>(layer.inputs()), out = static_cast<double>(layer.outputs());
  constexpr double kWindowShare = 0.4;
  return out * std::min(in, kWindowShare * static_cast<double>(layer.sizes().roundings));
}

struct Stage {
  double in = 0.0, out = 0.0;
  [[nodiscard]] double cubic() const { return in * out * (in + out); }
};

/// Affine layers as they would be written out. Asking a graph for its layers would do so.
std::vector<Stage> stages_of(const Network& network) {
  std::vector<Stage> stages;
  const LayerGraph* graph = network.graph();
  if (graph == nullptr) {
    for (Index k = 0; k < network.layer_count(); ++k)
      stages.push_back(
          {static_cast<double>(network.layer(k).inputs()), static_cast<double>(network.layer(k).outputs())});
    return stages;
  }
  for (Index k = 1; k < graph->size(); ++k) {
    const GraphNode& node = graph->node(k);
    const auto in = static_cast<double>(graph->node(node.from.front()).size);
    const auto out = static_cast<double>(node.size);
    if (std::holds_alternative<AffineNode>(node.work)) {
      stages.push_back({in, out});
    } else if (std::holds_alternative<MaximumNode>(node.work)) {
      for (double left = in; left > out; left *= 0.5) stages.push_back({left, left});
    }
  }
  return stages;
}

struct Sizes {
  double weights = 0.0;   ///< entries of all matrices
  double cubic = 0.0;     ///< in out (in + out) of all stages but the first
  double products = 0.0;  ///< in out of the same
  double widest = 0.0;    ///< outputs of a stage
  double neurons = 0.0, random = 0.0;
};

Sizes sizes_of(const std::vector<Stage>& stages) {
  Sizes sizes;
  for (std::size_t k = 0; k < stages.size(); ++k) {
    sizes.weights += stages[k].in * stages[k].out;
    sizes.widest = std::max(sizes.widest, stages[k].out);
    sizes.random += stages[k].out;
    if (k == 0) continue;
    sizes.cubic += stages[k].cubic();
    sizes.products += stages[k].in * stages[k].out;
    sizes.neurons += stages[k].in;
  }
  return sizes;
}

/// What is made once for a network, and for each input.
struct Work {
  double once = 0.0, each = 0.0;
  double bytes = 0.0;
  double bytes_per_thread = 0.0;
};

Work& operator+=(Work& all, const Work& more) {
  all.once += more.once;
  all.each += more.each;
  all.bytes += more.bytes;
  all.bytes_per_thread += more.bytes_per_thread;
  return all;
}

double cube(double n) { return n * n * n; }

/// Forms backwards once, tangents forwards at each input (methods/graph).
Work graph_work(const LayerGraph& given) {
  const LayerGraph graph = in_pair_rounds(given);
  Work work;
  double columns = 0.0, widest = 0.0;
  for (Index k = 1; k < graph.size(); ++k) {
    const GraphNode& node = graph.node(k);
    const auto size = static_cast<double>(node.size);
    const auto before = static_cast<double>(graph.node(node.from.front()).size);
    const double dense = node.size <= kMostDense ? size : 0.0;
    if (const auto* affine = std::get_if<AffineNode>(&node.work)) {
      const double own = multiplications(*affine->layer);
      work.once += own * (dense + (before <= kMostDense ? before : 0.0));
      work.each += own * columns;
      if (affine->layer->normals() > 0) work.each += before * before * std::min(columns, before);
      columns += static_cast<double>(affine->layer->normals());
    } else if (!std::holds_alternative<SumNode>(node.work)) {
      work.once += kForm * cube(dense);
      work.each += 0.5 * dense * dense * columns;
      work.bytes += sizeof(double) * dense * dense;
      widest = std::max(widest, dense);
    }
  }
  work.once *= kGraph;
  work.each *= kGraph;
  work.bytes += 4.0 * sizeof(double) * widest * widest;
  work.bytes_per_thread = most_tangent_bytes(graph) + 3.0 * sizeof(double) * widest * widest;
  return work;
}

/// Draws through layers that keep their structure (simulated/graph).
Work coupled_work(const LayerGraph& graph, const Options& options) {
  double own = 0.0, random = 0.0, widest = 0.0;
  for (Index k = 1; k < graph.size(); ++k) {
    const GraphNode& node = graph.node(k);
    if (const auto* affine = std::get_if<AffineNode>(&node.work)) own += multiplications(*affine->layer);
    random += static_cast<double>(node.random_count());
    widest = std::max(widest, static_cast<double>(node.size));
  }
  const double draws = static_cast<double>(options.simulate ? options.draws : options.statistics);
  const auto outputs = static_cast<double>(graph.outputs());
  Work work;
  work.each = std::max(draws, 1000.0) * (kPerDraw * own + kPerRandomNumber * random);
  work.bytes_per_thread = sizeof(double) * (random * (outputs + 64.0) + widest * (4.0 * outputs + 128.0));
  return work;
}

bool has_masks(const Network& network) {
  return network.graph() != nullptr ? network.graph()->has_masks() : network.has_masks();
}

/// Laws of all layers' values, as matrices (methods/moment, theorems).
Work moment_work(const Network& network, const Options& options, double input_count) {
  const std::vector<Stage> stages = stages_of(network);
  const Sizes sizes = sizes_of(stages);
  const auto outputs = static_cast<double>(network.outputs());
  Work work;
  work.once = sizes.cubic;
  work.each = kPush * sizes.cubic;
  if (options.theorems == TheoremSet::All) {
    if (stages.size() == 2) work.each += sizes.neurons * (kPerNeuron + kPerNeuronOutput * outputs);
    if (stages.size() > 2 && has_masks(network) && sizes.products < 1e6)
      work.each += kPerMaskPair * sizes.products;
  }
  if (options.pieces > 1) work.each *= kPieces * std::pow(static_cast<double>(options.pieces), 1.5);
  work.bytes = 3.0 * sizeof(double) * sizes.widest * sizes.widest;
  if (network.graph() != nullptr && !network.is_written_out())
    work.bytes += 2.0 * sizeof(double) * network.graph()->written_out();
  work.bytes_per_thread = 4.0 * sizeof(double) * sizes.widest * sizes.widest;
  if (options.joint) {
    work.once += input_count * input_count * kJoint * sizes.cubic;
    work.each = 0.0;
    work.bytes += 3.0 * sizeof(double) * std::pow(input_count * sizes.widest, 2);
  }
  const auto draws = static_cast<double>(options.statistics + (options.simulate ? options.draws : 0));
  work.each += draws * (kPerDraw * sizes.weights + kPerRandomNumber * sizes.random);
  return work;
}

Work signature_work(const Network& network, const Options& options, double input_count) {
  const Sizes sizes = sizes_of(stages_of(network));
  const double points = static_cast<double>(options.signature_size) *
                        static_cast<double>(std::max<Index>(options.components, 1));
  const double together = options.joint ? input_count * input_count : 1.0;
  Work work;
  work.once = 0.2 * sizes.cubic;
  work.each = together * kPerGridPoint * points * sizes.products;
  work.bytes_per_thread = 3.0 * sizeof(double) * points * sizes.widest * (options.joint ? input_count : 1.0);
  return work;
}

/// The largest of a member's methods names the whole.
Work member_work(const Network& network, const Options& options, double input_count, std::string& method) {
  if (is_coupled(network, options) && network.graph() != nullptr) {
    method = "draws of the network";
    return coupled_work(*network.graph(), options);
  }
  if (is_formal_graph(network, options)) {
    method = "the formal bound of layers that keep their structure";
    return graph_work(*network.graph());
  }
  if (options.method == Method::Signature || options.method == Method::Cross) {
    method = "signatures";
    return signature_work(network, options, input_count);
  }
  method = network.graph() != nullptr && network.graph()->has_shared_noise()
               ? "the moment method, with convolutions written out as matrices"
               : "the moment method";
  Work work = moment_work(network, options, input_count);
  if (may_be_closer_as_graph(network, options)) work += graph_work(*network.graph());
  return work;
}

}  // namespace

WorkEstimate estimate_work(const Ensemble& ensemble, const Options& options, Index input_count) {
  const auto count = static_cast<double>(input_count);
  const double pieces = options.joint ? 1.0 : count;
  const double threads = std::min(pieces, static_cast<double>(resolve_thread_count(options.threads)));
  WorkEstimate estimate;
  double once = 0.0, all = 0.0, largest = -1.0;
  for (Index i = 0; i < ensemble.size(); ++i) {
    std::string method;
    const Work work = member_work(ensemble.member(i), options, count, method);
    once += work.once;
    all += work.each * pieces;
    estimate.bytes += work.bytes;
    estimate.bytes = std::max(estimate.bytes, work.bytes + threads * work.bytes_per_thread);
    if (work.once + work.each * pieces > largest) {
      largest = work.once + work.each * pieces;
      estimate.method = method;
    }
  }
  estimate.multiplications = once + all;
  estimate.seconds = (once + all / std::max(threads, 1.0)) / kMultiplicationsPerSecond;
  estimate.is_least = options.epsilon.has_value();
  Options drawn = options;
  drawn.simulate = true;
  estimate.may_be_drawn = ensemble.size() == 1 && !options.joint &&
                          !is_coupled(ensemble.member(0), options) && is_coupled(ensemble.member(0), drawn);
  return estimate;
}

}  // namespace mixcert
