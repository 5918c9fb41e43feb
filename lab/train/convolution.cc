// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Patches and pooling.
#include "train/convolution.h"

#include <algorithm>

namespace mixcert::lab {
namespace {

/// Result positions x with 0 <= x + shift < input length.
struct Span {
  Index begin, end;
};
Span valid_span(Index shift, Index input, Index result) {
  const Index begin = std::max<Index>(0, -shift);
  return {begin, std::max(begin, std::min(result, input - shift))};
}

/// Calls use(channel, first place in the image, first place in the columns' row, length) for every run of
/// pixels that row `row` of the columns takes from the image.
template <class Use>
void for_each_run(const Convolution& shape, Index row, const Use& use) {
  const Index area = shape.kernel * shape.kernel;
  const Index dy = row % area / shape.kernel - shape.padding;
  const Index dx = row % shape.kernel - shape.padding;
  const Span x = valid_span(dx, shape.width, shape.result_width());
  const Span y = valid_span(dy, shape.height, shape.result_height());
  for (Index line = y.begin; line < y.end; ++line) {
    use(row / area, (line + dy) * shape.width + dx + x.begin, line * shape.result_width() + x.begin,
        x.end - x.begin);
  }
}

template <class Use>
void for_each_window(const Convolution& shape, const Use& use) {
  Index at = 0;
  for (Index c = 0; c < shape.out; ++c) {
    for (Index y = 0; y < shape.result_height(); y += 2) {
      for (Index x = 0; x < shape.result_width(); x += 2, ++at) {
        use(at, c * shape.pixels() + y * shape.result_width() + x);
      }
    }
  }
}

}  // namespace

void image_to_columns(const Convolution& shape, const float* image, FloatRows& columns) {
  columns.setZero(shape.taps(), shape.pixels());
  for (Index row = 0; row < shape.taps(); ++row) {
    float* const target = columns.row(row).data();
    for_each_run(shape, row, [&](Index channel, Index from, Index to, Index length) {
      const float* source = image + channel * shape.height * shape.width + from;
      std::copy(source, source + length, target + to);
    });
  }
}

void columns_to_image(const Convolution& shape, const FloatRows& columns, FloatRows& image) {
  image.setZero(shape.in, shape.height * shape.width);
  for (Index row = 0; row < shape.taps(); ++row) {
    const float* const source = columns.row(row).data();
    for_each_run(shape, row, [&](Index channel, Index to, Index from, Index length) {
      float* const target = image.row(channel).data() + to;
      for (Index i = 0; i < length; ++i) target[i] += source[from + i];
    });
  }
}

void pool(const Convolution& shape, const FloatRows& response, std::vector<std::int32_t>& winners,
          float* pooled) {
  const float* const values = response.data();
  const Index width = shape.result_width();
  if (shape.pooling == Pooling::Average) {
    winners.clear();
    for_each_window(shape, [&](Index at, Index corner) {
      pooled[at] =
          0.25F * (values[corner] + values[corner + 1] + values[corner + width] + values[corner + width + 1]);
    });
    return;
  }
  winners.resize(static_cast<std::size_t>(shape.result_size()));
  for_each_window(shape, [&](Index at, Index corner) {
    Index best = corner;
    for (const Index other : {corner + 1, corner + width, corner + width + 1}) {
      if (values[other] > values[best]) best = other;
    }
    winners[static_cast<std::size_t>(at)] = static_cast<std::int32_t>(best);
    pooled[at] = values[best];
  });
}

void unpool(const Convolution& shape, const std::vector<std::int32_t>& winners, const float* pooled_gradient,
            FloatRows& gradient) {
  gradient.setZero(shape.out, shape.pixels());
  float* const values = gradient.data();
  if (shape.pooling == Pooling::Average) {
    const Index width = shape.result_width();
    for_each_window(shape, [&](Index at, Index corner) {
      for (const Index place : {corner, corner + 1, corner + width, corner + width + 1}) {
        values[place] = 0.25F * pooled_gradient[at];
      }
    });
    return;
  }
  for (std::size_t i = 0; i < winners.size(); ++i) values[winners[i]] = pooled_gradient[i];
}

}  // namespace mixcert::lab
