// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Mixtures of single outputs in result archives: `marginal_weights`, `marginal_means` and
// `marginal_deviations` [inputs, outputs, components], padded with weights of zero; `w2_bound_marginals`
// [inputs, outputs] and `marginal_mean_ranges` [inputs, outputs, 2]. Rows without marginals are NaN.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "io/results/result_parts.h"

namespace mixcert::io {
namespace {

constexpr double kNoMarginal = std::numeric_limits<double>::quiet_NaN();

}  // namespace

void ResultMarginals::add(const Result& result) {
  if (result.simulated) {
    for (const SimulatedMarginal& marginal : result.simulated->marginals) {
      const GaussianMixture& mixture = marginal.mixture;
      std::vector<double> numbers(mixture.weights().begin(), mixture.weights().end());
      for (const Gaussian& one : mixture.components()) numbers.push_back(one.mean(0));
      for (const Gaussian& one : mixture.components())
        numbers.push_back(std::sqrt(one.covariance.variances()(0)));
      places_.push_back({result.input, size_, mixture.size()});
      numbers_.push_back({marginal.w2, marginal.mean_lower, marginal.mean_upper});
      spill_.append(numbers);
      size_ += static_cast<Index>(numbers.size());
      most_ = std::max(most_, mixture.size());
    }
  }
  first_place_.push_back(places_.size());
}

void ResultMarginals::write_to(NpzWriter& archive, Index outputs) {
  if (places_.empty()) return;
  add_array(archive, "marginal_weights", outputs, 0);
  add_array(archive, "marginal_means", outputs, 1);
  add_array(archive, "marginal_deviations", outputs, 2);
  const Index rows = static_cast<Index>(first_place_.size()) - 1;
  add_numbers(archive, "w2_bound_marginals", {rows, outputs}, 1, 0);
  add_numbers(archive, "marginal_mean_ranges", {rows, outputs, 2}, 2, 1);
}

void ResultMarginals::add_numbers(NpzWriter& archive, const std::string& name, std::vector<Index> shape,
                                  std::size_t count, std::size_t from) {
  archive.add(name, std::move(shape), [this, count, from](Index row, std::span<double> block) {
    std::fill(block.begin(), block.end(), kNoMarginal);
    const auto at = static_cast<std::size_t>(row);
    for (std::size_t i = first_place_[at]; i < first_place_[at + 1]; ++i)
      std::copy_n(numbers_[i].begin() + static_cast<Index>(from), count,
                  block.begin() + static_cast<Index>((i - first_place_[at]) * count));
  });
}

void ResultMarginals::add_array(NpzWriter& archive, const std::string& name, Index outputs, Index part) {
  const Index rows = static_cast<Index>(first_place_.size()) - 1;
  archive.add(name, {rows, outputs, most_}, [this, part](Index row, std::span<double> block) {
    const auto at = static_cast<std::size_t>(row);
    const bool has_some = first_place_[at] < first_place_[at + 1];
    std::fill(block.begin(), block.end(), has_some ? 0.0 : kNoMarginal);
    for (std::size_t i = first_place_[at]; i < first_place_[at + 1]; ++i) {
      const Place& own = places_[i];
      const std::size_t start = (i - first_place_[at]) * static_cast<std::size_t>(most_);
      spill_.read(own.first + part * own.components,
                  block.subspan(start, static_cast<std::size_t>(own.components)));
    }
  });
}

}  // namespace mixcert::io
