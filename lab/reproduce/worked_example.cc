// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// example-method: the paper's worked example after its convergence theorem, number by number. Two layers of
// one neuron, Lipschitz constants 0.5 and 0.41, epsilon 0.2; variances and weights as printed there.
#include <fmt/format.h>

#include <cmath>

#include "quantize/signature.h"
#include "reproduce/experiment.h"

namespace mixcert::lab {
namespace {

constexpr double kEpsilon = 0.2;
constexpr double kFirst = 0.5;    // L_1
constexpr double kSecond = 0.41;  // L_2
constexpr double kVariance = 0.8;
constexpr double kCompression = 0.02;
constexpr double kWeights[] = {0.2, 0.6, 0.2};
constexpr double kVariances[] = {0.5, 0.2, 0.5};

using SquaredError = double (*)(Index);

double rate_condition(Index size) { return uniform_quantizer_rate(size); }
double uniform_grid(Index size) { return uniform_quantizer(size).distortion.nominal; }
double optimal_grid(Index size) { return optimal_quantizer(size).distortion.nominal; }

double first_layer(SquaredError error, Index size) { return std::sqrt(kVariance * error(size)); }

double second_layer(SquaredError error, const std::vector<Index>& sizes) {
  double square = 0.0;
  for (std::size_t i = 0; i < sizes.size(); ++i) square += kWeights[i] * kVariances[i] * error(sizes[i]);
  return std::sqrt(square);
}

/// The least size that meets the budget.
Index least_first(SquaredError error, double budget) {
  Index size = 1;
  while (first_layer(error, size) > budget) ++size;
  return size;
}

/// Sizes with the least sum that meet the budget, the outer two alike.
std::vector<Index> least_second(SquaredError error, double budget) {
  for (Index total = 3;; ++total) {
    std::vector<Index> best;
    double least = budget;
    for (Index outer = 1; 2 * outer < total; ++outer) {
      const std::vector<Index> sizes = {outer, total - 2 * outer, outer};
      if (const double e = second_layer(error, sizes); e <= least) {
        least = e;
        best = sizes;
      }
    }
    if (!best.empty()) return best;
  }
}

std::string sizes_text(const std::vector<Index>& sizes) {
  return fmt::format("({}, {}, {})", sizes[0], sizes[1], sizes[2]);
}

Plot example_plot(double budget) {
  Plot plot;
  plot.name = "example-method";
  plot.title = "First layer: signature error against N";
  plot.caption =
      "W2 of the signature of N(0, 0.8). The theorem asks for the dotted curve below the line at ε₁.";
  plot.x = {"locations N", false, 1.0, 20.0};
  plot.y = {"W2", true};
  PlotLine proven{"condition of the theorem", {}, {}, Colour::Grey, Dash::Dotted, true};
  PlotLine uniform{"uniform grid, exact", {}, {}, Colour::Purple, Dash::Dashed, true};
  PlotLine optimal{"optimal grid, exact", {}, {}, Colour::Blue, Dash::Solid, true};
  for (Index size = 1; size <= 20; ++size) {
    for (auto [line, error] :
         {std::pair(&proven, &rate_condition), {&uniform, &uniform_grid}, {&optimal, &optimal_grid}}) {
      line->x.push_back(static_cast<double>(size));
      line->y.push_back(first_layer(error, size));
    }
  }
  plot.lines = {
      proven, uniform, optimal, {"ε₁", {1.0, 20.0}, {budget, budget}, Colour::Ink, Dash::Solid, false}};
  return plot;
}

}  // namespace

Outcome example_method(const Context& context) {
  Outcome outcome;
  outcome.remarks = {
      "What follows from the example's numbers: ε₁, ε₂, and that a uniform grid of five points is within ε₁. "
      "What does "
      "not: that the theorem's condition holds at N = 5 and at (3, 4, 3), the error 0.23 of the optimal "
      "grid, that five "
      "points in all suffice for the second layer, and the final 0.12."};
  const double first_budget = kEpsilon / (2.0 * kFirst * kSecond);
  const double second_budget = kEpsilon / (2.0 * kSecond) - kCompression;
  ResultTable table{"example-method", "The worked example", {}, {}, {}};
  table.columns = {{"quantity", ColumnKind::Label},
                   {"printed", ColumnKind::Paper},
                   {"computed", ColumnKind::Number},
                   {"what it means", ColumnKind::Remark}};
  const auto add = [&](const std::string& what, ResultValue printed, ResultValue computed,
                       const std::string& words) {
    table.rows.push_back({{what, std::move(printed), std::move(computed), words},
                          {{context.command("example-method")}, "", "", context.options.seed}});
  };
  add("ε₁ = ε / (2 L₁ L₂)", 0.49, first_budget, "follows");
  add("condition at N = 5", 0.49, first_layer(rate_condition, 5), "not met: above ε₁");
  add("least N that meets it", 5.0, static_cast<double>(least_first(rate_condition, first_budget)),
      "uniform grid, by the theorem");
  add("uniform grid, N = 5, exact W2", std::monostate(), first_layer(uniform_grid, 5),
      "meets ε₁: the condition is conservative");
  add("optimal grid, N = 5, exact W2", 0.23, first_layer(optimal_grid, 5), "does not follow");
  add("ε₂ = ε / (2 L₂) - 0.02", 0.22, second_budget, "follows, rounded");
  add("condition at (3, 4, 3)", 0.22, second_layer(rate_condition, {3, 4, 3}), "not met: twice ε₂");
  const std::vector<Index> needed = least_second(rate_condition, second_budget);
  add("least sizes that meet it", std::string("(3, 4, 3)"), sizes_text(needed),
      "uniform grids, by the theorem");
  const std::vector<Index> exact = least_second(uniform_grid, second_budget);
  add("least sizes, uniform, exact W2", std::monostate(), sizes_text(exact),
      fmt::format("W2 {:.3f}", second_layer(uniform_grid, exact)));
  const std::vector<Index> optimal = least_second(optimal_grid, second_budget);
  add("least sizes, optimal grids", std::string("5 in all"), sizes_text(optimal),
      fmt::format("{} in all, W2 {:.3f}", optimal[0] + optimal[1] + optimal[2],
                  second_layer(optimal_grid, optimal)));
  add("final bound, N = 5 and these", 0.12,
      kFirst * kSecond * first_layer(optimal_grid, 5) +
          kSecond * (kCompression + second_layer(optimal_grid, optimal)),
      "L₁ L₂ e₁ + L₂ (0.02 + e₂)");
  outcome.tables.push_back(std::move(table));
  outcome.add(example_plot(first_budget));
  return outcome;
}

}  // namespace mixcert::lab
