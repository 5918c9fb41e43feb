// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Checkpoints of torch.save, made by hand: every type of number, views, nesting; and everything else is
// refused by name without being executed.
#include "io/formats/torch_file.h"

#include "io/torch_archive.h"

namespace mixcert {
namespace torch_file_test {

using namespace test;
using Items = std::vector<std::pair<std::string, std::string>>;

class TorchFile : public ::testing::Test {
 protected:
  NamedArrays read(const std::string& body, std::map<std::string, std::string> entries = {},
                   const ReadLimits& limits = {1U << 20U}) {
    entries["archive/data.pkl"] = pickle_of(body);
    write_zip(path_, entries);
    const NamedArrays arrays = read_torch_file(path_, limits);
    const std::string bytes = read_text(path_);
    EXPECT_EQ(parse_torch_file(as_bytes(bytes), "x", limits).entries.size(), arrays.entries.size());
    return arrays;
  }
  std::string refusal(const std::string& body, const std::map<std::string, std::string>& entries = {}) {
    return message_of<FileError>([&] { read(body, entries); });
  }

  TempDirectory directory_;
  std::filesystem::path path_ = directory_ / "a.pt";
};

TEST_F(TorchFile, ReadsTypesAndViews) {
  const auto tensor = [](const char* type, const char* key) {
    return pickled_tensor(type, key, 2, 0, {2}, {1});
  };
  const NamedArrays arrays = read(
      pickled_dict({{pickled_text("f"), tensor("FloatStorage", "f")},
                    {pickled_text("h"), tensor("HalfStorage", "h")},
                    {pickled_text("b"), tensor("BFloat16Storage", "b")},
                    {pickled_text("l"), tensor("LongStorage", "l")},
                    {pickled_text("c"), tensor("CharStorage", "c")},
                    {pickled_text("t"), pickled_tensor("DoubleStorage", "d", 7, 1, {2, 3}, {1, 2}, true)},
                    {pickled_text("row"), pickled_tensor("DoubleStorage", "d", 7, 4, {2, 2}, {0, 1})}}),
      {{"archive/data/f", raw_list<float>({1.5F, -2.0F})},
       {"archive/data/h", raw_list<std::uint16_t>({0x3E00, 0x8001})},
       {"archive/data/b", raw_list<std::uint16_t>({0x3FC0, 0xC000})},
       {"archive/data/l", raw_list<std::int64_t>({-3, 4})},
       {"archive/data/c", raw_list<std::int8_t>({-1, 7})},
       {"archive/data/d", raw_list<double>({0, 1, 2, 3, 4, 5, 6})},
       {"archive/byteorder", "little"}});
  EXPECT_TRUE(arrays.keeps_order);
  EXPECT_EQ(arrays.entries.front().first, "f");
  EXPECT_EQ(arrays.find("f")->values, (std::vector<double>{1.5, -2}));
  EXPECT_EQ(arrays.find("h")->values, (std::vector<double>{1.5, -0x1p-24}));
  EXPECT_EQ(arrays.find("b")->values, (std::vector<double>{1.5, -2}));
  EXPECT_EQ(arrays.find("l")->values, (std::vector<double>{-3, 4}));
  EXPECT_EQ(arrays.find("c")->values, (std::vector<double>{-1, 7}));
  EXPECT_EQ(arrays.find("t")->values, (std::vector<double>{1, 3, 5, 2, 4, 6}));
  EXPECT_EQ(arrays.find("t")->shape, (std::vector<Index>{2, 3}));
  EXPECT_EQ(arrays.find("row")->values, (std::vector<double>{4, 5, 4, 5}));
}

TEST_F(TorchFile, FlattensWhatIsNested) {
  const std::string inner = "ccollections\nOrderedDict\n)Rq\x01(" + pickled_text("w") + pickled_double(0.25) +
                            "u}" + pickled_text("_metadata") + "h\x01sb";  // an attribute that is left out
  const std::string groups =
      "](" + pickled_dict({{pickled_text("lr"), pickled_double(0.5)}}) + "NK\x05" + "e";
  const NamedArrays arrays = read(pickled_dict({{pickled_text("state_dict"), inner},
                                                {pickled_text("groups"), groups},
                                                {pickled_integer(3), "\x8a\x02\xff\x7f"},
                                                {pickled_text("name"), pickled_text("x")},
                                                {pickled_text("on"), "\x88"}}));
  ASSERT_EQ(arrays.entries.size(), 5U);
  EXPECT_EQ(arrays.find("state_dict.w")->values, std::vector<double>{0.25});
  EXPECT_EQ(arrays.find("groups.0.lr")->values, std::vector<double>{0.5});
  EXPECT_EQ(arrays.find("groups.2")->values, std::vector<double>{5});
  EXPECT_EQ(arrays.find("3")->values, std::vector<double>{32767});
  EXPECT_EQ(arrays.find("on")->rank(), 0);
  EXPECT_EQ(arrays.find("name"), nullptr);
}

TEST_F(TorchFile, KnowsNoOtherNameOrOpcode) {
  EXPECT_CONTAINS(refusal("cposix\nsystem\n(" + pickled_text("true") + "tR"), "'posix system'");
  EXPECT_CONTAINS(refusal("cbuiltins\neval\n"), "'builtins eval'");
  EXPECT_CONTAINS(refusal("ctorch\nload\n"), "'torch load'");
  EXPECT_CONTAINS(refusal("(itorch\nx\n"), "opcode 'i'");
  EXPECT_CONTAINS(refusal("\x93"), "opcode '\\x93'");
  EXPECT_CONTAINS(refusal("ctorch\nFloatStorage\n)R"), "torch FloatStorage with 0 arguments");
  EXPECT_CONTAINS(refusal("K\x01K\x02R"), "a tuple of arguments");
  EXPECT_CONTAINS(refusal("]}b}b"), "BUILD: an OrderedDict");
}

TEST_F(TorchFile, RefusesWhatDoesNotFit) {
  const std::map<std::string, std::string> data = {{"archive/data/0", raw_list<double>({1, 2, 3})}};
  const auto view = [](Index count, Index offset, const std::vector<Index>& shape,
                       const std::vector<Index>& strides) {
    return pickled_dict(
        {{pickled_text("w"), pickled_tensor("DoubleStorage", "0", count, offset, shape, strides)}});
  };
  EXPECT_CONTAINS(refusal(view(3, 1, {3}, {1}), data), "tensor 'w': expected places inside its storage of 3");
  EXPECT_CONTAINS(refusal(view(3, 3, {1}, {1}), data), "places inside");
  EXPECT_CONTAINS(refusal(view(3, 0, {2}, {2147483647}), data), "places inside");
  EXPECT_CONTAINS(refusal(view(3, 0, {2}, {-1}), data), "sizes, at least 0");
  EXPECT_CONTAINS(refusal(view(3, 0, {2, 1}, {1}), data), "as many strides");
  EXPECT_CONTAINS(refusal(view(4, 0, {2}, {1}), data), "4 elements of 8 bytes");
  EXPECT_CONTAINS(refusal(view(3, 0, {3}, {1})), "zip entry 'archive/data/0'");
  EXPECT_CONTAINS(message_of<ResourceError>([&] {
                    read(view(3, 0, {1000, 1000}, {0, 0}), data);
                  }),
                  "7.629 MiB");
  EXPECT_CONTAINS(refusal(pickled_dict({{pickled_text("a.b"), "K\x01"},
                                        {pickled_text("a"), pickled_dict({{pickled_text("b"), "K\x02"}})}})),
                  "two of 'a.b'");
  EXPECT_CONTAINS(refusal(pickled_dict({{"\x88", "K\x01"}})), "keys that are texts or integers");
  EXPECT_CONTAINS(refusal("]q\x01h\x01" + std::string("a")), "nested at most 32 deep");
  EXPECT_CONTAINS(refusal("K\x01", {{"archive/byteorder", "big"}}), "'little'");
}

TEST_F(TorchFile, RefusesTruncationAndStackMistakes) {
  for (const char* body : {"X\xff\xff\xff\x7f", "cno line", "h\x07", "t", "a", "s", "K\x01K\x02s", "(u",
                           "]K\x01K\x02u", "\x87", "Q", "R", "J\x01", "G\x01", "\x8a\x09"}) {
    EXPECT_TRUE(refuses([&] { read(body); })) << body;
  }
  const std::string whole = pickled_dict({{pickled_text("w"), pickled_double(1.0)}});
  for (std::size_t size = 0; size < whole.size(); ++size) {
    write_zip(path_, {{"archive/data.pkl", "\x80\x02" + whole.substr(0, size)}});
    EXPECT_TRUE(refuses([&] { read_torch_file(path_); })) << size;
  }
  write_text(path_, "\x80\x02\x8a\x0alFc");
  EXPECT_CONTAINS(message_of<FileError>([&] { read_torch_file(path_); }), "since 1.6");
  write_text(path_, "P");
  EXPECT_THROW(read_torch_file(path_), FileError);
  write_zip(path_, {{"weights.npy", "x"}});
  EXPECT_CONTAINS(message_of<FileError>([&] { read_torch_file(path_); }), "NAME/data.pkl");
}

}  // namespace torch_file_test
}  // namespace mixcert
