// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The records of all functions. The switch has no default: a function without its record is an error of the
// compiler (-Werror=switch).
#include "activation/activation_traits.h"

#include <string>

#include "activation/functions/clipped_lines.h"
#include "activation/functions/elu.h"
#include "activation/functions/erf.h"
#include "activation/functions/exponential_left.h"
#include "activation/functions/gelu.h"
#include "activation/functions/hardswish.h"
#include "activation/functions/linear.h"
#include "activation/functions/mish.h"
#include "activation/functions/sigmoid.h"
#include "activation/functions/silu.h"
#include "activation/functions/softplus.h"
#include "activation/functions/softsign.h"
#include "activation/functions/tanh.h"
#include "mixcert/core/error.h"

namespace mixcert {

const ActivationTraits* find_traits(ActivationFunction function) {
  switch (function) {
    case ActivationFunction::Identity:
      return &functions::kIdentity;
    case ActivationFunction::Relu:
      return &functions::kRelu;
    case ActivationFunction::LeakyRelu:
      return &functions::kLeakyRelu;
    case ActivationFunction::Tanh:
      return &functions::kTanh;
    case ActivationFunction::Sigmoid:
      return &functions::kSigmoid;
    case ActivationFunction::Erf:
      return &functions::kErf;
    case ActivationFunction::Gelu:
      return &functions::kGelu;
    case ActivationFunction::Silu:
      return &functions::kSilu;
    case ActivationFunction::Softplus:
      return &functions::kSoftplus;
    case ActivationFunction::Elu:
      return &functions::kElu;
    case ActivationFunction::Relu6:
      return &functions::kRelu6;
    case ActivationFunction::Hardtanh:
      return &functions::kHardtanh;
    case ActivationFunction::Hardsigmoid:
      return &functions::kHardsigmoid;
    case ActivationFunction::Hardswish:
      return &functions::kHardswish;
    case ActivationFunction::Selu:
      return &functions::kSelu;
    case ActivationFunction::Celu:
      return &functions::kCelu;
    case ActivationFunction::Softsign:
      return &functions::kSoftsign;
    case ActivationFunction::Mish:
      return &functions::kMish;
    case ActivationFunction::LogSigmoid:
      return &functions::kLogSigmoid;
    case ActivationFunction::Tanhshrink:
      return &functions::kTanhshrink;
  }
  return nullptr;
}

const ActivationTraits& traits_of(ActivationFunction function) {
  const ActivationTraits* traits = find_traits(function);
  require(traits != nullptr, "activation: expected a function of the enum, got number " +
                                 std::to_string(static_cast<int>(function)));
  return *traits;
}

const ActivationTraits& traits_of(ActivationFunction function, const ActivationParameters& parameters) {
  if (function == ActivationFunction::Elu && parameters.alpha != 1.0) return functions::kKinkedElu;
  return traits_of(function);
}

}  // namespace mixcert
