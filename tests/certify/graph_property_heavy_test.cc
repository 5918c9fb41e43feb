// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Certificates of random graphs; many graphs, many samples each.
#include <gtest/gtest.h>

#include "certify/graph_property.h"

namespace mixcert::testing {
namespace graph_property_heavy_test {

/// Five hundred in tests of their own, which run side by side.
class GraphPropertyHeavy : public ::testing::TestWithParam<int> {};

TEST_P(GraphPropertyHeavy, BoundsHoldOnRandomGraphs) { check_graphs(50 * GetParam(), 50, 100000); }

INSTANTIATE_TEST_SUITE_P(Fifties, GraphPropertyHeavy, ::testing::Range(0, 10));

TEST(GraphChainsHeavy, AChainWrittenAsAGraphHasTheChainsBits) { check_chains(500, 100); }

}  // namespace graph_property_heavy_test
}  // namespace mixcert::testing
