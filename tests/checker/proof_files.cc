// Licensed under the Apache License, Version 2.0; see LICENSE.
#include "checker/proof_files.h"

#include <unistd.h>

#include <atomic>
#include <fstream>
#include <iterator>
#include <optional>
#include <utility>

#include "mixcert/certify/certify.h"
#include "mixcert/io/model_file.h"
#include "mixcert/io/proof_file.h"

namespace mixcert::testing {

ProofFiles::ProofFiles(const Network& network, std::uint64_t seed, Index inputs) {
  static std::atomic<int> made = 0;
  folder_ = std::filesystem::temp_directory_path() /
            ("mixcert_proof_" + std::to_string(getpid()) + "_" + std::to_string(made++));
  std::filesystem::create_directories(folder_);
  save_network(model(), network);
  Options options = options_with_proof({}, network);
  options.threads = 1;
  // The digest is the checker's own: the engine's is tested with the program.
  ProofWriter writer(proof(), network, mixcert_check::read_model(model()).sha256, options);
  Generator generator(seed);
  const Matrix points = random_matrix(generator, network.inputs(), inputs);
  results_ = certify(network, points, options);
  for (const Result& result : results_) writer.add(result, points.col(result.input));
  writer.finish();
}

ProofFiles::~ProofFiles() {
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

Network masked(const NetworkRecipe& recipe, const Mask& mask) {
  const Network network = random_network(recipe);
  std::vector<DenseLayer> layers;
  std::vector<ActivationMap> activations;
  std::vector<Mask> masks;
  for (Index k = 0; k < network.layer_count(); ++k) {
    layers.push_back(network.layer(k));
    activations.push_back(network.activation(k));
    masks.push_back(k == 0 ? Mask() : mask);
  }
  return {std::move(layers), std::move(activations), std::move(masks)};
}

std::vector<mixcert_check::Checked> check_files(const std::string& model_path,
                                                const std::string& proof_path) {
  const mixcert_check::Model model = mixcert_check::read_model(model_path);
  std::ifstream file(proof_path, std::ios::binary);
  std::optional<mixcert_check::Block> block = mixcert_check::read_block(file);
  if (!block) throw mixcert_check::BadFile("empty");
  mixcert_check::Proof proof(model, *std::move(block));
  std::vector<mixcert_check::Checked> all;
  while ((block = mixcert_check::read_block(file))) all.push_back(proof.check(*block));
  return all;
}

std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

void write_bytes(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc)
      .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

}  // namespace mixcert::testing
