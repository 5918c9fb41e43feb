// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// .npz archives: ours, deflated ones made with libzip, and hostile ones.
#include <zip.h>

#include "io/formats/npy.h"
#include "io/test_files.h"

namespace mixcert {
namespace npz_test {

using test::as_bytes;
using test::message_of;

std::string npy_of(const std::vector<Index>& shape, const std::vector<double>& values) {
  std::string bytes = io::npy_preamble(shape);
  for (const double value : values) bytes += test::raw(value);
  return bytes;
}

struct Entry {
  std::string name;
  std::string bytes;
};

class NpzTest : public ::testing::Test {
 protected:
  std::string make_zip(const std::vector<Entry>& entries, zip_int32_t method) {
    int error = 0;
    zip_t* archive = zip_open((directory_ / "made.npz").c_str(), ZIP_CREATE | ZIP_TRUNCATE, &error);
    for (const Entry& entry : entries) {
      zip_source_t* source = zip_source_buffer(archive, entry.bytes.data(), entry.bytes.size(), 0);
      const auto index = zip_file_add(archive, entry.name.c_str(), source, 0);
      zip_set_file_compression(archive, static_cast<zip_uint64_t>(index), method, 0);
    }
    if (zip_close(archive) != 0) ADD_FAILURE() << "zip_close";
    return test::read_text(directory_ / "made.npz");
  }

  static NpzReader reader(const std::string& bytes, std::uint64_t max_bytes = 1U << 20U) {
    return {as_bytes(bytes), "x.npz", {max_bytes}};
  }

  static void read_all(const std::string& bytes) {
    NpzReader archive = reader(bytes);
    for (const std::string& name : archive.names()) archive.read(name);
  }

  test::TempDirectory directory_;
  const std::vector<double> ramp_ = [] {
    std::vector<double> values(300);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = std::floor(static_cast<double>(i) / 7.0);
    return values;
  }();
};

TEST_F(NpzTest, RoundTripsAndIsReproducible) {
  const std::map<std::string, Array> arrays = {
      {"a", {{2, 2}, {1, 2, 3, 4}}}, {"b", {{0, 3}, {}}}, {"c", {{1}, {9}}}};
  write_npz(directory_ / "one.npz", arrays);
  write_npz(directory_ / "two.npz", arrays);
  EXPECT_EQ(test::read_text(directory_ / "one.npz"), test::read_text(directory_ / "two.npz"));
  const auto again = read_npz(directory_ / "one.npz");
  ASSERT_EQ(again.size(), 3U);
  for (const auto& [name, array] : arrays) {
    EXPECT_EQ(again.at(name).shape, array.shape);
    EXPECT_EQ(again.at(name).values, array.values);
  }
  EXPECT_EQ(directory_.count(), 2);
}

TEST_F(NpzTest, ReadsStoredAndDeflatedArchives) {
  for (const zip_int32_t method : {ZIP_CM_STORE, ZIP_CM_DEFLATE}) {
    const std::string bytes =
        make_zip({{"x.npy", npy_of({300}, ramp_)}, {"y.npy", npy_of({1}, {5})}}, method);
    EXPECT_EQ(bytes.size() < 2400, method == ZIP_CM_DEFLATE);
    NpzReader archive = reader(bytes);
    EXPECT_EQ(archive.names(), (std::vector<std::string>{"x", "y"}));
    EXPECT_TRUE(archive.contains("x"));
    EXPECT_FALSE(archive.contains("z"));
    EXPECT_EQ(archive.read("x").values, ramp_);
    EXPECT_EQ(archive.read("y").values, std::vector<double>{5});
    EXPECT_CONTAINS(message_of<FileError>([&] { archive.read("z"); }),
                    "x.npz: zip archive: expected array 'z'");
  }
}

TEST_F(NpzTest, WritesBlockByBlock) {
  NpzWriter writer(directory_ / "s.npz");
  writer.add("s", {1000, 3}, [](Index row, std::span<double> block) {
    for (std::size_t j = 0; j < block.size(); ++j)
      block[j] = 10.0 * static_cast<double>(row) + static_cast<double>(j);
  });
  writer.write();
  EXPECT_FALSE(std::filesystem::exists(directory_ / "s.npz"));
  writer.commit();
  const Array array = read_npz(directory_ / "s.npz").at("s");
  EXPECT_EQ(array.shape, (std::vector<Index>{1000, 3}));
  EXPECT_EQ(as_matrix(array)(999, 2), 9992.0);
  EXPECT_EQ(directory_.count(), 1);
}

TEST_F(NpzTest, FailureWhileWritingLeavesTheOldFile) {
  test::write_text(directory_ / "s.npz", "old");
  {
    NpzWriter writer(directory_ / "s.npz");
    writer.add("s", {5, 1}, [](Index row, std::span<double>) {
      if (row == 3) throw FileError("spilled file is gone");
    });
    EXPECT_CONTAINS(message_of<FileError>([&] { writer.commit(); }), "spilled file is gone");
  }
  EXPECT_EQ(test::read_text(directory_ / "s.npz"), "old");
  EXPECT_EQ(directory_.count(), 1);
}

TEST_F(NpzTest, WriterChecksItsArguments) {
  NpzWriter writer(directory_ / "s.npz");
  EXPECT_THROW(writer.add("a", Array{{2}, {1}}), InvalidArgument);
  EXPECT_THROW(writer.add("a", Array{{}, {1}}), InvalidArgument);
  writer.add("a", Array{{1}, {1}});
  EXPECT_THROW(writer.add("a", Array{{1}, {1}}), FileError);
}

TEST_F(NpzTest, RefusesEntriesThatAreNoArrays) {
  const std::string good = npy_of({1}, {5});
  const auto refused = [&](const std::string& bytes) {
    return message_of<FileError>([&] { read_all(bytes); });
  };
  EXPECT_CONTAINS(refused(make_zip({{"x.txt", good}}, ZIP_CM_STORE)), "ends in .npy");
  EXPECT_CONTAINS(refused(make_zip({{"x.npy", "text"}}, ZIP_CM_STORE)), "x.npz: 'x': npy magic");
  EXPECT_CONTAINS(refused(make_zip({{"x.npy", good + "y"}}, ZIP_CM_STORE)), "npy data");
  EXPECT_CONTAINS(refused("no zip archive at all"), "cannot open as a zip archive");
}

TEST_F(NpzTest, RefusesTooManyEntries) {
  std::vector<Entry> entries;
  for (int i = 0; i < 1025; ++i) entries.push_back({std::to_string(i) + ".npy", "x"});
  const std::string bytes = make_zip(entries, ZIP_CM_STORE);
  EXPECT_CONTAINS(message_of<FileError>([&] { reader(bytes); }), "1 to 1024 entries, got 1025");
}

TEST_F(NpzTest, RefusesAWrongChecksum) {
  std::string bytes = make_zip({{"x.npy", npy_of({1}, {5})}}, ZIP_CM_STORE);
  bytes[bytes.find("NUMPY") + 130] ^= 1;
  EXPECT_CONTAINS(message_of<FileError>([&] { read_all(bytes); }), "zip entry");
}

TEST_F(NpzTest, RefusesSizesThatNoStreamCouldHave) {
  std::string bytes = make_zip({{"x.npy", npy_of({300}, ramp_)}}, ZIP_CM_DEFLATE);
  const std::size_t directory_entry = bytes.find("PK\x01\x02");
  ASSERT_NE(directory_entry, std::string::npos);
  bytes.replace(directory_entry + 24, 4, test::raw<std::uint32_t>(0x70000000U));
  EXPECT_CONTAINS(message_of<FileError>([&] { reader(bytes); }), "from its compressed size");
}

TEST_F(NpzTest, SaysHowMuchMemoryABombNeeds) {
  const std::string bytes =
      make_zip({{"x.npy", npy_of({400000}, std::vector<double>(400000))}}, ZIP_CM_DEFLATE);
  EXPECT_LT(bytes.size(), 10000U);
  NpzReader archive = reader(bytes);
  EXPECT_CONTAINS(message_of<ResourceError>([&] { archive.read("x"); }), "needs 3.052 MiB of memory");
}

TEST_F(NpzTest, AllArraysCountAgainstTheLimit) {
  const std::string bytes =
      make_zip({{"x.npy", npy_of({300}, ramp_)}, {"y.npy", npy_of({300}, ramp_)}}, ZIP_CM_STORE);
  NpzReader archive = reader(bytes, 3000);
  archive.read("x");
  EXPECT_THROW(archive.read("y"), ResourceError);
}

TEST_F(NpzTest, RefusesEveryTruncation) {
  for (const zip_int32_t method : {ZIP_CM_STORE, ZIP_CM_DEFLATE}) {
    const std::string whole = make_zip({{"x.npy", npy_of({2}, {1, 2})}}, method);
    for (std::size_t length = 0; length < whole.size(); ++length) {
      const std::string part = whole.substr(0, length);
      EXPECT_TRUE(test::refuses([&] { read_all(part); })) << length;
    }
  }
}

}  // namespace npz_test
}  // namespace mixcert
