// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// What belongs to a network and options whatever the input, made once.
#pragma once

#include "mixcert/certificate/services.h"
#include "mixcert/network/network.h"
#include "sensitivity/error_norm.h"
#include "sensitivity/sensitivity.h"

namespace mixcert {

struct Prepared {
  const Network& network;
  const Options& options;
  const Services& services;
  Sensitivity sensitivity;
  ErrorNorms error_norms;  ///< empty where only signatures are asked for
};

}  // namespace mixcert
