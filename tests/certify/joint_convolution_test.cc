// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Several inputs jointly behind a stochastic convolution: the first law has blocks of positions times inputs,
// larger than one neuron's.
#include <gtest/gtest.h>

#include "mixcert/certify/certify.h"
#include "mixcert/network/network_builder.h"
#include "mixcert/statistics/simulate.h"
#include "support/random_specs.h"

namespace mixcert::testing {
namespace joint_convolution_test {

Network convolution_network(Generator& generator, ActivationFunction function) {
  LayerShape shape;
  shape.channels = 2;
  shape.image = {2, 3};
  shape.is_image = true;
  const Index features = shape.size();
  const DenseLayer hidden("hidden", 0.4 * random_matrix(generator, 3, features), Vector::Zero(3),
                          MeanFieldWeights{Matrix::Constant(3, features, 0.03)},
                          IndependentBias{Vector::Constant(3, 0.01)});
  const DenseLayer output("output", random_matrix(generator, 1, 3), Vector::Zero(1),
                          MeanFieldWeights{Matrix::Constant(1, 3, 0.02)}, DeterministicBias{});
  return build_network({same_convolution(generator, shape, true), activation_spec(function), FlattenSpec{},
                        DenseSpec{hidden}, activation_spec(ActivationFunction::Relu), DenseSpec{output}});
}

TEST(JointConvolution, BoundsAreAboveTheLowerBound) {
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    Generator generator = make_generator(seed, Stream::Example, 77);
    const Network network =
        convolution_network(generator, seed % 2 == 0 ? ActivationFunction::Tanh : ActivationFunction::Relu);
    const Matrix inputs = random_matrix(generator, network.inputs(), 2);
    SimulationOptions simulation;
    simulation.samples = 20000;
    simulation.threads = 1;
    const Matrix samples = simulate_joint(network, inputs, simulation);
    for (const Method method : {Method::Moment, Method::Signature}) {
      Options options;
      options.joint = true;
      options.method = method;
      if (method == Method::Moment) options.theorems = TheoremSet::Coupling;
      const Result result = certify(network, inputs, options).front();
      EXPECT_GE(result.w2.value, gelbrich_lower_bound(samples, result.mixture, 1, 0).lower) << seed;
      EXPECT_EQ(result.mixture.dimension(), 2);
    }
  }
}

}  // namespace joint_convolution_test
}  // namespace mixcert::testing
