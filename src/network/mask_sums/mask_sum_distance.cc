// Licensed under the Apache License, Version 2.0; see LICENSE.
#include "network/mask_sums/mask_sum_distance.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "core/elementary.h"
#include "mixcert/core/error.h"
#include "mixcert/core/option_table.h"
#include "mixcert/core/rounding.h"
#include "mixture/symmetric_eigen.h"
#include "network/mask_sums/mask_flow.h"
#include "network/mask_sums/pair_sums.h"

namespace mixcert {
namespace {

void check(const std::vector<MaskGroup>& masks, const Matrix& covariance) {
  const std::string where = "mask_sum_distance: ";
  require(covariance.rows() > 0 && covariance.rows() == covariance.cols() && covariance.allFinite(),
          where + "gaussian_covariance: expected a square matrix of finite numbers");
  for (const MaskGroup& group : masks) {
    require(group.rate > 0.0 && group.rate < 1.0,
            where + "rate: expected a number between 0 and 1, got " + format_number(group.rate));
    require(group.vectors.rows() == covariance.rows() && group.vectors.allFinite(),
            where + "vectors: expected a finite number for each output and mask");
  }
}

/// The lower triangle and its mirror image.
Matrix symmetric(const Matrix& lower) { return lower.selfadjointView<Eigen::Lower>(); }

/// No less than the largest sum of negative eigenvalues that a matrix may have which is proven to be
/// semidefinite up to rounding, by its own or by that of what made it; throws where neither is proven.
double negative_part(const Matrix& matrix) {
  if (matrix.isZero(0.0)) return 0.0;
  const auto m = static_cast<double>(matrix.rows());
  for (const double tolerance : {8.0 * m * (m + 4.0) * kUnitRoundoff, 1e-10}) {
    // Twice: the factorisation's own rounding is below the shift (M.4).
    if (is_semidefinite(matrix, tolerance)) return 2.0 * m * tolerance * matrix.diagonal().maxCoeff();
  }
  throw InvalidArgument("mask_sum_distance: gaussian_covariance: expected a positive semidefinite matrix");
}

/// The problem in units of about its largest entry, masks in the order of their sizes.
struct ScaledSum {
  int exponent = 0;  ///< of the unit, a power of two
  MaskVectors masks;
  std::vector<NoisyMaskTable> tables;
  Vector costs;  ///< |c_j|^2 times what coupling a standardised mask costs, no less
  Matrix noise;
  double negative = 0.0;     ///< no less than how far `noise` is from its positive part, in trace norm
  double noise_trace = 0.0;  ///< no less than that of the positive part
};

int unit_exponent(const std::vector<MaskGroup>& masks, const Matrix& covariance) {
  double largest = std::sqrt(symmetric(covariance).cwiseAbs().maxCoeff());
  for (const MaskGroup& group : masks) {
    if (group.vectors.size() > 0) largest = std::max(largest, group.vectors.cwiseAbs().maxCoeff());
  }
  int exponent = 0;
  std::frexp(largest, &exponent);
  return largest > 0.0 ? exponent : 0;
}

Matrix times_power_of_two(const Matrix& x, int exponent) {
  return x.unaryExpr([exponent](double entry) { return std::ldexp(entry, exponent); });
}

/// Masks that are kept less often than dropped are their mirror images: -Y has the rate 1-p, which is exact.
ScaledSum scaled_sum(const std::vector<MaskGroup>& groups, const Matrix& covariance) {
  ScaledSum sum;
  sum.exponent = unit_exponent(groups, covariance);
  sum.noise = times_power_of_two(symmetric(covariance), -2 * sum.exponent);
  sum.negative = negative_part(sum.noise);
  sum.noise_trace = enlarged(positive_part(sum.noise.trace()) + sum.negative);
  struct Entry {
    Vector vector;
    double size;
    Index law;
    double cost;
  };
  const Index m = covariance.rows();
  std::vector<Entry> entries;
  for (const MaskGroup& group : groups) {
    const bool mirrored = group.rate > 0.5;
    const double rate = mirrored ? 1.0 - group.rate : group.rate;
    const double cost = mask_coupling_cost(rate);
    const auto law = static_cast<Index>(sum.tables.size());
    sum.tables.emplace_back(rate);
    const Matrix scaled = times_power_of_two(group.vectors, -sum.exponent);
    for (Index j = 0; j < scaled.cols(); ++j) {
      const double size = scaled.col(j).squaredNorm();
      if (size > 1e-290) {
        entries.push_back({mirrored ? Vector(-scaled.col(j)) : Vector(scaled.col(j)), size, law, cost});
      }
    }
  }
  std::stable_sort(entries.begin(), entries.end(),
                   [](const Entry& a, const Entry& b) { return a.size < b.size; });
  const auto n = static_cast<Index>(entries.size());
  sum.masks.vectors.resize(m, n);
  sum.masks.squares.resize(n);
  sum.costs.resize(n);
  for (Index j = 0; j < n; ++j) {
    const Entry& entry = entries[static_cast<std::size_t>(j)];
    sum.masks.vectors.col(j) = entry.vector;
    sum.masks.squares(j) = entry.size;
    sum.masks.laws.push_back(entry.law);
    sum.costs(j) = enlarged(entry.size) * entry.cost;
  }
  return sum;
}

/// The sum of masks before `last` and the noise, as a stage that begins with mask `first`.
FlowStage stage(const ScaledSum& sum, Index first, Index last) {
  FlowStage made{first, last, sum.noise, {}, 0.0};
  const auto before = sum.masks.vectors.leftCols(first);
  const auto own = sum.masks.vectors.middleCols(first, last - first);
  made.noise += before * before.transpose();
  made.total = made.noise + own * own.transpose();
  made.error = enlarged(rounding_gamma(sum.masks.vectors.cols() + 8) *
                        enlarged(sum.noise.norm() + sum.masks.squares.head(last).sum()));
  return made;
}

/// Ends of possible stages: 0, the candidates, all.
std::vector<Index> possible_cuts(const ScaledSum& sum, const std::vector<double>& shares) {
  const Index n = sum.masks.squares.size();
  const double total = sum.masks.squares.sum();
  std::vector<Index> cuts{0, n};
  for (const double share : shares) {
    Index cut = 0;
    double before = 0.0;
    for (; cut < n && before + sum.masks.squares(cut) < share * total; ++cut) {
      before += sum.masks.squares(cut);
    }
    cuts.push_back(cut);
  }
  std::sort(cuts.begin(), cuts.end());
  cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
  return cuts;
}

/// What is known of the masks before a cut.
struct Reached {
  double distance = std::numeric_limits<double>::infinity();
  int flows = 0, couplings = 0;  ///< stages of each kind
};

std::string name_of(const Reached& reached) {
  if (reached.flows == 0) return "masks one by one (D.2)";
  if (reached.flows == 1 && reached.couplings == 0) return "jump and flow (D.12)";
  return "chain of " + std::to_string(reached.flows + reached.couplings) + " stages (D.13)";
}

/// Times that every flow looks at (mask_flow.cc).
constexpr Index kFewestNodes = 8;

/// What of the settings is affordable for n masks; nothing where not even the fewest nodes are.
std::optional<MaskSumSettings> affordable(MaskSumSettings settings, Index n, Index outputs) {
  const double one = pair_operations(n, outputs);
  const auto cuts = static_cast<double>(settings.cuts.size());
  const auto nodes = static_cast<double>(std::max(settings.nodes, kFewestNodes));
  // Stages between any two cuts, each with half of the masks: cuts are worth more than the second half of the
  // nodes.
  const double chain = one * nodes * std::max(1.0, 0.25 * (cuts + 1.0) * (cuts + 2.0));
  if (0.5 * chain > settings.most_operations) {
    settings.cuts.clear();
  } else if (chain > settings.most_operations) {
    settings.nodes = std::max(settings.nodes / 2, kFewestNodes);
  }
  if (one * static_cast<double>(settings.nodes) > settings.most_operations) settings.nodes = kFewestNodes;
  if (one * static_cast<double>(kFewestNodes) > settings.most_operations) return std::nullopt;
  return settings;
}

/// (D.13): the best way through possible stages, each by a flow or mask by mask, behind an error `before` of
/// the noise (D.16).
Reached chain(ScaledSum& sum, const MaskSumSettings& settings, double before_all) {
  const std::vector<Index> cuts = possible_cuts(sum, settings.cuts);
  std::vector<Reached> reached(cuts.size());
  reached[0].distance = before_all;
  const MaskFlow flow(sum.masks, sum.tables, settings.threads);
  for (std::size_t to = 1; to < cuts.size(); ++to) {
    for (std::size_t from = 0; from < to; ++from) {
      const Index count = cuts[to] - cuts[from];
      const Reached& before = reached[from];
      const auto consider = [&](double squared, int flows, int couplings) {
        const double distance = enlarged(std::sqrt(enlarged(squared)));
        if (distance < reached[to].distance) {
          reached[to] = {distance, before.flows + flows, before.couplings + couplings};
        }
      };
      consider(square(before.distance) + sum.costs.segment(cuts[from], count).sum(), 0, 1);
      const double trace = enlarged(sum.noise_trace + enlarged(sum.masks.squares.head(cuts[to]).sum()));
      for (const FlowNode& node : flow.nodes(stage(sum, cuts[from], cuts[to]), settings.nodes)) {
        consider(jump_and_flow(node, before.distance, trace), 1, 0);
      }
    }
  }
  return reached.back();
}

/// Adds noise where the covariance is too nearly singular for rounding, and returns what that costs: N(0, eta
/// I) moves the sum and its Gaussian by (m eta)^{1/2} each.
double regularise(ScaledSum& sum) {
  const Index outputs = sum.noise.rows(), n = sum.masks.vectors.cols();
  const FlowStage whole = stage(sum, 0, n);
  const double size = whole.total.trace(), m = static_cast<double>(outputs);
  const double eta = kUnitRoundoff * m * static_cast<double>(80 * outputs + 40 * n) * size;
  if (symmetric_eigen(whole.total).values(0) > eta) return 0.0;
  sum.noise.diagonal().array() += eta;
  const double added = m * (eta + 4 * kUnitRoundoff * size);
  sum.noise_trace = enlarged(sum.noise_trace + added);
  return enlarged(2.0 * std::sqrt(added));
}

}  // namespace

MaskSumBound mask_sum_distance(const std::vector<MaskGroup>& masks, const Matrix& gaussian_covariance,
                               const MaskSumSettings& settings) {
  check(masks, gaussian_covariance);
  ScaledSum sum = scaled_sum(masks, gaussian_covariance);
  require(settings.before >= 0.0 && std::isfinite(settings.before),
          "mask_sum_distance: before: expected a finite number >= 0, got " + format_number(settings.before));
  const double before = next_up(std::ldexp(settings.before, -sum.exponent));
  Reached best{enlarged(std::sqrt(enlarged(sum.costs.sum() + square(before)))), 0, 1};
  const double coupled = best.distance;
  const auto used = affordable(settings, sum.costs.size(), gaussian_covariance.rows());
  if (sum.costs.size() > 0 && used) {
    const double moved = regularise(sum);
    Reached found = chain(sum, *used, before);
    found.distance = enlarged(found.distance + moved);
    if (found.distance < best.distance) best = found;
  }
  // Vectors below 1e-145 of the unit, which were left out, and digits lost below 2^-1022 in units.
  double lost = 1e-140;
  for (const MaskGroup& group : masks) lost += 1e-144 * static_cast<double>(group.vectors.cols());
  const auto in_units = [&](double x) { return next_up(std::ldexp(next_up(x + lost), sum.exponent)); };
  return {in_units(best.distance), name_of(best), in_units(coupled)};
}

double stored_covariance_cost(const std::vector<MaskGroup>& masks, const Matrix& gaussian_covariance,
                              const Matrix& stored) {
  check(masks, gaussian_covariance);
  require(stored.rows() == gaussian_covariance.rows() && stored.cols() == stored.rows() && stored.allFinite(),
          "stored_covariance_cost: stored: expected a finite matrix of the size of gaussian_covariance");
  const ScaledSum sum = scaled_sum(masks, gaussian_covariance);
  const FlowStage whole = stage(sum, 0, sum.masks.vectors.cols());
  const Matrix given = times_power_of_two(symmetric(stored), -2 * sum.exponent);
  const double m = static_cast<double>(given.rows());
  // Powers and Stormer; twice the distance where `stored` is not semidefinite and its positive part is meant.
  const double difference = enlarged((given - whole.total).norm()) + whole.error + sum.negative + 1e-250;
  return next_up(std::ldexp(enlarged(std::sqrt(enlarged(2.0 * std::sqrt(m) * difference))), sum.exponent));
}

}  // namespace mixcert
