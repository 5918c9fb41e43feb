// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// A program of a user who links mixcert::io from an installed tree: an archive is written, read
// and fingerprinted, which needs libzip and OpenSSL at link time and no header of theirs.
#include "mixcert/io/npz.h"
#include "mixcert/io/sha256.h"

int main(int /*argc*/, char** argv) {
  const std::string path = std::string(argv[0]) + ".npz";
  mixcert::write_npz(path, {{"identity", mixcert::to_array(mixcert::Matrix::Identity(3, 3))}});
  const auto arrays = mixcert::read_npz(path);
  const bool same = mixcert::as_matrix(arrays.at("identity")).isIdentity(0.0);
  return same && mixcert::sha256_of_file(path).size() == 64 ? 0 : 1;
}
