// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Option tables: every kind of field, bad text, ends of ranges, texts that round-trip.
#include "mixcert/core/option_table.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>

namespace mixcert {
namespace option_table_test {

enum class Colour { Red, Green };

struct Sample {
  bool flag = false;
  int count = 3;
  std::uint64_t seed = 0;
  double real = 1.5;
  std::optional<double> maybe;
  Colour colour = Colour::Red;
};

OptionTable<Sample> sample_table() {
  return {
      flag_option("flag", &Sample::flag, "a flag"),
      integer_option("count", &Sample::count, -2, 10, "a count"),
      integer_option<Sample, std::uint64_t>("seed", &Sample::seed, 0,
                                            std::numeric_limits<std::uint64_t>::max(), "a seed"),
      real_option("real", &Sample::real, 0.0, "a real"),
      real_option("maybe", &Sample::maybe, -1.0, "perhaps a real"),
      choice_option("colour", &Sample::colour, {{Colour::Red, "red"}, {Colour::Green, "green"}}, "a choice")};
}

struct Case {
  std::string name;
  std::string text;
};

const OptionField<Sample>& field(const OptionTable<Sample>& table, const std::string& name) {
  for (const auto& candidate : table) {
    if (candidate.name == name) return candidate;
  }
  throw std::logic_error("no field " + name);
}

class GoodText : public ::testing::TestWithParam<Case> {};

TEST_P(GoodText, RoundTrips) {
  const auto table = sample_table();
  Sample sample;
  const auto& chosen = field(table, GetParam().name);
  chosen.set(sample, GetParam().text);
  EXPECT_EQ(chosen.get(sample), GetParam().text);
}

INSTANTIATE_TEST_SUITE_P(All, GoodText,
                         ::testing::Values(Case{"flag", "true"}, Case{"flag", "false"}, Case{"count", "-2"},
                                           Case{"count", "10"}, Case{"seed", "0"},
                                           Case{"seed", "18446744073709551615"}, Case{"real", "0.1"},
                                           Case{"real", "1e-300"}, Case{"real", "5e-324"},
                                           Case{"maybe", "-0.5"}, Case{"colour", "green"}));

class BadText : public ::testing::TestWithParam<Case> {};

TEST_P(BadText, IsRefusedWithNameConstraintAndText) {
  const auto table = sample_table();
  Sample sample;
  const auto& chosen = field(table, GetParam().name);
  const std::string before = chosen.get(sample);
  try {
    chosen.set(sample, GetParam().text);
    FAIL() << "accepted " << GetParam().text;
  } catch (const InvalidArgument& error) {
    const std::string what = error.what();
    EXPECT_NE(what.find("--" + GetParam().name), std::string::npos) << what;
    EXPECT_NE(what.find("'" + GetParam().text + "'"), std::string::npos) << what;
    EXPECT_NE(what.find(chosen.constraint), std::string::npos) << what;
  }
  EXPECT_EQ(chosen.get(sample), before);
}

INSTANTIATE_TEST_SUITE_P(All, BadText,
                         ::testing::Values(Case{"flag", ""}, Case{"flag", "yes"}, Case{"flag", "True"},
                                           Case{"count", "-3"}, Case{"count", "11"}, Case{"count", "3.0"},
                                           Case{"count", "3 "}, Case{"count", " 3"}, Case{"count", ""},
                                           Case{"count", "99999999999999999999"}, Case{"seed", "-1"},
                                           Case{"seed", "18446744073709551616"}, Case{"real", "0"},
                                           Case{"real", "-1"}, Case{"real", "nan"}, Case{"real", "inf"},
                                           Case{"real", "1e400"}, Case{"real", "1,5"}, Case{"real", "0x10"},
                                           Case{"maybe", "-1"}, Case{"maybe", ""}, Case{"colour", "blue"},
                                           Case{"colour", "Red"}, Case{"colour", ""}));

TEST(OptionTable, KindsAndUnsetValues) {
  const auto table = sample_table();
  EXPECT_EQ(field(table, "flag").kind, OptionKind::Flag);
  EXPECT_EQ(field(table, "count").kind, OptionKind::Integer);
  EXPECT_EQ(field(table, "real").kind, OptionKind::Real);
  EXPECT_EQ(field(table, "colour").kind, OptionKind::Choice);
  EXPECT_EQ(field(table, "maybe").get(Sample{}), "");
  EXPECT_EQ(field(table, "colour").constraint, "red|green");
}

TEST(OptionTable, NumbersKeepEveryBit) {
  for (const double value : {0.1, 1.0 / 3.0, 1e300, -2.5e-308, 0.0}) {
    EXPECT_EQ(parse_number<double>(format_number(value)), value);
  }
  EXPECT_FALSE(parse_number<double>("1.5x"));
  EXPECT_FALSE(parse_number<int>("2147483648"));
}

}  // namespace option_table_test
}  // namespace mixcert
