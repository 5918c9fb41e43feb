// Licensed under the Apache License, Version 2.0; see LICENSE.
#include "network/mask_sums/reverse_water_filling.h"

#include <algorithm>
#include <cmath>

#include "mixcert/core/rounding.h"
#include "mixture/symmetric_eigen.h"

namespace mixcert {

Vector proven_eigenvalues(const Matrix& matrix, double error) {
  const Index m = matrix.rows();
  const Matrix basis = symmetric_eigen(matrix).vectors;
  Matrix image = basis.transpose() * (matrix * basis);
  const Vector diagonal = image.diagonal();
  image.diagonal().setZero();
  const double size = enlarged(basis.squaredNorm());
  // |basis|^2 <= 1 + defect, whatever the eigensolver made.
  const double defect = enlarged((basis.transpose() * basis - Matrix::Identity(m, m)).norm() +
                                 rounding_gamma(m + 4) * (size + static_cast<double>(m)));
  const double off = enlarged(image.norm()) + rounding_gamma(2 * m + 16) * size * enlarged(matrix.norm());
  // Weyl's and Ostrowski's inequalities: the image has eigenvalues within `off` of its diagonal, and they are
  // those of the matrix times at most 1 + defect.
  const double taken = enlarged(off + (1.0 + defect) * error);
  return positive_part(((diagonal.array() - taken) / (1.0 + defect)).matrix()) * (1.0 - kKernelSlack);
}

namespace {

struct WaterLevel {
  double rate = 0.0, distortion = 0.0;
};

WaterLevel at_level(const std::vector<WeightedSpectrum>& spectra, double level) {
  WaterLevel sum;
  for (const WeightedSpectrum& spectrum : spectra) {
    for (const double value : spectrum.values) {
      if (!(value > 0.0)) continue;
      sum.distortion += spectrum.weight * std::min(level, value);
      if (value > level) sum.rate += 0.5 * spectrum.weight * std::log(value / level);
    }
  }
  return sum;
}

}  // namespace

double least_distortion(const std::vector<WeightedSpectrum>& spectra, double entropy) {
  double largest = 0.0, count = 0.0;
  for (const WeightedSpectrum& spectrum : spectra) {
    if (spectrum.values.size() == 0) continue;
    if (!spectrum.values.allFinite()) return 0.0;
    largest = std::max(largest, spectrum.values.maxCoeff());
    count += spectrum.weight * static_cast<double>(spectrum.values.size());
  }
  if (!(largest > 0.0) || !std::isfinite(entropy)) return 0.0;
  // A level is low enough where its rate is proven to be no less than the entropy: the distortion decreases
  // in the rate. Logarithms are off by a few units, weights by 1e-9 of themselves.
  const auto is_low_enough = [&](double level) {
    return reduced(reduced(at_level(spectra, level).rate)) - 1e-12 * (1.0 + count) >= enlarged(entropy);
  };
  double low = std::log(largest) - 600.0, high = std::log(largest);
  if (!is_low_enough(std::exp(low))) return 0.0;
  for (int step = 0; step < 64; ++step) {
    const double middle = 0.5 * (low + high);
    (is_low_enough(std::exp(middle)) ? low : high) = middle;
  }
  return reduced(reduced(reduced(at_level(spectra, std::exp(low)).distortion)));
}

}  // namespace mixcert
