// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// A model file, inputs, and what can be said for certain about the network's output at each of them. Run from
// the root of the project, or give both files.
#include <iostream>

#include "mixcert/answer/answers.h"
#include "mixcert/io/input_file.h"
#include "mixcert/io/model_file.h"
#include "mixcert/mixcert.h"

int main(int argc, char** argv) {
  using namespace mixcert;
  try {
    const Network network = load_network(argc > 1 ? argv[1] : "examples/noisy_sines.safetensors");
    const Matrix inputs = read_inputs(argc > 2 ? argv[2] : "examples/noisy_sines_inputs.csv");
    certify(network, inputs, Options{}, [](Result&& result) {
      const CredibleInterval interval = credible_interval(coordinate(CertifiedLaw(result), 0), 0.9);
      std::cout << result << "\n  at least 90 % of the output lies in [" << interval.lower << ", "
                << interval.upper << "]\n";
    });
  } catch (const Error& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
}
