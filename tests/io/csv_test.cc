// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Numeric CSV.
#include "io/formats/csv.h"

#include "io/test_files.h"

namespace mixcert {
namespace csv_test {

using test::as_bytes;
using test::message_of;

Array parse(const std::string& text, std::uint64_t max_bytes = 1U << 20U) {
  return parse_csv(as_bytes(text), "x.csv", {max_bytes});
}

class GoodCsv : public ::testing::TestWithParam<std::string> {};

TEST_P(GoodCsv, GivesTheSameTable) {
  const Array array = parse(GetParam());
  EXPECT_EQ(array.shape, (std::vector<Index>{2, 3}));
  EXPECT_EQ(array.values, (std::vector<double>{1, -2.5, 3e4, 4, 5, 6}));
}

INSTANTIATE_TEST_SUITE_P(All, GoodCsv,
                         ::testing::Values("1,-2.5,3e4\n4,5,6", "1,-2.5,3e4\n4,5,6\n",
                                           "1,-2.5,3e4\r\n4,5,6\r\n", "a,b,c\n1,-2.5,3e4\n4,5,6\n",
                                           "a,,\"c d\"\n1,-2.5,3e4\n4,5,6\n",
                                           " 1 ,\t-2.5, +3e4\n4,5,6\n\n \n\r\n",
                                           "\xEF\xBB\xBF"
                                           "1,-2.5,3e4\n4,5,6",
                                           "1,-2.5,30000.0\n4.,5e0,0.6E1"));

TEST(Csv, ReadsASingleColumnAndASingleCell) {
  EXPECT_EQ(parse("x\n1\n2\n").shape, (std::vector<Index>{2, 1}));
  EXPECT_EQ(parse("7").shape, (std::vector<Index>{1, 1}));
}

struct BadCase {
  std::string text;
  std::string message;
};

class BadCsv : public ::testing::TestWithParam<BadCase> {};

TEST_P(BadCsv, IsRefusedWithLineAndColumn) {
  const std::string message = message_of<FileError>([&] { parse(GetParam().text); });
  EXPECT_TRUE(message.starts_with("x.csv: ")) << message;
  EXPECT_CONTAINS(message, GetParam().message);
  EXPECT_EQ(message.find('\n'), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(
    All, BadCsv,
    ::testing::Values(
        BadCase{"", "at least one row"}, BadCase{"\n\n", "at least one row"},
        BadCase{"a,b\n", "at least one row"}, BadCase{"1,2\n3\n", "line 2: expected 2 columns, got 1"},
        BadCase{"a,b\n1,2,3\n", "line 2: expected 2 columns, got 3"},
        BadCase{"1,2\n3,\n", "line 2, column 2: expected a finite number, got an empty cell"},
        BadCase{",\n1,2\n", "line 1, column 1"}, BadCase{"1,2\n\n3,4\n", "line 2: expected numbers"},
        BadCase{"1,x\n", "line 1, column 2: expected a finite number, got 'x'"},
        BadCase{"a,b\nc,d\n", "line 2, column 1"}, BadCase{"1,nan\n", "line 1, column 2"},
        BadCase{"nan,inf\n", "line 1, column 1"}, BadCase{"1\n-inf\n", "line 2, column 1"},
        BadCase{"1e999\n", "'1e999'"}, BadCase{"0x10,1\n", "'0x10'"}, BadCase{"1;2\n3;4\n", "line 2"},
        BadCase{"1\n+-2\n", "'+-2'"}, BadCase{"1\n2 3\n", "'2 3'"}, BadCase{"0\n1\r2\n", "'1\\x0d2'"},
        BadCase{std::string("1\n2\0\n", 5), "'2\\x00'"}, BadCase{"1,2\n\xff\xfe,3\n", "'\\xff\\xfe'"}));

TEST(Csv, SaysHowMuchMemoryIsNeeded) {
  const std::string text = std::string(400, ',');
  EXPECT_CONTAINS(message_of<ResourceError>([&] { parse(text, 300); }), "the text needs 400 bytes");
  EXPECT_CONTAINS(message_of<ResourceError>([&] { parse(text, 1000); }), "a table of 401 cells needs");
}

TEST(Csv, ReadsAFile) {
  const test::TempDirectory directory;
  test::write_text(directory / "a.csv", "1,2\n3,4\n");
  EXPECT_EQ(read_csv(directory / "a.csv").values, (std::vector<double>{1, 2, 3, 4}));
}

}  // namespace csv_test
}  // namespace mixcert
