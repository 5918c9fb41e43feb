// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Symbols (O.2): an image continued by zero on a torus that is large enough is turned by the discrete Fourier
// transform into one small matrix per frequency, out x (in phases), and the norm is the largest of theirs.
// The patch bound |kernel| (windows that see a pixel)^{1/2} is three to nine times as large.
#include "network/graph/convolution_norm.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "mixcert/core/rounding.h"
#include "mixture/verified_norm.h"
#include "network/layers/window_taps.h"

namespace mixcert {
namespace {

/// Half a minute.
constexpr double kMostWork = 1e11;

/// Where the taps of one axis go when images are cut into `stride` phases: tap i looks at pixel
/// stride (u + shift) + phase of position u. Taps that see padding alone are left out: without them the torus
/// is no longer than a few images.
struct Axis {
  Index stride, torus = 0;
  std::vector<Index> taps, shift, phase;

  Axis(Index kernel, Index own_stride, Index padding, Index dilation, Index length, Index positions)
      : stride(own_stride) {
    for (Index i = 0; i < kernel; ++i) {
      const TapRange seen = positions_inside(i, positions, length, stride, padding, dilation);
      if (seen.first >= seen.last) continue;
      taps.push_back(i);
      const Index offset = i * dilation - padding;
      const Index down = offset >= 0 ? offset / stride : -((-offset + stride - 1) / stride);
      shift.push_back(down);
      phase.push_back(offset - down * stride);
    }
    if (taps.empty()) return;
    const auto [least, most] = std::minmax_element(shift.begin(), shift.end());
    torus = (length + stride - 1) / stride + (*most - *least);
  }
};

/// exp(2 pi i k / n) for all k.
struct Turns {
  Vector cosines, sines;

  explicit Turns(Index n) : cosines(n), sines(n) {
    for (Index k = 0; k < n; ++k) {
      const double angle = 2.0 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(n);
      cosines(k) = std::cos(angle);
      sines(k) = std::sin(angle);
    }
  }
};

Index modulo(Index a, Index n) { return ((a % n) + n) % n; }

class Symbol {
 public:
  Symbol(const Conv2dSpec& spec, Index group)
      : window_(spec.window),
        rows_(window_.kernel.height, window_.stride.height, window_.padding.height, window_.dilation.height,
              spec.image.height, window_positions(window_, spec.image).height),
        columns_(window_.kernel.width, window_.stride.width, window_.padding.width, window_.dilation.width,
                 spec.image.width, window_positions(window_, spec.image).width),
        row_turns_(rows_.torus),
        column_turns_(columns_.torus),
        out_(spec.out / spec.groups),
        in_(spec.in / spec.groups),
        kernel_(spec.kernel_mean.data() + group * out_ * in_ * taps()) {}

  /// Multiplications of norm(), about.
  [[nodiscard]] double work() const {
    const double side = static_cast<double>(out_ + in_ * rows_.stride * columns_.stride);
    return static_cast<double>(rows_.torus) * static_cast<double>(columns_.torus) * side * side * side;
  }

  /// Norms at all frequencies, the second half of which are conjugate to the first.
  [[nodiscard]] double norm() const {
    double best = 0.0;
    for (Index f = 0; 2 * f <= rows_.torus; ++f) {
      for (Index g = 0; g < columns_.torus; ++g) {
        const Matrix symbol = at(f, g);
        if (!is_norm_at_most(symbol, best)) best = std::max(best, spectral_norm(symbol));
      }
    }
    return enlarged(best + rounding());
  }

 private:
  [[nodiscard]] Index taps() const { return window_.kernel.height * window_.kernel.width; }

  /// The complex matrix A + iB as [A, -B; B, A], which has the same norm.
  [[nodiscard]] Matrix at(Index f, Index g) const {
    const Index phases = rows_.stride * columns_.stride;
    Matrix real = Matrix::Zero(out_, in_ * phases), imaginary = real;
    for (std::size_t y = 0; y < rows_.taps.size(); ++y) {
      for (std::size_t x = 0; x < columns_.taps.size(); ++x) {
        const Index i = rows_.taps[y], j = columns_.taps[x];
        const Index a = modulo(f * rows_.shift[y], rows_.torus);
        const Index b = modulo(g * columns_.shift[x], columns_.torus);
        const double cosine =
            row_turns_.cosines(a) * column_turns_.cosines(b) - row_turns_.sines(a) * column_turns_.sines(b);
        const double sine =
            row_turns_.sines(a) * column_turns_.cosines(b) + row_turns_.cosines(a) * column_turns_.sines(b);
        const Index phase = rows_.phase[y] * columns_.stride + columns_.phase[x];
        for (Index out = 0; out < out_; ++out) {
          for (Index in = 0; in < in_; ++in) {
            const double weight = kernel_[(out * in_ + in) * taps() + i * window_.kernel.width + j];
            real(out, in * phases + phase) += weight * cosine;
            imaginary(out, in * phases + phase) += weight * sine;
          }
        }
      }
    }
    Matrix both(2 * out_, real.cols() * 2);
    both << real, -imaginary, imaginary, real;
    return both;
  }

  /// Of all entries of a symbol together: sums of taps with turns that are off by a few units.
  [[nodiscard]] double rounding() const {
    double size = 0.0;
    for (Index k = 0; k < out_ * in_; ++k) {
      double sum = 0.0;
      for (Index tap = 0; tap < taps(); ++tap) sum += std::abs(kernel_[k * taps() + tap]);
      size += sum * sum;
    }
    return rounding_gamma(taps() + 128) * 2.0 * std::sqrt(size);
  }

  Window2d window_;
  Axis rows_, columns_;
  Turns row_turns_, column_turns_;
  Index out_, in_;
  const double* kernel_;
};

}  // namespace

double convolution_norm(const Conv2dSpec& spec) {
  const Index rows = spec.kernel_mean.size() / spec.out;
  double norm = 0.0, work = 0.0;
  for (Index group = 0; group < spec.groups; ++group) {
    const Symbol symbol(spec, group);
    work += symbol.work();
    if (work > kMostWork) break;
    norm = std::max(norm, symbol.norm());
  }
  if (work <= kMostWork) return norm;
  // |M| <= |kernel| (windows that see a pixel)^{1/2}, the kernel's norm by its own size.
  const Eigen::Map<const Matrix> kernel(spec.kernel_mean.data(), rows, spec.out);
  return enlarged(kernel.norm() * std::sqrt(most_windows(spec.window, spec.image)));
}

}  // namespace mixcert
