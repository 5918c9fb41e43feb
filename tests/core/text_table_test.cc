// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Short forms of numbers, rounded to the side that they are a bound of, and columns of a width.
#include "core/text_table.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <random>

namespace mixcert::testing {
namespace text_table_test {

const double kNan = std::numeric_limits<double>::quiet_NaN();

TEST(ShortNumbers, AreWhatPrintfWrites) {
  std::mt19937_64 generator(1);
  std::uniform_real_distribution<double> exponent(-12.0, 12.0), factor(-10.0, 10.0);
  for (int i = 0; i < 1000; ++i) {
    const double value = factor(generator) * std::pow(10.0, exponent(generator));
    std::array<char, 64> expected{};
    std::snprintf(expected.data(), expected.size(), "%.4g", value);
    EXPECT_EQ(short_number(value), expected.data());
    std::snprintf(expected.data(), expected.size(), "%.1f", value);
    EXPECT_EQ(decimals(value, 1), expected.data());
  }
  EXPECT_EQ(short_number(kNan), "-");
  EXPECT_EQ(short_number(0.0), "0");
  EXPECT_EQ(short_number(std::numeric_limits<double>::infinity()), "inf");
  EXPECT_EQ(short_percent(0.95), "95 %");
  EXPECT_EQ(short_time(2e-5), "20 us");
  EXPECT_EQ(short_time(0.0031), "3.1 ms");
  EXPECT_EQ(short_time(2.44), "2.4 s");
  EXPECT_EQ(counted(1, "input"), "1 input");
  EXPECT_EQ(counted(2, "input"), "2 inputs");
}

TEST(ShortNumbers, OfBoundsAreBounds) {
  std::mt19937_64 generator(2);
  std::uniform_real_distribution<double> exponent(-300.0, 300.0), factor(0.1, 10.0);
  for (int i = 0; i < 1000; ++i) {
    const double value = factor(generator) * std::pow(10.0, exponent(generator));
    EXPECT_GE(std::strtod(short_bound(value).c_str(), nullptr), value);
    EXPECT_LE(std::strtod(short_lower_bound(value).c_str(), nullptr), value);
    EXPECT_LE(std::strtod(short_bound(value).c_str(), nullptr), 1.0011 * value);
  }
  EXPECT_EQ(short_bound(0.123401), "0.1235");
  EXPECT_EQ(short_lower_bound(0.123499), "0.1234");
  EXPECT_EQ(short_bound(kNan), "-");
}

TEST(TextTable, AlignsToTheRight) {
  const TextTable table({{"a", 3}, {"bound", 4}});
  EXPECT_EQ(table.header(), "  a  bound\n----------\n");
  EXPECT_EQ(table.row({"1", "2"}), "  1     2\n");
  EXPECT_EQ(table.row({"\xc3\xa9", "2"}), "  \xc3\xa9     2\n");  // one character of two bytes
  EXPECT_EQ(table.row({"12345", "2"}), "12345     2\n");
}

}  // namespace text_table_test
}  // namespace mixcert::testing
