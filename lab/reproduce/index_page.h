// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// One page over all experiments.
#pragma once

#include "report/pages/page_document.h"
#include "reproduce/experiment.h"

namespace mixcert::lab {

/// The index page over the outcomes, in the order of experiments(); `outcomes` has one entry for each, null
/// where it was not run.
page::Page index_page(const Context& context, const std::vector<const Outcome*>& outcomes);

}  // namespace mixcert::lab
