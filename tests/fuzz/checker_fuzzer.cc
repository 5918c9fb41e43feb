// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Fuzzes mixcert-check: a model, its length in front of it, and a proof behind it. Of small networks the
// proof is checked.
#include <cstddef>
#include <cstdint>
#include <sstream>
#include <string>

#include "checker/proof.h"

namespace {

constexpr long kMostNeurons = 8;

bool is_small(const mixcert_check::Model& model) {
  long neurons = 0;
  for (const mixcert_check::Layer& layer : model.layers) neurons += layer.outputs + layer.inputs;
  return neurons <= 4 * kMostNeurons;
}

void check(const std::string& bytes) {
  const std::size_t length =
      static_cast<unsigned char>(bytes[0]) * 256U + static_cast<unsigned char>(bytes[1]);
  if (bytes.size() < 2 + length) return;
  std::istringstream file(bytes.substr(2 + length));
  std::optional<mixcert_check::Block> block = mixcert_check::read_block(file);
  mixcert_check::Model model = mixcert_check::parse_model(bytes.substr(2, length));
  if (!block || !is_small(model)) return;
  model.sha256 = block->text("model");  // no fuzzer finds a digest
  mixcert_check::Proof proof(model, *std::move(block));
  while ((block = mixcert_check::read_block(file))) (void)proof.check(*block);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  try {
    check(std::string(reinterpret_cast<const char*>(data), size));
  } catch (const mixcert_check::BadFile&) {
  } catch (const mixcert_check::NotProven&) {
  }
  return 0;
}
