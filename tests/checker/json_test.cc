// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The checker's reader of JSON takes the numbers that other readers take, and no others.
#include "checker/json.h"

#include <gtest/gtest.h>

namespace mixcert::testing {
namespace json_test {

using mixcert_check::BadFile;
using mixcert_check::Json;

TEST(CheckerJson, NumbersAreThoseOfTheGrammar) {
  for (const char* text : {"0", "-0.5", "1e5", "0.25E-3", "10", "-1e+2"}) {
    EXPECT_EQ(Json::parse(text).number(), std::stod(text)) << text;
  }
  for (const char* text :
       {".5", "5.", "05", "-05", "-.5", "5.e3", "-", "+1", "1e", "nan", "inf", "0x1", "- 1", "1e999"}) {
    EXPECT_THROW((void)Json::parse(text), BadFile) << text;
  }
}

}  // namespace json_test
}  // namespace mixcert::testing
