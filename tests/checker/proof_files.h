// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// A model and a proof of it as files, and what the checker says of them.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "checker/proof.h"
#include "mixcert/certificate/result.h"
#include "support/random_network.h"

namespace mixcert::testing {

class ProofFiles {
 public:
  /// Certifies a random network at `inputs` random points, with a proof.
  explicit ProofFiles(const NetworkRecipe& recipe, Index inputs = 2)
      : ProofFiles(random_network(recipe), recipe.seed + 1, inputs) {}
  /// The same with this network.
  ProofFiles(const Network& network, std::uint64_t seed, Index inputs = 2);
  ~ProofFiles();
  ProofFiles(const ProofFiles&) = delete;
  ProofFiles& operator=(const ProofFiles&) = delete;

  [[nodiscard]] std::string model() const { return folder_ / "model.safetensors"; }
  [[nodiscard]] std::string proof() const { return folder_ / "model.proof"; }
  [[nodiscard]] const std::vector<Result>& results() const { return results_; }

 private:
  std::filesystem::path folder_;
  std::vector<Result> results_;
};

/// A random network with a mask behind every activation.
Network masked(const NetworkRecipe& recipe, const Mask& mask);

/// What is proven of every input. Throws as the checker does.
std::vector<mixcert_check::Checked> check_files(const std::string& model, const std::string& proof);

std::string bytes_of(const std::string& path);
void write_bytes(const std::string& path, const std::string& bytes);

}  // namespace mixcert::testing
