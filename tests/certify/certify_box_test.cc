// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Boxes of inputs in cells (M.11): cells cover the box, each holds at its inputs, and the number of cells,
// epsilon and what is refused.
#include "mixcert/certify/certify_box.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <limits>
#include <thread>
#include <vector>

#include "certify/box_property.h"
#include "mixcert/certify/certify.h"
#include "mixcert/core/error.h"
#include "support/random_network.h"

namespace mixcert::testing {
namespace certify_box_test {

Options with_cells(Index cells) {
  Options options;
  options.max_cells = cells;
  options.threads = 1;
  return options;
}

double largest_bound(const InputCover& cover) {
  double largest = 0.0;
  for (const Result& cell : cover.results) largest = std::max(largest, cell.w2.value);
  return largest;
}

TEST(CertifyBox, CellsCoverAndHold) { check_boxes(24, 40, 60); }

TEST(CertifyBox, MoreCellsAreCloser) {
  const Network network = random_network({});
  double last = std::numeric_limits<double>::infinity();
  for (const Index cells : {1, 4, 16, 64, 256}) {
    const InputCover cover = certify_box(Ensemble(network), cube(2, -1.0, 1.0), with_cells(cells));
    EXPECT_EQ(static_cast<Index>(cover.results.size()), cells);
    EXPECT_LT(largest_bound(cover), last);
    last = largest_bound(cover);
  }
}

TEST(CertifyBox, OneCellIsTheBallAroundItsCentre) {
  const Network network = random_network({});
  const InputCover cover = certify_box(Ensemble(network), cube(2, -0.5, 0.5), with_cells(1));
  Options ball = at_points();
  ball.radius = 0.5;
  const Result same = certify(network, Matrix::Zero(2, 1), ball).front();
  const Result& cell = cover.results.front();
  EXPECT_NEAR(cell.w2.value, same.w2.value, 1e-12 * same.w2.value);
  EXPECT_NEAR(cell.input_change, same.input_change, 1e-12 * same.input_change);
  EXPECT_EQ(cover.certificates, 1);
}

/// Cancelled after any number of rounds, what is there covers the box with the bounds that fewer cells give.
TEST(CertifyBox, CoversWhereItIsCancelled) {
  const Network network = random_network({});
  CancelFlag cancel{true};
  Services services;
  services.cancel = &cancel;
  EXPECT_THROW((void)certify_box(Ensemble(network), cube(2, -1.0, 1.0), with_cells(64), services),
               Interrupted);
  for (const Index enough : {1, 2, 7, 30}) {
    cancel.store(false);
    Index seen = 0;
    const InputCover cover =
        certify_box(Ensemble(network), cube(2, -1.0, 1.0), with_cells(64), services, [&](Index cells) {
          seen = cells;
          if (cells >= enough) cancel.store(true);
        });
    EXPECT_TRUE(cover.is_interrupted);
    EXPECT_EQ(static_cast<Index>(cover.results.size()), seen);
    double area = 0.0;
    for (const Result& cell : cover.results) {
      EXPECT_TRUE(std::isfinite(cell.w2.value));
      area += (cell.cell->upper - cell.cell->lower).prod();
    }
    EXPECT_NEAR(area, 4.0, 1e-12);
  }
}

/// Cancelled between the inputs of a round, halves that are done stay where both are.
TEST(CertifyBox, KeepsHalvesThatAreDone) {
  const Network network = random_network({});
  CancelFlag cancel{false};
  Services services;
  services.cancel = &cancel;
  int covers = 0;
  for (int milliseconds = 0; covers < 10 && milliseconds < 2000; milliseconds += 2) {
    cancel.store(false);
    std::jthread stopper([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
      cancel.store(true);
    });
    try {
      const InputCover cover = certify_box(Ensemble(network), cube(2, -1.0, 1.0), with_cells(4000), services);
      double area = 0.0;
      for (const Result& cell : cover.results) {
        EXPECT_GT(cell.mixture.size(), 0);
        area += (cell.cell->upper - cell.cell->lower).prod();
      }
      EXPECT_NEAR(area, 4.0, 1e-12);
      EXPECT_EQ(cover.centres.cols(), static_cast<Index>(cover.results.size()));
      ++covers;
    } catch (const Interrupted&) {
      continue;  // before the first cell
    }
  }
  EXPECT_EQ(covers, 10);
}

TEST(CertifyBox, EndsWhereEpsilonIsReached) {
  const Network network = random_network({});
  Options options = with_cells(5000);
  options.epsilon = 0.6;
  const InputCover reached = certify_box(Ensemble(network), cube(2, -0.2, 0.2), options);
  EXPECT_LT(reached.results.size(), 5000U);
  for (const Result& cell : reached.results) {
    EXPECT_LE(cell.w2.value, 0.6);
    EXPECT_EQ(cell.termination, Termination::EpsilonReached);
  }
  options.epsilon = 1e-9;  // the bounds at points are larger
  options.max_cells = 20;
  const InputCover spent = certify_box(Ensemble(network), cube(2, -0.2, 0.2), options);
  EXPECT_EQ(spent.results.size(), 20U);
  EXPECT_EQ(spent.results.front().termination, Termination::BudgetSpent);
}

TEST(CertifyBox, SplitsNothingThatGainsNothing) {
  const Network network = random_network({});
  const InputBox point = cube(2, 0.25, 0.25);
  const InputCover cover = certify_box(Ensemble(network), point, with_cells(100));
  EXPECT_EQ(cover.results.size(), 1U);
  EXPECT_LT(cover.results.front().input_change, 1e-150);
  // Features whose ends agree stay whole, and two numbers with none between them have no halves.
  const InputBox line{Vector{{-1.0, 0.5}}, Vector{{1.0, 0.5}}};
  for (const Result& cell : certify_box(Ensemble(network), line, with_cells(30)).results)
    EXPECT_EQ(cell.cell->lower(1), 0.5);
  const InputBox neighbours{Vector{{1.0, 1.0}}, Vector{{next_up(1.0), next_up(1.0)}}};
  EXPECT_EQ(certify_box(Ensemble(network), neighbours, with_cells(30)).results.size(), 1U);
}

TEST(CertifyBox, DoesNotDependOnThreads) {
  const Network network = random_network({});
  Options options = with_cells(100);
  const InputCover one = certify_box(Ensemble(network), cube(2, -1.0, 1.0), options);
  options.threads = 3;
  const InputCover three = certify_box(Ensemble(network), cube(2, -1.0, 1.0), options);
  ASSERT_EQ(one.results.size(), three.results.size());
  EXPECT_EQ(one.centres, three.centres);
  for (std::size_t i = 0; i < one.results.size(); ++i) {
    EXPECT_EQ(one.results[i].w2.value, three.results[i].w2.value);
    EXPECT_EQ(one.results[i].input, static_cast<Index>(i));
  }
}

TEST(CertifyBox, OfEnsemblesAndOfHugeNumbers) {
  NetworkRecipe recipe;
  const Network one = random_network(recipe);
  recipe.seed = 1;
  const Ensemble both({one, random_network(recipe)}, Vector{{0.25, 0.75}});
  const InputCover cover = certify_box(both, cube(2, -0.1, 0.1), with_cells(10));
  const Result corner = certify(both, Vector{{0.1, -0.1}}, at_points()).front();
  for (const Result& cell : cover.results) {
    if (!contains(*cell.cell, Vector{{0.1, -0.1}})) continue;
    EXPECT_LE(least_distance(corner.mixture, cell.mixture) - corner.w2.value, cell.w2.value);
  }
  const InputCover wide = certify_box(Ensemble(one), cube(2, -1e10, 1e10), with_cells(5));
  EXPECT_EQ(wide.results.size(), 5U);
}

TEST(CertifyBox, RefusesWhatIsNoBoxOrAboutOneInput) {
  const Ensemble network(random_network({}));
  const auto refuse = [&](const InputBox& box, const Options& options) {
    EXPECT_THROW((void)certify_box(network, box, options), InvalidArgument);
  };
  refuse(cube(3, -1.0, 1.0), at_points());
  refuse(cube(2, 1.0, -1.0), at_points());
  refuse(cube(2, -1.0, std::numeric_limits<double>::infinity()), at_points());
  refuse(cube(2, std::numeric_limits<double>::quiet_NaN(), 1.0), at_points());
  const std::vector<std::function<void(Options&)>> changes = {
      [](Options& o) { o.joint = true; },
      [](Options& o) { o.simulate = true; },
      [](Options& o) { o.statistics = 100; },
      [](Options& o) { o.method = Method::Cross; },
      [](Options& o) { o.method = Method::Coupled; },
      [](Options& o) { o.radius = 1.0; },
      [](Options& o) { o.predictive = Predictive::Glm; }};
  for (const auto& change : changes) {
    Options options = at_points();
    change(options);
    refuse(cube(2, -1.0, 1.0), options);
  }
}

}  // namespace certify_box_test
}  // namespace mixcert::testing
