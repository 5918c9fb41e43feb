// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// A box of inputs, split where its bounds are largest: certificates at the centres of cells, widened to the
// cells (M.11).
#include "mixcert/certify/certify_box.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <optional>
#include <utility>

#include "certify/certifier.h"
#include "certify/input_change.h"
#include "certify/method_choice.h"
#include "mixcert/certify/certify.h"
#include "mixcert/core/error.h"
#include "mixcert/core/option_table.h"
#include "network/ordinary_scale.h"

namespace mixcert {
namespace {

/// Cells whose bound exceeds this share of the largest one are split together: halves of the others' bounds
/// would not be seen among theirs.
constexpr double kNearLargest = 0.7;
/// Splitting takes away a part of input_change and no more: where that is a smaller share of the bound, the
/// certificate at the centre is what is large.
constexpr double kWorthSplitting = 0.05;

void check_box(const InputBox& box, Index features) {
  require(box.lower.size() == features && box.upper.size() == features,
          "box: expected two ends of " + std::to_string(features) + " features, as the network takes, got " +
              std::to_string(box.lower.size()) + " and " + std::to_string(box.upper.size()));
  for (Index i = 0; i < features; ++i) {
    require(std::isfinite(box.lower(i)) && std::isfinite(box.upper(i)) && box.lower(i) <= box.upper(i),
            "box: expected finite ends, the lower one first, got " + format_number(box.lower(i)) + " and " +
                format_number(box.upper(i)) + " for feature " + std::to_string(i));
  }
}

/// A box has no law of its own: what is about one law, or is asked of its draws, is refused.
void refuse_what_is_about_one_input(const Options& options) {
  const char* const refused = options.joint                               ? "option --joint"
                              : options.simulate                          ? "option --simulate"
                              : options.statistics > 0                    ? "option --statistics"
                              : options.radius                            ? "option --radius"
                              : options.method == Method::Cross           ? "method cross"
                              : options.method == Method::Coupled         ? "method coupled"
                              : options.predictive != Predictive::Network ? "predictive glm"
                                                                          : nullptr;
  if (refused == nullptr) return;
  throw InvalidArgument(
      "a box of inputs: expected bounds at single inputs, which are then made to hold in its "
      "cells, got " +
      std::string(refused));
}

/// What certify() is asked at the centres of cells.
Options options_at_centres(const Options& options) {
  Options own = options;
  own.epsilon.reset();
  own.max_cells = Options().max_cells;
  return own;
}

Vector centre_of(const InputBox& cell) { return 0.5 * cell.lower + 0.5 * cell.upper; }

/// From the centre as it was rounded to the farther end.
Vector half_widths_of(const InputBox& cell, const Vector& centre) {
  const Vector farther = (cell.upper - centre).cwiseMax(centre - cell.lower);
  return farther.unaryExpr([](double width) { return width > 0.0 ? next_up(width) : 0.0; });
}

/// Both halves along a feature; they meet in one number, so that no input is left out.
std::pair<InputBox, InputBox> halves(const InputBox& cell, Index feature) {
  std::pair<InputBox, InputBox> both{cell, cell};
  const double middle = 0.5 * cell.lower(feature) + 0.5 * cell.upper(feature);
  both.first.upper(feature) = middle;
  both.second.lower(feature) = middle;
  return both;
}

bool can_be_halved(const InputBox& cell, Index feature) {
  const double middle = 0.5 * cell.lower(feature) + 0.5 * cell.upper(feature);
  return cell.lower(feature) < middle && middle < cell.upper(feature);
}

bool can_be_halved(const InputBox& cell) {
  for (Index i = 0; i < cell.lower.size(); ++i) {
    if (can_be_halved(cell, i)) return true;
  }
  return false;
}

bool is_certified(const Result& cell) { return cell.mixture.size() > 0; }

class Refinement {
 public:
  Refinement(const Ensemble& ensemble, const Options& options, const Services& services)
      : ensemble_(ensemble),
        at_centres_(options_at_centres(options)),
        services_(services),
        wanted_(options.epsilon.value_or(0.0)),
        most_(options.max_cells),
        change_(ensemble, at_centres_, services.cancel) {}

  /// Certifies the cells that have no result yet; those done stay where it throws.
  void certify_new(std::vector<Result>& cells) {
    std::vector<std::size_t> fresh;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (!is_certified(cells[i])) fresh.push_back(i);
    }
    Matrix centres(ensemble_.inputs(), static_cast<Index>(fresh.size()));
    for (std::size_t i = 0; i < fresh.size(); ++i)
      centres.col(static_cast<Index>(i)) = centre_of(*cells[fresh[i]].cell);
    certify(
        ensemble_, centres, at_centres_,
        [&](Result&& made) {
          Result& cell = cells[fresh[static_cast<std::size_t>(made.input)]];
          made.cell = std::move(cell.cell);
          const Vector centre = centre_of(*made.cell);
          widen(change_.in_box(centre, half_widths_of(*made.cell, centre)), made);
          cell = std::move(made);
          ++certificates_;
        },
        services_);
  }

  /// The same cells with those split whose bounds are the largest; false where none is worth it.
  bool split_largest(std::vector<Result>& cells) {
    std::vector<std::optional<Index>> features(cells.size());
    for (const std::size_t i : chosen(cells)) features[i] = best_feature(*cells[i].cell);
    std::vector<Result> next;
    splits_.clear();
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (!features[i]) {
        next.push_back(std::move(cells[i]));
        continue;
      }
      splits_.push_back({next.size(), std::move(cells[i])});
      for (InputBox& half : both_of(halves(*splits_.back().whole.cell, *features[i]))) {
        next.emplace_back();
        next.back().cell = std::move(half);
      }
    }
    const bool is_split = next.size() > cells.size();
    cells = std::move(next);
    return is_split;
  }

  /// Takes the last splits back of which a half has no result: all cells are certified again, unless none
  /// ever was.
  void take_back(std::vector<Result>& cells) {
    std::vector<Result> kept;
    std::size_t next = 0;
    const auto keep_until = [&](std::size_t end) {
      while (next < end) kept.push_back(std::move(cells[next++]));
    };
    for (Split& split : splits_) {
      keep_until(split.first_half);
      if (is_certified(cells[next]) && is_certified(cells[next + 1])) continue;
      kept.push_back(std::move(split.whole));
      next += 2;
    }
    keep_until(cells.size());
    cells = std::move(kept);
  }

  [[nodiscard]] Index certificates() const { return certificates_; }

 private:
  /// A cell that was split, and where the first of its halves is.
  struct Split {
    std::size_t first_half;
    Result whole;
  };

  static std::array<InputBox, 2> both_of(std::pair<InputBox, InputBox> pair) {
    return {std::move(pair.first), std::move(pair.second)};
  }

  [[nodiscard]] bool is_worth_splitting(const Result& cell) const {
    return cell.w2.value > wanted_ && cell.input_change > kWorthSplitting * cell.w2.value &&
           can_be_halved(*cell.cell);
  }

  /// Those that are split next, as many as there is room for; of equal ones the first.
  [[nodiscard]] std::vector<std::size_t> chosen(const std::vector<Result>& cells) const {
    std::vector<std::size_t> all;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (is_worth_splitting(cells[i])) all.push_back(i);
    }
    std::stable_sort(all.begin(), all.end(),
                     [&](std::size_t a, std::size_t b) { return cells[a].w2.value > cells[b].w2.value; });
    const auto room = static_cast<std::size_t>(most_) - cells.size();
    std::size_t count = 0;
    while (count < std::min(all.size(), room) &&
           cells[all[count]].w2.value > kNearLargest * cells[all.front()].w2.value) {
      ++count;
    }
    all.resize(count);
    return all;
  }

  /// The feature whose halving leaves the least change; nothing where none can be halved.
  [[nodiscard]] std::optional<Index> best_feature(const InputBox& cell) const {
    std::optional<Index> best;
    double least = 0.0;
    for (Index i = 0; i < cell.lower.size(); ++i) {
      if (!can_be_halved(cell, i)) continue;
      const InputBox half = halves(cell, i).first;
      const Vector centre = centre_of(half);
      const double change = change_.in_box_at_a_glance(centre, half_widths_of(half, centre)).upper;
      if (best && !(change < least)) continue;
      best = i;
      least = change;
    }
    return best;
  }

  const Ensemble& ensemble_;
  const Options at_centres_;
  const Services& services_;
  const double wanted_;
  const Index most_;
  const InputChange change_;
  std::vector<Split> splits_;  ///< the last ones
  Index certificates_ = 0;
};

/// Numbers the cells and says how each ended.
void finish(const Options& options, InputCover& cover) {
  const auto shared = std::make_shared<const Options>(options);
  std::vector<Result>& cells = cover.results;
  const auto count = static_cast<Index>(cells.size());
  for (Index i = 0; i < count; ++i) {
    Result& cell = cells[static_cast<std::size_t>(i)];
    cell.input = i;
    cell.options = shared;
    if (!options.epsilon) continue;
    const bool is_reached = cell.w2.value <= *options.epsilon;
    cell.termination = is_reached ? Termination::EpsilonReached : Termination::BudgetSpent;
    cell.reason = is_reached                   ? "the bound of the cell is at most epsilon"
                  : cover.is_interrupted       ? "the work was interrupted"
                  : count >= options.max_cells ? "there are max_cells cells"
                                               : "halves of the cell would gain next to nothing";
  }
}

}  // namespace

InputCover certify_box(const Ensemble& ensemble, const InputBox& box, const Options& options,
                       const Services& services, const CellProgress& progress) {
  check_box(box, ensemble.inputs());
  refuse_what_is_about_one_input(options);
  options.validate();
  const std::optional<Ensemble> rescaled =
      with_ordinary_sizes(ensemble, [&](const Network& one) { return stays_graph(one, options); });
  const Ensemble& ordinary = rescaled ? *rescaled : ensemble;
  // For its refusals, which say more than those of norms.
  (void)member_certifiers(ordinary, options_at_centres(options), services);
  Refinement refinement(ordinary, options, services);
  InputCover cover;
  cover.results.emplace_back();
  cover.results.back().cell = box;
  try {
    do {
      refinement.certify_new(cover.results);
      if (progress) progress(static_cast<Index>(cover.results.size()));
    } while (refinement.split_largest(cover.results));
  } catch (const Interrupted&) {
    refinement.take_back(cover.results);
    if (!is_certified(cover.results.front())) throw;
    cover.is_interrupted = true;
  }
  finish(options, cover);
  cover.certificates = refinement.certificates();
  cover.centres.resize(ensemble.inputs(), static_cast<Index>(cover.results.size()));
  for (std::size_t i = 0; i < cover.results.size(); ++i)
    cover.centres.col(static_cast<Index>(i)) = centre_of(*cover.results[i].cell);
  return cover;
}

}  // namespace mixcert
