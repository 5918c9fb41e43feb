// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// mixcert-check MODEL PROOF: recomputes every inequality of a proof in ball arithmetic.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <string>

#include "proof.h"

namespace {

using namespace mixcert_check;

constexpr const char* kUsage =
    "Usage: mixcert-check MODEL PROOF\n"
    "\n"
    "Proves anew, with real interval arithmetic and without the engine's code, what `mixcert certify --proof "
    "PROOF` claims\n"
    "about MODEL: at every input, W2(the network's output law, the Gaussian in PROOF) <= the bound in "
    "PROOF.\n"
    "\n"
    "Exit status: 0 all is proven, 1 something is not, 2 a file cannot be read or is not covered.\n"
    "\n"
    "Example: mixcert-check model.safetensors p.proof\n";

/// In six digits, no less than the number.
std::string rounded_up(double value) {
  char text[32];
  for (double raised = value;; raised = std::nextafter(raised + 1e-7 * std::abs(value), INFINITY)) {
    std::snprintf(text, sizeof text, "%.6g", raised);
    if (!(std::strtod(text, nullptr) < value)) return text;
  }
}

/// What files say is shown without control characters, and not without end.
std::string printable(std::string text) {
  for (char& letter : text) {
    if (letter < 0x20 || letter > 0x7e) letter = '?';
  }
  return text.size() <= 1000 ? text : text.substr(0, 1000) + "..";
}

int check(const std::string& model_path, const std::string& proof_path) {
  const Model model = read_model(model_path);
  std::ifstream file(proof_path, std::ios::binary);
  if (!file) throw BadFile("cannot open " + proof_path);
  std::optional<Block> block = read_block(file);
  if (!block) throw BadFile(proof_path + " is empty");
  Proof proof(model, std::move(*block));
  long inputs = 0;
  double largest = 0.0, slack = 1.0;
  while ((block = read_block(file))) {
    const Checked checked = proof.check(*block);
    if (inputs < 20)
      std::printf("input %ld  checked: W2 <= %s\n", checked.input, rounded_up(checked.claimed).c_str());
    if (inputs == 20) std::printf("..\n");
    ++inputs;
    largest = std::max(largest, checked.claimed);
    if (checked.proven > 0.0) slack = std::max(slack, checked.claimed / checked.proven);
  }
  if (inputs == 0) throw BadFile(proof_path + " claims nothing");
  std::printf("checked: W2 <= %s at all %ld inputs (claimed over proven: at most %.9g)\n",
              rounded_up(largest).c_str(), inputs, slack);
  return 0;
}

}  // namespace

int main(int count, char** arguments) {
  const std::string first = count > 1 ? arguments[1] : "";
  if (first == "--help" || first == "-h") {
    std::fputs(kUsage, stdout);
    return 0;
  }
  if (first == "--version") {
    std::puts("mixcert-check " MIXCERT_CHECK_VERSION " (Arb " ARB_VERSION ")");
    return 0;
  }
  if (count != 3) {
    std::fputs(kUsage, stderr);
    return 2;
  }
  try {
    return check(arguments[1], arguments[2]);
  } catch (const NotProven& error) {
    std::printf("not proven: %s\n", printable(error.what()).c_str());
    return 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "mixcert-check: %s\n", printable(error.what()).c_str());
    return 2;
  }
}
