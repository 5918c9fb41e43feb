// Licensed under the Apache License, Version 2.0; see LICENSE.
#include "simulated/graph/draw_errors.h"

#include <algorithm>
#include <cmath>

#include "simulated/box_muller.h"
#include "simulated/network_paths.h"

namespace mixcert {
namespace {

DrawRow error_at_mask(const MaskNode& node, const Matrix& numbers, const Matrix& x, const DrawRow& before,
                      const Matrix& out) {
  // Factors have a few roundings each, of themselves.
  const DrawRow rounding = rounding_gamma(8) * column_norms(out);
  if (node.jumps()) return before / node.mask.keep() + rounding;
  const double deviation = std::sqrt(node.mask.variance().upper);
  const DrawRow largest = numbers.cwiseAbs().colwise().maxCoeff().transpose().array() + kNormalError;
  // Of 1 + deviation g the second term is rounded by itself.
  const DrawRow factor = deviation * (kNormalError + rounding_gamma(8) * largest) + rounding_gamma(8);
  return (1.0 + deviation * largest) * before + factor * column_norms(x) + rounding;
}

}  // namespace

DrawErrors::DrawErrors(const GraphNorms& norms, const BlockRandomness& randomness, double input_error)
    : norms_(norms), randomness_(randomness) {
  const Index draws = randomness.numbers.front().cols();
  errors_.assign(static_cast<std::size_t>(norms.graph().size()), DrawRow::Zero(draws));
  errors_.front().setConstant(input_error);
}

void DrawErrors::visit(Index k, const std::vector<const Matrix*>& in, const Matrix& out) {
  const GraphNode& node = norms_.graph().node(k);
  const Matrix& numbers = randomness_.numbers[static_cast<std::size_t>(k)];
  DrawRow& own = errors_[static_cast<std::size_t>(k)];
  const DrawRow& before = errors_[static_cast<std::size_t>(node.from.front())];
  if (const auto* affine = std::get_if<AffineNode>(&node.work)) {
    own = affine->layer->draw_error(norms_.affine(k), *in.front(), before, numbers, kNormalError);
  } else if (const auto* act = std::get_if<ActivationNode>(&node.work)) {
    own = activation_error(ActivationMap(act->activation), norms_.stretch(k), *in.front(), before);
  } else if (const auto* mask = std::get_if<MaskNode>(&node.work)) {
    own = error_at_mask(*mask, numbers, *in.front(), before, out);
  } else if (std::holds_alternative<SumNode>(node.work)) {
    for (std::size_t i = 0; i < in.size(); ++i)
      own += errors_[static_cast<std::size_t>(node.from[i])] +
             rounding_gamma(static_cast<Index>(in.size())) * column_norms(*in[i]);
  } else if (std::holds_alternative<ConcatNode>(node.work)) {
    for (const Index from : node.from)
      own = own.binaryExpr(errors_[static_cast<std::size_t>(from)],
                           [](double a, double b) { return enlarged(std::hypot(a, b)); });
  } else {
    own = norms_.stretch(k) * before;
  }
  own = enlarged(own) + kUnderflow;
}

DrawRow DrawErrors::of_outputs() const {
  return undecided_draws(norms_.graph(), randomness_, kNormalError).select(INFINITY, errors_.back());
}

DrawRow surrogate_numbers(const LayerGraph& graph, const BlockRandomness& randomness) {
  DrawRow squares = DrawRow::Zero(randomness.numbers.front().cols());
  for (Index k = 0; k < graph.size(); ++k) {
    const Matrix& own = randomness.numbers[static_cast<std::size_t>(k)];
    if (own.rows() == 0) continue;
    const auto* mask = std::get_if<MaskNode>(&graph.node(k).work);
    if (mask == nullptr || !mask->jumps()) {
      squares += own.colwise().squaredNorm().transpose().array();
      continue;
    }
    // (1/kappa - 1)/nu^{1/2} has an absolute error of a few u times the larger one of both sizes.
    const double odds = mask->mask.rate() / mask->mask.keep();
    squares += static_cast<double>(own.rows()) * std::max(odds, 1.0 / odds);
  }
  return squares.sqrt();
}

}  // namespace mixcert
