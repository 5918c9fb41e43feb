// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Certificates of random graphs; many graphs, many samples each.
#include <gtest/gtest.h>

#include "certify/graph_property.h"

namespace mixcert::testing {
namespace {

TEST(GraphPropertyHeavy, BoundsHoldOnRandomGraphs) { check_graphs(500, 100000); }

TEST(GraphPropertyHeavy, AChainWrittenAsAGraphHasTheChainsBits) { check_chains(500, 100); }

}  // namespace
}  // namespace mixcert::testing
