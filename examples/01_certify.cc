// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The library in twenty lines: a network in code, one input, a mixture and its bound.
#include <iostream>

#include "mixcert/mixcert.h"

int main() {
  using namespace mixcert;
  const Matrix hidden = Matrix::Random(16, 2);
  const Matrix output = 0.3 * Matrix::Random(1, 16);
  const DenseLayer first("0", hidden, Vector::Zero(16), MeanFieldWeights{Matrix::Constant(16, 2, 0.01)},
                         IndependentBias{Vector::Constant(16, 0.01)});
  const DenseLayer second("1", output, Vector::Zero(1), MeanFieldWeights{Matrix::Constant(1, 16, 0.001)},
                          DeterministicBias{});
  const Network network({first, second},
                        {Activation(ActivationFunction::Identity), Activation(ActivationFunction::Tanh)});

  Options options;
  options.signature_size = 100;
  for (const Result& result : certify(network, Vector::Constant(2, 0.5), options)) {
    std::cout << result << "\n\n" << full_report(result);
  }
}
