// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Proofs, docs/proof-format.md: what `mixcert-check` needs to prove bounds anew without this library. A proof
// holds choices (metrics, and which of them a layer's term takes) and claims (a Gaussian and a bound at each
// input); nothing in it has to be believed.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "mixcert/certificate/options.h"
#include "mixcert/certificate/result.h"
#include "mixcert/core/types.h"
#include "mixcert/network/network.h"

namespace mixcert {

/// What a run has to be for its results to have proofs: method moment with one piece, and with the theorem of
/// one hidden layer in front of one output (Y.1) or the coupling's (H.3), (H.7) alone. Throws InvalidArgument
/// where the options ask for something else; other options stay as they are.
Options options_with_proof(const Options& options, const Network& network);

class ProofWriter {
 public:
  /// Opens a file beside `path` and writes what all inputs share. Throws InvalidArgument where the network
  /// has something that mixcert-check does not cover, and FileError. `network` is that of the model file with
  /// this digest.
  ProofWriter(const std::filesystem::path& path, const Network& network, const std::string& model_sha256,
              const Options& options);
  ~ProofWriter();
  ProofWriter(const ProofWriter&) = delete;
  ProofWriter& operator=(const ProofWriter&) = delete;

  /// A result of options_with_proof() at this input.
  void add(const Result& result, ConstVectorRef input);
  /// The file appears.
  void finish();

 private:
  struct File;
  std::unique_ptr<File> file_;
};

}  // namespace mixcert
