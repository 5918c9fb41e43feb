// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Forms behind sums and concatenations, carried to what these see (O.14).
#include <algorithm>
#include <cmath>

#include "methods/graph/form_steps.h"
#include "methods/graph/graph_forms.h"
#include "mixcert/core/rounding.h"

namespace mixcert {
namespace {

/// 1/p_i for shares p_i in proportion to errors of these sizes.
Vector share_factors(const Vector& sizes) {
  const auto equal = 1.0 / static_cast<double>(sizes.size());
  const double whole = sizes.sum();
  Vector factors(sizes.size());
  for (Index i = 0; i < sizes.size(); ++i) {
    // Terms that differ by rounding alone have a small share.
    const double share = whole > 0.0 ? 0.999 * sizes(i) / whole + 0.001 * equal : equal;
    factors(i) = enlarged(1.0 / share);
  }
  return factors;
}

}  // namespace

void GraphForms::carry_to_terms(Index k) {
  const NodeForm& form = forms_[static_cast<std::size_t>(k)];
  const std::vector<Index>& terms = graph_.node(k).from;
  Vector sizes(static_cast<Index>(terms.size()));
  for (Index i = 0; i < sizes.size(); ++i) {
    const Index j = terms[static_cast<std::size_t>(i)];
    const Matrix& probe = probes_[static_cast<std::size_t>(j)];
    const double square = form.matrix.size() > 0 ? probe.cwiseProduct(form.matrix * probe).sum()
                                                 : form.largest * probe.squaredNorm();
    sizes(i) = is_reached(j) ? std::sqrt(positive_part(square)) : 0.0;
  }
  const Vector factors = share_factors(sizes);
  for (Index i = 0; i < sizes.size(); ++i) {
    add(terms[static_cast<std::size_t>(i)],
        form.matrix.size() > 0 ? Matrix(factors(i) * form.matrix) : Matrix(),
        enlarged(factors(i) * form.largest));
  }
}

void GraphForms::carry_to_parts(Index k) {
  NodeForm& form = forms_[static_cast<std::size_t>(k)];
  const std::vector<Index>& parts = graph_.node(k).from;
  if (form.matrix.size() > 0) form.largest = std::min(form.largest, verified_largest(form.matrix));
  Vector sizes = Vector::Zero(static_cast<Index>(parts.size()));
  double squares = 0.0;
  Index first = 0;
  for (Index i = 0; i < sizes.size() && form.matrix.size() > 0; ++i) {
    const Index j = parts[static_cast<std::size_t>(i)], size = graph_.node(j).size;
    const Matrix& probe = probes_[static_cast<std::size_t>(j)];
    if (is_reached(j)) {
      const auto block = form.matrix.block(first, first, size, size);
      sizes(i) = std::sqrt(positive_part(probe.cwiseProduct(block * probe).sum()));
      squares += probe.squaredNorm();
    }
    first += size;
  }
  // Multiples of the identity need no shares: parts are orthogonal. Which is smaller for white errors?
  const double by_blocks = sizes.sum() * sizes.sum();
  if (form.matrix.size() == 0 || !(by_blocks < form.largest * squares)) {
    for (const Index j : parts) add(j, {}, form.largest);
    return;
  }
  const Vector factors = share_factors(sizes);
  first = 0;
  for (Index i = 0; i < sizes.size(); ++i) {
    const Index j = parts[static_cast<std::size_t>(i)], size = graph_.node(j).size;
    add(j, factors(i) * form.matrix.block(first, first, size, size), enlarged(factors(i) * form.largest));
    first += size;
  }
}

}  // namespace mixcert
