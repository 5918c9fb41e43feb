// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Layers of every type.
#include "support/random_specs.h"

#include <algorithm>

namespace mixcert::testing {

Index random_index(Generator& generator, Index low, Index high) {
  return low + static_cast<Index>(uniform(generator) * static_cast<double>(high - low + 1));
}

Window2d random_window(Generator& generator, const Size2d& image, bool is_pool) {
  const auto axis = [&](Index length, Index& kernel, Index& stride, Index& padding, Index& dilation) {
    kernel = random_index(generator, 1, std::min<Index>(3, length));
    padding = random_index(generator, 0, kernel / 2);
    stride = random_index(generator, 1, 3);
    const Index room = length + 2 * padding;
    const bool wide = !is_pool && 2 * (kernel - 1) + 1 <= room;
    dilation = wide ? random_index(generator, 1, 2) : 1;
  };
  Window2d w;
  axis(image.height, w.kernel.height, w.stride.height, w.padding.height, w.dilation.height);
  axis(image.width, w.kernel.width, w.stride.width, w.padding.width, w.dilation.width);
  return w;
}

Vector random_vector(Generator& generator, Index size) { return random_matrix(generator, size, 1); }

Vector random_positive(Generator& generator, Index size, double scale) {
  return scale * random_vector(generator, size).cwiseAbs();
}

void fill_convolution(Generator& generator, Conv2dSpec& spec, bool stochastic) {
  const Index entries =
      spec.out * (spec.in / spec.groups) * spec.window.kernel.height * spec.window.kernel.width;
  spec.kernel_mean = random_vector(generator, entries);
  spec.bias_mean = random_vector(generator, spec.out);
  if (!stochastic) return;
  spec.kernel_variance = random_positive(generator, entries, 0.1);
  spec.bias_variance = random_positive(generator, spec.out, 0.1);
}

Conv2dSpec random_convolution(Generator& generator, const LayerShape& before, bool stochastic,
                              const std::string& name) {
  Conv2dSpec spec;
  spec.name = name;
  spec.in = before.channels;
  spec.image = before.image;
  spec.window = random_window(generator, before.image, false);
  spec.groups = spec.in % 2 == 0 && uniform(generator) < 0.5 ? 2 : 1;
  spec.out = spec.groups * random_index(generator, 1, 2);
  fill_convolution(generator, spec, stochastic);
  return spec;
}

Conv2dSpec same_convolution(Generator& generator, const LayerShape& shape, bool stochastic,
                            const std::string& name) {
  Conv2dSpec spec;
  spec.name = name;
  spec.in = spec.out = shape.channels;
  spec.image = shape.image;
  spec.window = {{3, 3}, {1, 1}, {1, 1}, {1, 1}};
  fill_convolution(generator, spec, stochastic);
  return spec;
}

BatchNormSpec random_batch_norm(Generator& generator, Index channels, const std::string& name) {
  return {name,
          random_vector(generator, channels),
          random_vector(generator, channels),
          random_vector(generator, channels),
          random_positive(generator, channels, 1.0),
          1e-3};
}

LayerSpec activation_spec(ActivationFunction function) { return ActivationSpec{Activation(function, 0.1)}; }

}  // namespace mixcert::testing
