// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Statements, and their probabilities (U.6).
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "answer/dual_bounds.h"
#include "mixcert/answer/answers.h"
#include "mixcert/answer/statement.h"
#include "mixcert/core/error.h"
#include "mixcert/core/option_table.h"
#include "mixcert/core/rounding.h"

namespace mixcert {
namespace {

// Rows are divided by their norms.
constexpr double kSmallest = 1e-100;
constexpr double kLargest = 1e100;

}  // namespace

void Statement::validate(Index dimension) const {
  require(rows.rows() > 0 && thresholds.size() == rows.rows(),
          "statement: expected one threshold per half-space and at least one, got " +
              std::to_string(rows.rows()) + " rows and " + std::to_string(thresholds.size()) + " thresholds");
  require(rows.cols() == dimension, "statement: expected rows of " + std::to_string(dimension) +
                                        " entries, got " + std::to_string(rows.cols()));
  require(rows.allFinite() && thresholds.allFinite(), "statement: expected finite numbers");
  for (Index j = 0; j < rows.rows(); ++j) {
    const double largest = rows.row(j).cwiseAbs().maxCoeff();
    require(largest >= kSmallest && largest <= kLargest,
            "statement: expected coefficients of which the largest is in 1e-100..1e100, got " +
                format_number(largest) + " in row " + std::to_string(j));
  }
}

Statement class_statement(Index dimension, Index first, Index classes, Index winner) {
  require(first >= 0 && classes >= 2 && first + classes <= dimension,
          "classes: expected at least two within " + std::to_string(dimension) + " outputs, got " +
              std::to_string(classes) + " from " + std::to_string(first));
  require(winner >= 0 && winner < classes,
          "class: expected 0.." + std::to_string(classes - 1) + ", got " + std::to_string(winner));
  Statement statement{Matrix::Zero(classes - 1, dimension), Vector::Zero(classes - 1)};
  for (Index j = 0; j + 1 < classes; ++j) {
    statement.rows(j, first + winner) = 1.0;
    statement.rows(j, first + (j < winner ? j : j + 1)) = -1.0;
  }
  return statement;
}

// Rows in one direction and against it are slabs of one line, answered in closed form; several slabs together
// by Frechet's bounds, and by the dual bound integrated over samples of the mixture.

namespace {

constexpr Index kFewestSamples = 100;
constexpr Index kMostStatementSamples = 1000000000;

/// lower < direction'y < upper.
struct Slab {
  Vector direction;
  double lower = -kInfinity;
  double upper = kInfinity;
};

std::vector<Slab> slabs_of(const Statement& statement) {
  std::vector<Slab> slabs;
  for (Index j = 0; j < statement.rows.rows(); ++j) {
    const Vector row = statement.rows.row(j);
    const double threshold = statement.thresholds(j);
    const auto same = std::find_if(slabs.begin(), slabs.end(), [&](const Slab& slab) {
      return slab.direction == row || slab.direction == -row;
    });
    if (same == slabs.end()) {
      slabs.push_back({row, threshold, kInfinity});
    } else if (same->direction == row) {
      same->lower = std::max(same->lower, threshold);
    } else {
      same->upper = std::min(same->upper, -threshold);
    }
  }
  return slabs;
}

/// P(all) <= min_j P_j and P(all) >= 1 - sum_j (1 - P_j).
ProbabilityAnswer all_slabs(const CertifiedLaw& law, const std::vector<Slab>& slabs) {
  ProbabilityAnswer all{{0.0, 0.0, 1.0}};
  double missing = 0.0;
  for (const Slab& slab : slabs) {
    const ProbabilityAnswer one = probability_between(project(law, slab.direction), slab.lower, slab.upper);
    if (slabs.size() == 1) return one;
    if (one.interval.upper < all.interval.upper) {
      all.interval.upper = one.interval.upper;
      all.upper_width = one.upper_width;
    }
    missing = next_up(missing + next_up(1.0 - one.interval.lower));
  }
  all.interval.lower = positive_part(next_down(1.0 - missing));
  all.interval.estimate = 0.5 * (all.interval.lower + all.interval.upper);
  return all;
}

/// Both hold: the better of the ends. What samples cannot improve does not carry their failure probability.
ProbabilityAnswer intersection(const ProbabilityAnswer& exact, const ProbabilityAnswer& sampled) {
  ProbabilityAnswer both = exact;
  both.interval.estimate = sampled.interval.estimate;
  if (sampled.interval.lower > exact.interval.lower) {
    both.interval.lower = sampled.interval.lower;
    both.lower_width = sampled.lower_width;
    both.failure_probability = sampled.failure_probability;
  }
  if (sampled.interval.upper < exact.interval.upper) {
    both.interval.upper = sampled.interval.upper;
    both.upper_width = sampled.upper_width;
    both.failure_probability = sampled.failure_probability;
  }
  return both;
}

/// Only one class can exceed all others: P_c <= 1 - sum of the lower ends of the others.
void use_disjointness(std::vector<ProbabilityAnswer>& classes) {
  std::vector<double> lower;
  double failure = 0.0;
  for (const ProbabilityAnswer& one : classes) {
    lower.push_back(one.interval.lower);
    failure = larger_or_nan(failure, one.failure_probability);
  }
  for (std::size_t c = 0; c < classes.size(); ++c) {
    double others = 0.0;
    for (std::size_t j = 0; j < lower.size(); ++j) {
      if (j != c && lower[j] > 0.0) others = next_down(others + lower[j]);
    }
    const double rest = next_up(1.0 - others);
    if (rest >= classes[c].interval.upper) continue;
    classes[c].interval.upper = std::max(rest, classes[c].interval.lower);
    classes[c].failure_probability = failure;
  }
}

void check_options(const IntegrationOptions& options) {
  require(options.samples >= kFewestSamples && options.samples <= kMostStatementSamples,
          "samples: expected " + std::to_string(kFewestSamples) + ".." +
              std::to_string(kMostStatementSamples) + ", got " + std::to_string(options.samples));
  require(
      options.failure_probability > 0.0 && options.failure_probability < 1.0,
      "failure_probability: expected a number in (0,1), got " + std::to_string(options.failure_probability));
}

}  // namespace

ProbabilityAnswer probability(const CertifiedLaw& law, const Statement& statement,
                              const IntegrationOptions& options) {
  statement.validate(law.dimension());
  check_options(options);
  const std::vector<Slab> slabs = slabs_of(statement);
  for (const Slab& slab : slabs) {
    if (slab.lower > slab.upper) return {{0.0, 0.0, 0.0}};
  }
  const ProbabilityAnswer exact = all_slabs(law, slabs);
  // No interval from samples is narrower than this (U.10).
  const double narrowest = std::log(8.0 / options.failure_probability) / static_cast<double>(options.samples);
  if (slabs.size() == 1 || exact.interval.width() <= narrowest) return exact;
  return intersection(exact, sampled_probability(law, statement, options));
}

MostLikelyClass most_likely_class(const CertifiedLaw& law, Index first, Index classes,
                                  const IntegrationOptions& options) {
  MostLikelyClass answer;
  IntegrationOptions each = options;
  each.failure_probability = options.failure_probability / static_cast<double>(std::max<Index>(1, classes));
  for (Index c = 0; c < classes; ++c) {
    answer.probabilities.push_back(
        probability(law, class_statement(law.dimension(), first, classes, c), each));
    ProbabilityAnswer& last = answer.probabilities.back();
    if (last.failure_probability > 0.0) last.failure_probability = options.failure_probability;
    const ProbabilityAnswer& best = answer.probabilities[static_cast<std::size_t>(answer.predicted)];
    if (last.interval.estimate > best.interval.estimate) answer.predicted = c;
  }
  use_disjointness(answer.probabilities);
  answer.settled = true;
  const auto winner = static_cast<std::size_t>(answer.predicted);
  for (std::size_t c = 0; c < answer.probabilities.size(); ++c) {
    const double rival = answer.probabilities[c].interval.upper;
    if (c != winner && !(answer.probabilities[winner].interval.lower > rival)) answer.settled = false;
  }
  return answer;
}

}  // namespace mixcert
