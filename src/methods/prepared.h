// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// What belongs to a network and options whatever the input. What takes long is kept with the network, so that
// the next call costs its inputs alone.
#pragma once

#include <memory>

#include "mixcert/certificate/services.h"
#include "mixcert/network/network.h"
#include "sensitivity/error_norm.h"
#include "sensitivity/input_norms.h"
#include "sensitivity/local_change.h"
#include "sensitivity/sensitivity.h"

namespace mixcert {

struct Prepared {
  const Network& network;
  const Options& options;
  const Services& services;
  std::shared_ptr<const Sensitivity> sensitivity;  ///< null where no method asks for it
  std::shared_ptr<const ErrorNorms> error_norms;   ///< null where only signatures are asked for
};

/// The network's, made where they are not there.
std::shared_ptr<const Sensitivity> kept_sensitivity(const Network& network);
std::shared_ptr<const ErrorNorms> kept_error_norms(const Network& network, const Options& options,
                                                   const CancelFlag* cancel);
std::shared_ptr<const InputNorms> kept_input_norms(const Network& network, const CancelFlag* cancel);
std::shared_ptr<const LocalChange> kept_local_change(const Network& network, const CancelFlag* cancel);

}  // namespace mixcert
