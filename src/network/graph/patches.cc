// Licensed under the Apache License, Version 2.0; see LICENSE.
#include "network/graph/patches.h"

#include <algorithm>

#include "network/layers/window_taps.h"

namespace mixcert {

Patches::Patches(const Window2d& window, const Size2d& image, Index channels)
    : window_(window), image_(image), out_(window_positions(window, image)), channels_(channels) {}

template <class Visit>
void Patches::for_each_row(Index i, Index j, Visit visit) const {
  const auto& [kernel, stride, padding, dilation] = window_;
  const TapRange rows =
      positions_inside(i, out_.height, image_.height, stride.height, padding.height, dilation.height);
  const TapRange columns =
      positions_inside(j, out_.width, image_.width, stride.width, padding.width, dilation.width);
  for (Index y = rows.first; y < rows.last; ++y) {
    const Index row = tap_pixel(y, i, stride.height, padding.height, dilation.height) * image_.width;
    visit(row + tap_pixel(columns.first, j, stride.width, padding.width, dilation.width),
          y * out_.width + columns.first, columns.last - columns.first);
  }
}

void Patches::gather(const double* image, Matrix& patches) const {
  patches.setZero(positions(), taps());
  const Index stride = window_.stride.width;
  Index column = 0;
  for (Index channel = 0; channel < channels_; ++channel) {
    const double* plane = image + channel * pixels();
    for (Index i = 0; i < window_.kernel.height; ++i) {
      for (Index j = 0; j < window_.kernel.width; ++j) {
        double* entries = patches.col(column++).data();
        for_each_row(i, j, [&](Index pixel, Index entry, Index count) {
          const double* from = plane + pixel;
          double* to = entries + entry;
          if (stride == 1) {  // a copy, which takes a fraction of the loop's time
            std::copy_n(from, count, to);
          } else {
            for (Index x = 0; x < count; ++x) to[x] = from[x * stride];
          }
        });
      }
    }
  }
}

void Patches::scatter(const Matrix& patches, double* image) const {
  const Index stride = window_.stride.width;
  Index column = 0;
  for (Index channel = 0; channel < channels_; ++channel) {
    double* plane = image + channel * pixels();
    for (Index i = 0; i < window_.kernel.height; ++i) {
      for (Index j = 0; j < window_.kernel.width; ++j) {
        const double* entries = patches.col(column++).data();
        for_each_row(i, j, [&](Index pixel, Index entry, Index count) {
          const double* from = entries + entry;
          double* to = plane + pixel;
          for (Index x = 0; x < count; ++x) to[x * stride] += from[x];
        });
      }
    }
  }
}

std::vector<Patches::Sight> Patches::seen_by(Index i, Index j) const {
  std::vector<Sight> sights;
  const Index stride = window_.stride.width;
  for_each_row(i, j, [&](Index pixel, Index entry, Index count) {
    for (Index x = 0; x < count; ++x) sights.push_back({pixel + x * stride, entry + x});
  });
  return sights;
}

}  // namespace mixcert
