// Licensed under the Apache License, Version 2.0; see LICENSE.
#include "methods/prepared.h"

#include "core/kept.h"
#include "sensitivity/stoppable_norms.h"

namespace mixcert {

std::shared_ptr<const Sensitivity> kept_sensitivity(const Network& network) {
  return network.kept().get<Sensitivity>("sensitivity", [&] { return analyse_sensitivity(network); });
}

std::shared_ptr<const ErrorNorms> kept_error_norms(const Network& network, const Options& options,
                                                   const CancelFlag* cancel) {
  const SensitivityMode mode = options.sensitivity;
  return network.kept().get<ErrorNorms>(mode == SensitivityMode::Sdp ? "error norms, sdp" : "error norms",
                                        [&] { return make_error_norms(network, mode, cancel); });
}

std::shared_ptr<const InputNorms> kept_input_norms(const Network& network, const CancelFlag* cancel) {
  return network.kept().get<InputNorms>("input norms", [&] { return InputNorms(network, cancel); });
}

std::shared_ptr<const LocalChange> kept_local_change(const Network& network, const CancelFlag* cancel) {
  return network.kept().get<LocalChange>("local change", [&] { return LocalChange(network, cancel); });
}

}  // namespace mixcert
