// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The reference is one hidden layer, whose output's means and deviations the moment method has exactly: W2
// between two laws is no less than sum_i (difference of means)^2 + (difference of deviations)^2, whatever
// else they are (Gelbrich).
#include "checker/mutations.h"

#include <cmath>
#include <cstring>
#include <fstream>
#include <optional>

#include "checker/proof_files.h"
#include "mixcert/certify/certify.h"
#include "mixcert/io/model_file.h"
#include "mixcert/io/proof_file.h"

namespace mixcert::testing {
namespace {

using mixcert_check::Block;

std::uint64_t below(Generator& generator, std::uint64_t end) { return generator() % end; }

void flip_bit(Generator& generator, std::string& bytes) {
  const std::size_t place = below(generator, bytes.size());
  bytes[place] = static_cast<char>(bytes[place] ^ (1 << below(generator, 8)));
}

/// A number of the last 300, where claims are, by a factor near one or far from it.
void change_number(Generator& generator, std::string& bytes) {
  const std::size_t end = bytes.size() / 8 * 8,
                    place = end - 8 * (1 + below(generator, std::min<std::size_t>(end / 8, 300)));
  double value = 0.0;
  std::memcpy(&value, bytes.data() + place, sizeof value);
  const double factors[] = {1.0 - 1e-9, 0.5, 1.0 + 1e-6, -1.0, 0.9, 2.0};
  value *= factors[below(generator, 6)];
  std::memcpy(bytes.data() + place, &value, sizeof value);
}

/// A digit or letter of the first 2,000 bytes, where headers are.
void change_character(Generator& generator, std::string& bytes) {
  const std::size_t place = below(generator, std::min<std::size_t>(bytes.size(), 2000));
  bytes[place] = "0123456789abcdef\"{}[],:"[below(generator, 23)];
}

/// Another model, and the proof says so.
void change_model(Generator& generator, std::string& model, std::string& proof,
                  const std::string& model_path) {
  flip_bit(generator, model);
  const std::string before = mixcert_check::read_model(model_path).sha256;
  write_bytes(model_path, model);
  const std::size_t place = proof.find(before);
  proof.replace(place, before.size(), mixcert_check::read_model(model_path).sha256);
}

/// Is W2 > bound for certain?
bool is_false(const Network& network, const Block& claim) {
  const std::vector<double>& x = claim.tensors.at("input").values;
  const Vector input = Eigen::Map<const Vector>(x.data(), static_cast<Index>(x.size()));
  const Result truth = certify(network, input, options_with_proof({}, network)).front();
  const Vector mean = truth.mixture.mean(), deviation = truth.mixture.standard_deviation();
  double apart = 0.0;
  for (Index i = 0; i < mean.size(); ++i) {
    const auto place = static_cast<std::size_t>(i);
    const double variance =
        claim.tensors.at("covariance").values[place * static_cast<std::size_t>(mean.size() + 1)];
    apart += std::pow(mean(i) - claim.tensors.at("mean").values[place], 2) +
             std::pow(deviation(i) - std::sqrt(std::fmax(variance, 0.0)), 2);
  }
  return std::sqrt(apart) >
         claim.tensors.at("w2_bound").values.front() * (1.0 + 1e-6) + 1e-7 * mean.norm() + 1e-9;
}

bool has_false_claim(const ProofFiles& files) {
  const Network network = load_network(files.model());
  std::ifstream file(files.proof(), std::ios::binary);
  (void)mixcert_check::read_block(file);
  while (const std::optional<Block> claim = mixcert_check::read_block(file)) {
    if (is_false(network, *claim)) return true;
  }
  return false;
}

}  // namespace

MutationCounts mutate(std::uint64_t seed, int count) {
  Generator generator(seed);
  const ActivationFunction functions[] = {ActivationFunction::Relu, ActivationFunction::LeakyRelu,
                                          ActivationFunction::Softplus};
  const NetworkRecipe recipe{.widths = {2, 4, 2}, .activation = functions[seed % 3], .seed = seed};
  const ProofFiles files(masked(recipe, seed % 2 == 0 ? Mask() : Mask::bernoulli(0.3)), seed, 1);
  const std::string model = bytes_of(files.model()), proof = bytes_of(files.proof());
  MutationCounts counts;
  for (int i = 0; i < count; ++i) {
    std::string changed_model = model, changed = proof;
    write_bytes(files.model(), model);
    try {
      switch (i % 4) {
        case 0:
          flip_bit(generator, changed);
          break;
        case 1:
          change_number(generator, changed);
          break;
        case 2:
          change_character(generator, changed);
          break;
        default:
          change_model(generator, changed_model, changed, files.model());
      }
      write_bytes(files.proof(), changed);
      if (check_files(files.model(), files.proof()).empty()) throw mixcert_check::BadFile("claims nothing");
    } catch (const std::runtime_error&) {
      ++counts.refused;
      continue;
    }
    ++counts.accepted;
    // Throws where the engine cannot read what the checker has read.
    counts.false_claims += has_false_claim(files) ? 1 : 0;
  }
  return counts;
}

}  // namespace mixcert::testing
