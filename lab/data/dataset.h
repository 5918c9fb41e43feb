// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// A data set in memory, ready for training: images as floats in [0,1], tables standardised with
// the statistics of their training rows only. Rows are examples.
#pragma once

#include <Eigen/Core>
#include <array>
#include <string>
#include <vector>

#include "mixcert/core/types.h"

namespace mixcert::lab {

enum class Task { Regression, Classification };

using FloatRows = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// Examples of one split. Regression fills `targets`, classification `labels`.
struct Examples {
  FloatRows inputs;         ///< [examples, features]; images flattened as channel, row, column
  FloatRows targets;        ///< [examples, outputs], standardised like the inputs; else empty
  std::vector<int> labels;  ///< 0..classes-1; else empty

  [[nodiscard]] Index size() const { return inputs.rows(); }
};

/// standardised = (raw - mean) / scale, per column, statistics of the training rows.
struct Standardisation {
  Vector input_mean, input_scale;
  Vector target_mean, target_scale;
};

struct Dataset {
  std::string name;
  Task task = Task::Regression;
  Index classes = 0;                          ///< 0 for regression
  std::array<Index, 3> image_shape{0, 0, 0};  ///< channels, height, width; zeros for tables
  Examples train;
  Examples test;
  Standardisation standardisation;  ///< empty vectors for images

  [[nodiscard]] Index features() const { return train.inputs.cols(); }
  [[nodiscard]] Index outputs() const {
    return task == Task::Classification ? classes : train.targets.cols();
  }
};

}  // namespace mixcert::lab
