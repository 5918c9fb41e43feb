// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// .npy files: every type and order that is read, and every way to be malformed.
#include "io/formats/npy.h"

#include <cmath>
#include <limits>

#include "io/test_files.h"

namespace mixcert {
namespace npy_test {

using test::as_bytes;
using test::message_of;
using test::raw_list;

std::string npy(const std::string& header, const std::string& data, int version = 1) {
  std::string bytes = std::string("\x93NUMPY") + static_cast<char>(version) + '\0';
  const auto length = static_cast<std::uint32_t>(header.size());
  bytes += test::raw(length).substr(0, version == 1 ? 2 : 4);
  return bytes + header + data;
}

std::string header(const std::string& type, const std::string& shape, bool fortran = false) {
  return "{'descr': '" + type + "', 'fortran_order': " + (fortran ? "True" : "False") +
         ", 'shape': " + shape + ", }\n";
}

template <class T>
std::string reversed(std::initializer_list<T> values) {
  std::string bytes;
  for (const T value : values) {
    std::string one = test::raw(value);
    bytes.append(one.rbegin(), one.rend());
  }
  return bytes;
}

Array parse(const std::string& bytes, std::uint64_t max_bytes = 1U << 20U) {
  return parse_npy(as_bytes(bytes), "x.npy", {max_bytes});
}

struct TypeCase {
  std::string type;
  std::string data;
  std::vector<double> values;
};

class NpyTypes : public ::testing::TestWithParam<TypeCase> {};

TEST_P(NpyTypes, AreConvertedInEveryVersion) {
  for (const int version : {1, 2, 3}) {
    const Array array = parse(npy(header(GetParam().type, "(3,)"), GetParam().data, version));
    EXPECT_EQ(array.shape, std::vector<Index>{3});
    EXPECT_EQ(array.values, GetParam().values);
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, NpyTypes,
    ::testing::Values(TypeCase{"<f8", raw_list({1.5, -2.0, 1e300}), {1.5, -2.0, 1e300}},
                      TypeCase{"<f4", raw_list({1.5F, -2.0F, 0.1F}), {1.5, -2.0, static_cast<double>(0.1F)}},
                      TypeCase{">f8", reversed({1.5, -2.0, 1e300}), {1.5, -2.0, 1e300}},
                      TypeCase{">f4", reversed({1.5F, -2.0F, 4.0F}), {1.5, -2.0, 4.0}},
                      TypeCase{"<i4", raw_list<std::int32_t>({-7, 0, 2147483647}), {-7, 0, 2147483647}},
                      TypeCase{
                          "<i8", raw_list<std::int64_t>({-7, 0, 1LL << 53}), {-7, 0, 9007199254740992.0}},
                      TypeCase{"|u1", std::string("\x00\x7f\xff", 3), {0, 127, 255}},
                      TypeCase{"|b1", std::string("\x00\x01\x01", 3), {0, 1, 1}}));

TEST(Npy, PutsFortranOrderInCOrder) {
  const std::string data = raw_list({0.0, 1.0, 2.0, 3.0, 4.0, 5.0});
  const Array c = parse(npy(header("<f8", "(2, 3)"), data));
  EXPECT_EQ(c.values, (std::vector<double>{0, 1, 2, 3, 4, 5}));
  const Array fortran = parse(npy(header("<f8", "(2, 3)", true), data));
  EXPECT_EQ(fortran.values, (std::vector<double>{0, 2, 4, 1, 3, 5}));
  EXPECT_EQ(as_matrix(fortran)(1, 2), 5.0);
  EXPECT_EQ(as_matrix(fortran)(0, 1), 2.0);
}

TEST(Npy, PutsFortranOrderOfRankThreeInCOrder) {
  std::string data;
  for (int k = 0; k < 4; ++k) {
    for (int j = 0; j < 3; ++j) {
      for (int i = 0; i < 2; ++i) data += test::raw(100.0 * i + 10.0 * j + k);
    }
  }
  const Array array = parse(npy(header("<f8", "(2, 3, 4)", true), data));
  std::size_t place = 0;
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 3; ++j) {
      for (int k = 0; k < 4; ++k) EXPECT_EQ(array.values[place++], 100.0 * i + 10.0 * j + k);
    }
  }
}

TEST(Npy, ReadsEmptyAndScalarArraysAndSpecialValues) {
  EXPECT_EQ(parse(npy(header("<f8", "(0, 5)"), "")).shape, (std::vector<Index>{0, 5}));
  EXPECT_EQ(parse(npy(header("<f8", "()"), raw_list({3.0}))).values, std::vector<double>{3.0});
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(std::isnan(parse(npy(header("<f8", "(1,)"), raw_list({nan}))).values[0]));
}

TEST(Npy, ReadsKeysInAnyOrder) {
  const std::string text = "{\"shape\":(1,),'fortran_order':False,'descr':'<f8'}";
  EXPECT_EQ(parse(npy(text, raw_list({3.0}))).values, std::vector<double>{3.0});
}

struct BadCase {
  std::string bytes;
  std::string message;
};

class BadNpy : public ::testing::TestWithParam<BadCase> {};

TEST_P(BadNpy, IsRefusedByName) {
  const std::string message = message_of<FileError>([&] { parse(GetParam().bytes); });
  EXPECT_TRUE(message.starts_with("x.npy: ")) << message;
  EXPECT_CONTAINS(message, GetParam().message);
  EXPECT_EQ(message.find('\n'), std::string::npos);
}

const std::string kOne = raw_list({1.0});

INSTANTIATE_TEST_SUITE_P(
    All, BadNpy,
    ::testing::Values(
        BadCase{"", "npy magic and version: expected 8 bytes"}, BadCase{"PK\x03\x04\nnothing", "npy magic"},
        BadCase{npy(header("<f8", "(1,)"), kOne, 4), "npy version"},
        BadCase{npy(header("<f8", "(1,)"), kOne + "x"), "expected 8 bytes for shape [1], got 9"},
        BadCase{npy(header("<f8", "(2,)"), kOne), "expected 16 bytes for shape [2], got 8"},
        BadCase{npy(header("<c16", "(1,)"), kOne + kOne), "'descr': expected one of"},
        BadCase{npy(header("|O", "(1,)"), kOne), "'descr': expected one of"},
        BadCase{npy("{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (1,), }", kOne),
                "quoted string"},
        BadCase{npy("{'descr': '<f8', 'shape': (1,), }", kOne), "keys descr, fortran_order and shape"},
        BadCase{npy("{'descr': '<f8', 'descr': '<f8', 'fortran_order': False, 'shape': (1,)}", kOne), "once"},
        BadCase{npy("{'descr': '<f8', 'fortran_order': Maybe, 'shape': (1,)}", kOne), "True or False"},
        BadCase{npy("{'descr': '<f8', 'fortran_order': False, 'shape': (1,)} x", kOne), "nothing after"},
        BadCase{npy("{'descr': '<f8', 'fortran_order': False, 'shape': (1,", kOne), "sizes in"},
        BadCase{npy("{'descr': '<f8\n", kOne), "closing quote"},
        BadCase{npy(header("<f8", "(-1,)"), kOne), "sizes in"},
        BadCase{npy(header("<f8", "(99999999999999999999,)"), kOne), "sizes in"},
        BadCase{npy(header("<f8", "(4294967296, 4294967296)"), kOne), "fewer than 2^60"},
        BadCase{npy(header("<f8", "(0, 9223372036854775807, 9223372036854775807)"), ""), "fewer than 2^60"},
        BadCase{npy(header("<f8", "(1, 1, 1, 1, 1, 1, 1, 1, 1)"), kOne), "rank of at most 8"},
        BadCase{npy(header("<i8", "(1,)"), raw_list<std::int64_t>({(1LL << 53) + 1})), "2^53"},
        BadCase{npy(header("|b1", "(1,)"), "\x02"), "0 or 1"},
        BadCase{npy(std::string(70000, ' '), "", 2), "npy header length: expected at most"}));

TEST(Npy, RefusesEveryTruncation) {
  const std::string whole = npy(header("<f8", "(2,)"), raw_list({1.0, 2.0}));
  ASSERT_NO_THROW(parse(whole));
  for (std::size_t length = 0; length < whole.size(); ++length) {
    EXPECT_THROW(parse(whole.substr(0, length)), FileError) << length;
  }
}

TEST(Npy, SaysHowMuchMemoryIsNeededBeforeAllocating) {
  const std::string huge = npy(header("<f8", "(1099511627776,)"), "");
  const std::string message = message_of<ResourceError>([&] { parse(huge); });
  EXPECT_CONTAINS(message, "needs 8 TiB of memory, at most 1 MiB is allowed");
}

TEST(Npy, RoundTripsThroughAFile) {
  const test::TempDirectory directory;
  const Array array{{2, 1, 3}, {1, 2, 3, 4, 5, 6.5}};
  write_npy(directory / "a.npy", array);
  EXPECT_EQ(test::read_text(directory / "a.npy").size() % 64, 6 * 8 % 64);
  const Array again = read_npy(directory / "a.npy");
  EXPECT_EQ(again.shape, array.shape);
  EXPECT_EQ(again.values, array.values);
  for (const std::vector<Index>& shape : {std::vector<Index>{}, {1}, {1, 1}}) {
    write_npy(directory / "b.npy", {shape, {7.0}});
    EXPECT_EQ(read_npy(directory / "b.npy").shape, shape);
  }
}

TEST(Npy, WriterTakesPiecesAndCountsThem) {
  const test::TempDirectory directory;
  NpyWriter writer(directory / "s.npy", {2, 2});
  writer.append(std::vector<double>{1, 2});
  EXPECT_THROW(writer.finish(), InvalidArgument);
  EXPECT_THROW(writer.append(std::vector<double>{3, 4, 5}), InvalidArgument);
  EXPECT_FALSE(std::filesystem::exists(directory / "s.npy"));
  writer.append(std::vector<double>{3, 4});
  writer.finish();
  EXPECT_EQ(read_npy(directory / "s.npy").values, (std::vector<double>{1, 2, 3, 4}));
}

TEST(Npy, NamesAFileThatIsNotThere) {
  const test::TempDirectory directory;
  EXPECT_CONTAINS(message_of<FileError>([&] { read_npy(directory / "no.npy"); }), "no.npy: cannot open");
  EXPECT_CONTAINS(message_of<FileError>([&] { read_npy(directory / ""); }), "regular file");
}

}  // namespace npy_test
}  // namespace mixcert
