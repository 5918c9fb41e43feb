// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// prove DIR: a fixed network, DIR/model.safetensors, and proofs of it at four inputs by the engine that this
// is linked with, DIR/model.proof.
#include <filesystem>

#include "io/files/byte_source.h"
#include "mixcert/certify/certify.h"
#include "mixcert/core/rng.h"
#include "mixcert/io/model_file.h"
#include "mixcert/io/proof_file.h"

namespace {

using namespace mixcert;

Matrix drawn(Generator& generator, Index rows, Index columns, double size) {
  Matrix made(rows, columns);
  for (double& entry : made.reshaped()) entry = size * (2.0 * uniform(generator) - 1.0);
  return made;
}

DenseLayer layer(Generator& generator, const std::string& name, Index inputs, Index outputs) {
  return {name, drawn(generator, outputs, inputs, 1.0), drawn(generator, outputs, 1, 0.5).col(0),
          MeanFieldWeights{drawn(generator, outputs, inputs, 0.2).cwiseAbs2()},
          IndependentBias{Vector::Constant(outputs, 0.01)}};
}

}  // namespace

int main(int, char** arguments) {
  const std::filesystem::path folder = arguments[1];
  Generator generator(1);
  const Activation f(ActivationFunction::Tanh);
  const Network network(
      {layer(generator, "a", 3, 10), layer(generator, "b", 10, 10), layer(generator, "c", 10, 2)},
      {Activation(), f, f});
  save_network(folder / "model.safetensors", network);
  const Options options = options_with_proof({}, network);
  ProofWriter writer(folder / "model.proof", network, sha256_of_file(folder / "model.safetensors"), options);
  const Matrix inputs = drawn(generator, 3, 4, 1.0);
  for (const Result& result : certify(network, inputs, options)) writer.add(result, inputs.col(result.input));
  writer.finish();
  return 0;
}
