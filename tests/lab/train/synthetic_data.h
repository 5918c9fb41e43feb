// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Small data sets with known answers.
#pragma once

#include "statistics/simulate/normal_source.h"
#include "train/random_stream.h"

namespace mixcert::lab {

inline FloatRows normal_rows(std::uint64_t seed, Index rows, Index columns) {
  Generator generator = make_generator(seed, Stream::Example);
  Matrix values(columns, rows);
  fill_normal(generator, values);
  return values.transpose().cast<float>();
}

/// y = X w + noise, with correlated columns of X.
inline Dataset linear_data(Index features, Index train, double noise_std) {
  const Index test = 50;
  FloatRows x = normal_rows(1, train + test, features);
  for (Index j = 1; j < features; ++j) x.col(j) += 0.5F * x.col(j - 1);
  const FloatRows w = normal_rows(2, features, 1);
  const FloatRows y = x * w + static_cast<float>(noise_std) * normal_rows(3, train + test, 1);
  Dataset data;
  data.name = "linear";
  data.task = Task::Regression;
  data.train = {x.topRows(train), y.topRows(train), {}};
  data.test = {x.bottomRows(test), y.bottomRows(test), {}};
  return data;
}

/// Classes differ in the mean of the pixels of one image quadrant.
inline Dataset image_data(Index side, Index train, Index classes) {
  Dataset data;
  data.name = "images";
  data.task = Task::Classification;
  data.classes = classes;
  data.image_shape = {1, side, side};
  std::uint64_t seed = 10;
  for (Examples* part : {&data.train, &data.test}) {
    part->inputs = 0.1F * normal_rows(seed++, train, side * side);
    for (Index n = 0; n < train; ++n) {
      const Index label = n % classes;
      part->labels.push_back(static_cast<int>(label));
      part->inputs.row(n).segment(label * side, side).array() += 1.0F;
    }
  }
  return data;
}

}  // namespace mixcert::lab
