// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// SHA-256 against the published digests (FIPS 180-2, appendix B).
#include "io/files/byte_source.h"
#include "io/test_files.h"

namespace mixcert {
namespace sha256_test {

TEST(Sha256, AgreesWithPublishedDigests) {
  const test::TempDirectory directory;
  const auto digest = [&](const std::string& text) {
    test::write_text(directory / "f", text);
    return sha256_of_file(directory / "f");
  };
  EXPECT_EQ(digest(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(digest("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(digest(std::string(1000000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, NamesAFileThatIsNotThere) {
  const test::TempDirectory directory;
  EXPECT_CONTAINS(test::message_of<FileError>([&] { sha256_of_file(directory / "no"); }), "no: cannot open");
}

}  // namespace sha256_test
}  // namespace mixcert
