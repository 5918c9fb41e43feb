// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Safetensors files: reading both types, and every way to be malformed or hostile.
#include "io/formats/safetensors.h"

#include <limits>

#include "io/test_files.h"

namespace mixcert {
namespace safetensors_test {

using test::as_bytes;
using test::message_of;
using test::raw_list;

std::string file_of(const std::string& header, const std::string& data = "") {
  return test::raw<std::uint64_t>(header.size()) + header + data;
}

std::string tensor(const std::string& type, const std::string& shape, const std::string& offsets) {
  return R"({"dtype":")" + type + R"(","shape":)" + shape + R"(,"data_offsets":)" + offsets + "}";
}

SafetensorsReader parse(const std::string& bytes, std::uint64_t max_bytes = 1U << 20U) {
  return {as_bytes(bytes), "m.safetensors", {max_bytes}};
}

const std::string kPair = raw_list({1.0, 2.0});

TEST(Safetensors, ReadsBothTypesAndListsOthers) {
  const std::string header = R"({"__metadata__":{"k":"v"},"a":)" + tensor("F64", "[2]", "[0,16]") +
                             R"(,"b":)" + tensor("F32", "[1,2]", "[16,24]") + R"(,"c":)" +
                             tensor("I8", "[3]", "[24,27]") + R"(,"d":)" + tensor("Q4", "[9]", "[27,27]") +
                             R"(,"e":)" + tensor("F64", "[0,7]", "[27,27]") + "}  ";
  const std::string bytes = file_of(header, kPair + raw_list({0.5F, -3.0F}) + "xyz");
  const SafetensorsReader reader = parse(bytes);
  EXPECT_EQ(reader.metadata().at("k"), "v");
  EXPECT_EQ(reader.tensors().size(), 5U);
  EXPECT_EQ(reader.read("a").values, (std::vector<double>{1, 2}));
  EXPECT_EQ(reader.read("b").values, (std::vector<double>{0.5, -3}));
  EXPECT_EQ(reader.read("b").shape, (std::vector<Index>{1, 2}));
  EXPECT_EQ(reader.read("e").size(), 0);
  EXPECT_CONTAINS(message_of<FileError>([&] { (void)reader.read("c"); }), "dtype F32 or F64, got 'I8'");
  EXPECT_CONTAINS(message_of<FileError>([&] { (void)reader.read("d"); }), "got 'Q4'");
  EXPECT_CONTAINS(message_of<FileError>([&] { (void)reader.read("z"); }), "tensor 'z'");
}

TEST(Safetensors, AllowsGapsAndScalars) {
  const std::string bytes = file_of(R"({"a":)" + tensor("F64", "[]", "[8,16]") + "}", kPair);
  EXPECT_EQ(parse(bytes).read("a").values, std::vector<double>{2});
}

struct BadCase {
  std::string bytes;
  std::string message;
};

class BadSafetensors : public ::testing::TestWithParam<BadCase> {};

TEST_P(BadSafetensors, IsRefusedByName) {
  const std::string message = message_of<FileError>([&] { parse(GetParam().bytes); });
  EXPECT_TRUE(message.starts_with("m.safetensors: ")) << message;
  EXPECT_CONTAINS(message, GetParam().message);
  EXPECT_EQ(message.find('\n'), std::string::npos);
}

std::string one(const std::string& tensor_text) { return file_of(R"({"a":)" + tensor_text + "}", kPair); }

INSTANTIATE_TEST_SUITE_P(
    All, BadSafetensors,
    ::testing::Values(
        BadCase{"", "header length: expected 8 bytes"}, BadCase{"1234567", "header length: expected 8 bytes"},
        BadCase{test::raw<std::uint64_t>(3) + "{}", "header length: expected at most 2, got 3"},
        BadCase{test::raw(std::numeric_limits<std::uint64_t>::max()) + "{}", "header length"},
        BadCase{file_of(""), "valid JSON"}, BadCase{file_of("[]"), "a JSON object"},
        BadCase{file_of("{"), "valid JSON"}, BadCase{file_of("{} x"), "valid JSON"},
        BadCase{file_of("\xff\xfe"), "valid JSON"}, BadCase{file_of(R"({"a":1e999})"), "valid JSON"},
        BadCase{file_of(std::string(1000, '[')), "nested"},
        BadCase{file_of(R"({"a":1,"a":2})"), "each key once, got two of 'a'"},
        BadCase{one(R"({"dtype":"F64","dtype":"F64","shape":[2],"data_offsets":[0,16]})"), "each key once"},
        BadCase{file_of(R"({"__metadata__":[]})"), "__metadata__"},
        BadCase{file_of(R"({"__metadata__":{"a":1}})"), "expected a string, got number '1'"},
        BadCase{one("3"), "tensor 'a': expected a JSON object"},
        BadCase{one(R"({"dtype":"F64","shape":[2]})"), "data_offsets"},
        BadCase{one(R"({"dtype":"F64","data_offsets":[0,16]})"), "shape"},
        BadCase{one(R"({"shape":[2],"data_offsets":[0,16]})"), "key 'dtype'"},
        BadCase{one(R"({"dtype":"F64","shape":[2],"data_offsets":[0,16],"run":"x"})"), "only the keys"},
        BadCase{one(tensor("F64", "[-2]", "[0,16]")), "integer in 0..2^62"},
        BadCase{one(tensor("F64", "[2.0]", "[0,16]")), "integer in 0..2^62"},
        BadCase{one(tensor("F64", "[1,1,1,1,1,1,1,1,2]", "[0,16]")), "a list of 0 to 8"},
        BadCase{one(tensor("F64", "\"2\"", "[0,16]")), "a list of 0 to 8"},
        BadCase{one(tensor("F64", "[2]", "[0]")), "a list of 2 to 2"},
        BadCase{one(tensor("F64", "[2]", "[16,0]")), "begin <= end <= 16"},
        BadCase{one(tensor("F64", "[3]", "[0,24]")), "begin <= end <= 16"},
        BadCase{one(tensor("F64", "[3]", "[0,16]")), "shape [3], got 16 bytes"},
        BadCase{one(tensor("F32", "[2]", "[0,16]")), "shape [2], got 16 bytes"},
        BadCase{one(tensor("F64", "[4294967296,4294967296]", "[0,0]")), "data_offsets that fit"},
        BadCase{one(tensor("F64", "[2305843009213693952]", "[0,0]")), "data_offsets that fit"},
        BadCase{one(tensor("F64", "[2]", "[0,18446744073709551616]")), "integer in 0..2^62"},
        BadCase{file_of(R"({"a":)" + tensor("F64", "[1]", "[0,8]") + R"(,"b":)" +
                            tensor("F64", "[1]", "[7,15]") + "}",
                        kPair),
                "bytes shared with 'a'"}));

TEST(Safetensors, RefusesValuesThatAreNotFinite) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::string bytes = file_of(
      R"({"a":)" + tensor("F64", "[1,2]", "[0,16]") + R"(,"b":)" + tensor("F32", "[1]", "[16,20]") + "}",
      raw_list({1.0, nan}) + raw_list({-std::numeric_limits<float>::infinity()}));
  const SafetensorsReader reader = parse(bytes);
  EXPECT_CONTAINS(message_of<FileError>([&] { (void)reader.read("a"); }),
                  "tensor 'a': expected finite values, got nan at index [0, 1]");
  EXPECT_CONTAINS(message_of<FileError>([&] { (void)reader.read("b"); }), "got -inf at index [0]");
}

TEST(Safetensors, RefusesEveryTruncation) {
  const std::string whole = file_of(R"({"a":)" + tensor("F64", "[2]", "[0,16]") + "}", kPair);
  ASSERT_NO_THROW(parse(whole));
  for (std::size_t length = 0; length < whole.size(); ++length) {
    const std::string part = whole.substr(0, length);
    EXPECT_THROW(parse(part), FileError) << length;
  }
}

TEST(Safetensors, ChecksTheLimit) {
  const std::string bytes =
      file_of(R"({"a":)" + tensor("F32", "[100]", "[0,400]") + "}", std::string(400, '\0'));
  EXPECT_CONTAINS(message_of<ResourceError>([&] { parse(bytes, 100); }), "the header needs");
  const SafetensorsReader reader = parse(bytes, 8000);
  EXPECT_NO_THROW((void)reader.read("a"));
}

TEST(Safetensors, RoundTripsThroughAFile) {
  const test::TempDirectory directory;
  const std::map<std::string, Array> tensors = {{"w", {{2, 2}, {1, 2, 3, 4}}}, {"b \"q\"", {{}, {0.1}}}};
  write_safetensors(directory / "m.safetensors", tensors, {{"format", "test"}, {"uni", "\xC3\xA4"}});
  const SafetensorsReader reader(directory / "m.safetensors");
  EXPECT_EQ(reader.metadata().at("uni"), "\xC3\xA4");
  for (const auto& [name, array] : tensors) {
    EXPECT_EQ(reader.read(name).shape, array.shape);
    EXPECT_EQ(reader.read(name).values, array.values);
    EXPECT_EQ(reader.tensors().at(name).begin % 8, 0U);
  }
  EXPECT_EQ(directory.count(), 1);
  EXPECT_THROW(write_safetensors(directory / "m.safetensors", {{"w", {{2}, {1}}}}, {}), InvalidArgument);
  EXPECT_EQ(SafetensorsReader(directory / "m.safetensors").tensors().size(), 2U);
}

}  // namespace safetensors_test
}  // namespace mixcert
