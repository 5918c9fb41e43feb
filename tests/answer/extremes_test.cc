// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Least and largest values over cells (U.22).
#include "mixcert/answer/extremes.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "mixcert/core/error.h"
#include "mixcert/core/rng.h"

namespace mixcert::testing {
namespace extremes_test {

TEST(Extremes, AreThoseOfTheEnds) {
  // Cell 1 may have the least value, but cell 0 is sure to have one no larger than 2.
  const Extremes found = extremes("a", {{1.5, 1.0, 2.0}, {2.5, 0.0, 5.0}, {3.0, 2.5, 4.0}});
  EXPECT_EQ(found.name, "a");
  EXPECT_EQ(found.least.lower, 0.0);
  EXPECT_EQ(found.least.upper, 2.0);
  EXPECT_EQ(found.least.estimate, 1.5);
  EXPECT_EQ(found.least_cell, 1);
  EXPECT_EQ(found.greatest.lower, 2.5);
  EXPECT_EQ(found.greatest.upper, 5.0);
  EXPECT_EQ(found.greatest.estimate, 3.0);
  EXPECT_EQ(found.greatest_cell, 1);
}

/// Values that lie in the ranges: their least and their largest lie in what is said.
TEST(Extremes, HoldForValuesInTheRanges) {
  Generator generator = make_generator(3, Stream::Example);
  for (int trial = 0; trial < 200; ++trial) {
    std::vector<Interval> cells;
    double least = kInfinity, largest = -kInfinity;
    for (int i = 0; i < 6; ++i) {
      const double value = 4.0 * uniform(generator) - 2.0;
      cells.push_back({value, value - uniform(generator), value + uniform(generator)});
      least = std::min(least, value);
      largest = std::max(largest, value);
    }
    const Extremes found = extremes("", cells);
    EXPECT_TRUE(found.least.contains(least) && found.greatest.contains(largest));
    EXPECT_EQ(found.least.lower, cells[static_cast<std::size_t>(found.least_cell)].lower);
    EXPECT_EQ(found.greatest.upper, cells[static_cast<std::size_t>(found.greatest_cell)].upper);
  }
}

TEST(Extremes, OfAllQuestionsInOrder) {
  LawAnswers cell;
  cell.moments.means = {{0.0, -1.0, 1.0}, {5.0, 4.0, 6.0}};
  cell.moments.deviations = {{1.0, 0.5, 1.5}, {2.0, 1.5, 2.5}};
  cell.probabilities = {{.interval = {0.5, 0.4, 0.6}}};
  const std::vector<Extremes> all = all_extremes({cell, cell}, {"y0 > 0"});
  ASSERT_EQ(all.size(), 5U);
  EXPECT_EQ(all[0].name, "mean of y0");
  EXPECT_EQ(all[3].name, "deviation of y1");
  EXPECT_EQ(all[4].name, "P(y0 > 0)");
  EXPECT_EQ(all[4].greatest.upper, 0.6);
  EXPECT_TRUE(all_extremes({}, {}).empty());
  EXPECT_THROW((void)extremes("", {}), InvalidArgument);
}

TEST(Extremes, AClassIsCommonWhereEveryCellSettlesIt) {
  LawAnswers cell;
  EXPECT_EQ(common_class({cell}), -1);
  cell.classes = ClassAnswer();
  cell.classes->predicted = 2;
  cell.classes->settled = true;
  EXPECT_EQ(common_class({cell, cell}), 2);
  LawAnswers other = cell;
  other.classes->settled = false;
  EXPECT_EQ(common_class({cell, other}), -1);
  other.classes->settled = true;
  other.classes->predicted = 1;
  EXPECT_EQ(common_class({cell, other}), -1);
}

}  // namespace extremes_test
}  // namespace mixcert::testing
