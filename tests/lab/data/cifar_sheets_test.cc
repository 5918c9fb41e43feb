// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Batches from PNG sheets.
#include "data/cifar_sheets.h"

#include <array>

#include "lab/data/png_sheet.h"
#include "lab/data/small_sets.h"

namespace mixcert::lab {
namespace cifar_sheets_test {

using mixcert::test::message_of;
using test::png_sheet;

constexpr std::array<unsigned char, 2> kLabels = {7, 1};

TEST(Sheets, BecomeRecordsWithPlanes) {
  const std::string sheet = png_sheet(2, 2, "rgbRGBsthSTH");
  EXPECT_EQ(rebuild_batch(sheet, "f", kLabels, 2), "\x07rRgGbB\x01sStThH");
}

TEST(Sheets, OfAnotherSizeOrKindAreRefused) {
  EXPECT_CONTAINS(
      message_of<FileError>([] { rebuild_batch(png_sheet(2, 3, "rgbRGBsthSTHuviUVI"), "f", kLabels, 2); }),
      "f: sheet: expected 8-bit RGB of size [2, 2], got [3, 2]");
  EXPECT_CONTAINS(
      message_of<FileError>([] { rebuild_batch(png_sheet(2, 2, "abcd", PNG_FORMAT_GRAY), "f", kLabels, 2); }),
      "another kind of image");
}

TEST(Sheets, DamageIsAnErrorOrWrongPixelsButNoCrash) {
  const std::string sheet = png_sheet(2, 2, "rgbRGBsthSTH");
  for (std::size_t size = 0; size + 12 < sheet.size(); ++size) {  // the last 12 bytes only mark the end
    EXPECT_THROW(rebuild_batch(sheet.substr(0, size), "f", kLabels, 2), FileError) << size;
  }
  for (std::size_t i = 0; i < sheet.size(); ++i) {
    std::string damaged = sheet;
    damaged[i] = static_cast<char>(damaged[i] ^ 0xFF);
    try {
      EXPECT_EQ(rebuild_batch(damaged, "f", kLabels, 2).size(), 14U);
    } catch (const FileError& error) {
      EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
    }
  }
}

TEST(LabelLists, AreChecked) {
  EXPECT_EQ(parse_label_list("[3, 0,9]", "l", 3, 10), (std::vector<unsigned char>{3, 0, 9}));
  const auto message = [](const std::string& text) {
    return message_of<FileError>([&] { parse_label_list(text, "l", 3, 10); });
  };
  EXPECT_CONTAINS(message("[1,2]"), "l: labels: expected a list of 3, got 2");
  EXPECT_CONTAINS(message("[1,2,10]"), "l: label 2: expected a class below 10, got 10");
  EXPECT_CONTAINS(message("[1,2,-1]"), "label 2");
  EXPECT_CONTAINS(message("[1,2,\"a\"]"), "label 2");
  EXPECT_CONTAINS(message("{\"a\":1}"), "a list of 3");
  EXPECT_CONTAINS(message("[1,2,"), "valid JSON");
}

}  // namespace cifar_sheets_test
}  // namespace mixcert::lab
