// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// A program of a user who links mixcert::io from an installed tree: a model is written and read, which needs
// libzip and OpenSSL at link time and no header of theirs.
#include "mixcert/io/model_file.h"

int main(int /*argc*/, char** argv) {
  using namespace mixcert;
  const std::string path = std::string(argv[0]) + ".safetensors";
  const DenseLayer layer("only", Matrix::Identity(3, 3), Vector::Zero(3), DeterministicWeights{},
                         DeterministicBias{});
  save_network(path, Network({layer}, {Activation(ActivationFunction::Identity)}));
  return load_network(path).layer(0).weight_mean().isIdentity(0.0) ? 0 : 1;
}
