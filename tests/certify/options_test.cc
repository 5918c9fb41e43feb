// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The table of options lists every field, accepts both ends of each range and refuses what is
// beyond; validate() names the field.
#include "mixcert/certificate/options.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "mixcert/core/error.h"

namespace mixcert {
namespace options_test {

const OptionField<Options>& field(const std::string& name) {
  const auto& table = option_table();
  const auto found = std::find_if(table.begin(), table.end(), [&](const auto& f) { return f.name == name; });
  if (found == table.end()) throw InvalidArgument("no option " + name);
  return *found;
}

TEST(Options, TableHasEveryFieldOnce) {
  std::set<std::string> names;
  for (const auto& option : option_table()) {
    EXPECT_TRUE(names.insert(option.name).second) << option.name;
    EXPECT_FALSE(option.help.empty());
    EXPECT_FALSE(option.constraint.empty());
  }
  const std::set<std::string> expected = {"joint",   "method",         "certificate",       "grid",
                                          "epsilon", "signature-size", "components",        "max-components",
                                          "seed",    "threads",        "max-memory-in-gib", "pieces",
                                          "block"};
  for (const std::string& name : expected) EXPECT_TRUE(names.count(name) == 1) << name;
}

TEST(Options, DefaultsAreTheDocumentedOnes) {
  const Options options;
  EXPECT_EQ(field("signature-size").get(options), "10");
  EXPECT_EQ(field("components").get(options), "5");
  EXPECT_EQ(field("max-components").get(options), "1000");
  EXPECT_EQ(field("seed").get(options), "0");
  EXPECT_EQ(field("certificate").get(options), "best");
  EXPECT_EQ(field("method").get(options), "auto");
  EXPECT_EQ(field("pieces").get(options), "1");
  EXPECT_EQ(field("epsilon").get(options), "");
  EXPECT_NO_THROW(options.validate());
}

struct Text {
  std::string name, text;
  bool good;
};

class OptionText : public ::testing::TestWithParam<Text> {};

TEST_P(OptionText, IsAcceptedOrRefused) {
  Options options;
  const auto& option = field(GetParam().name);
  if (GetParam().good) {
    option.set(options, GetParam().text);
    EXPECT_EQ(option.get(options), GetParam().text);
    EXPECT_NO_THROW(options.validate());
  } else {
    EXPECT_THROW(option.set(options, GetParam().text), InvalidArgument);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Ends, OptionText,
    ::testing::Values(
        Text{"signature-size", "1", true}, Text{"signature-size", "0", false},
        Text{"signature-size", "1000000", true}, Text{"signature-size", "1000001", false},
        Text{"components", "0", true}, Text{"components", "-1", false}, Text{"max-components", "1", true},
        Text{"max-components", "0", false}, Text{"epsilon", "1e-12", true}, Text{"epsilon", "0", false},
        Text{"epsilon", "nan", false}, Text{"epsilon", "-1", false}, Text{"epsilon", "inf", false},
        Text{"seed", "18446744073709551615", true}, Text{"seed", "-1", false}, Text{"threads", "0", true},
        Text{"threads", "4096", true}, Text{"threads", "4097", false}, Text{"max-memory-in-gib", "0.5", true},
        Text{"max-memory-in-gib", "0", false}, Text{"certificate", "paper", true},
        Text{"certificate", "best", true}, Text{"certificate", "Paper", false}, Text{"method", "cross", true},
        Text{"method", "moment", true}, Text{"method", "moments", false}, Text{"pieces", "2000", true},
        Text{"pieces", "0", false}, Text{"grid", "uniform", true}, Text{"grid", "random", false},
        Text{"joint", "true", true}, Text{"joint", "1", false}));

struct Damage {
  std::string name;
  std::function<void(Options&)> apply;
};

TEST(Options, ValidateNamesTheFieldAndTheValue) {
  const std::vector<Damage> cases = {
      {"signature-size", [](Options& o) { o.signature_size = 0; }},
      {"components", [](Options& o) { o.components = -1; }},
      {"max-components", [](Options& o) { o.max_components = 0; }},
      {"epsilon", [](Options& o) { o.epsilon = 0.0; }},
      {"epsilon", [](Options& o) { o.epsilon = std::numeric_limits<double>::quiet_NaN(); }},
      {"threads", [](Options& o) { o.threads = -2; }},
      {"block", [](Options& o) { o.block = -1; }},
      {"max-memory-in-gib", [](Options& o) { o.max_memory_in_gib = -1.0; }},
      {"epsilon",
       [](Options& o) {
         o.method = Method::Cross;
         o.epsilon = 0.1;
       }},
      {"signature-size",
       [](Options& o) {
         o.method = Method::Moment;
         o.signature_size = 11;
       }},
      {"pieces",
       [](Options& o) {
         o.joint = true;
         o.pieces = 2;
       }},
      {"certificate",
       [](Options& o) {
         o.method = Method::Moment;
         o.certificate = CertificateMode::Paper;
       }},
      {"pieces", [](Options& o) {
         o.method = Method::Signature;
         o.pieces = 2;
       }}};
  for (const Damage& damage : cases) {
    Options options;
    damage.apply(options);
    try {
      options.validate();
      ADD_FAILURE() << "accepted bad " << damage.name;
    } catch (const InvalidArgument& error) {
      EXPECT_NE(std::string(error.what()).find("--" + damage.name), std::string::npos) << error.what();
    }
  }
}

TEST(Options, EnumsHaveNames) {
  EXPECT_EQ(to_string(Method::Cross), "cross");
  EXPECT_EQ(to_string(CertificateMode::Expected), "expected");
  EXPECT_EQ(to_string(GridPlacement::Uniform), "uniform");
}

}  // namespace options_test
}  // namespace mixcert
