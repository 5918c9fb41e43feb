// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Certificates of random graphs; a few graphs.
#include "certify/graph_property.h"

#include <gtest/gtest.h>

namespace mixcert::testing {
namespace graph_property_test {

TEST(GraphProperty, BoundsHoldOnRandomGraphs) { check_graphs(0, 30, 20000); }

TEST(GraphProperty, AChainWrittenAsAGraphHasTheChainsBits) { check_chains(30, 100); }

}  // namespace graph_property_test
}  // namespace mixcert::testing
