// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// A controller that asks, at every step, how far its learned model can be trusted: the model is compiled in,
// and the program links mixcert::core alone, which needs Eigen and nothing else.
#include <mixcert/mixcert.h>

#include <iostream>

namespace {

using namespace mixcert;

/// In an application these are the numbers of a trained posterior.
Network learned_model() {
  const DenseLayer first("first", Matrix::Constant(8, 2, 0.4), Vector::LinSpaced(8, -1.0, 1.0),
                         MeanFieldWeights{Matrix::Constant(8, 2, 1e-3)},
                         IndependentBias{Vector::Constant(8, 1e-3)});
  const DenseLayer second("second", Matrix::Constant(1, 8, 0.2), Vector::Zero(1),
                          MeanFieldWeights{Matrix::Constant(1, 8, 1e-4)},
                          IndependentBias{Vector::Constant(1, 1e-4)});
  return {{first, second}, {Activation(ActivationFunction::Identity), Activation(ActivationFunction::Tanh)}};
}

}  // namespace

int main() {
  const Network model = learned_model();
  Options options;
  options.threads = 1;
  Vector state{{0.2, -0.1}};
  for (int step = 0; step < 5; ++step) {
    const Result result = certify(model, state, options).front();
    // The true mean and deviation differ from the printed ones by at most the bound.
    std::cout << "step " << step << ", " << result << "\n";
    if (!(result.w2.value < 0.1)) return 1;
    state = Vector{{state(1), result.mixture.mean()(0)}};
  }
}
