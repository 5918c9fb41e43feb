// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The Eigen types used at every interface: doubles, dynamic sizes.
#pragma once

#include <Eigen/Core>

namespace mixcert {

using Index = Eigen::Index;
using Vector = Eigen::VectorXd;
using Matrix = Eigen::MatrixXd;
using ConstVectorRef = const Eigen::Ref<const Vector>&;
using ConstMatrixRef = const Eigen::Ref<const Matrix>&;

}  // namespace mixcert
