// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Nodes and weights for expectations under N(0,1): the trapezoidal rule on the line (V.4) for functions
// analytic in a strip that is not too narrow, Gauss-Legendre panels (V.3) for functions analytic piece by
// piece or in a narrow strip.
#pragma once

#include <Eigen/Core>

#include "mixcert/activation/activation.h"

namespace mixcert {

inline constexpr int kMostNodes = 1024;
/// No less than |f'| of the smooth activations on the line.
inline constexpr double kSteepest = 1.1290;
/// Covers products of small relative errors.
inline constexpr double kMargin = 1.01;
/// Both rules reach from -kCut to kCut.
inline constexpr double kCut = 9.0;

/// An array that lives on the stack.
using NodeArray = Eigen::Array<double, Eigen::Dynamic, 1, Eigen::ColMajor, kMostNodes, 1>;

struct WeightedNodes {
  double step = 0.0;  ///< of the trapezoidal rule
  NodeArray nodes;
  NodeArray weights;            ///< w
  NodeArray first_weights;      ///< w x
  NodeArray curvature_weights;  ///< w (x^2 - 1) / sqrt 2

  /// From nodes and the weights of the Lebesgue measure: multiplies by the normal density.
  void apply_density();
};

/// The coarsest tabulated trapezoidal rule whose step is at most `longest_step`; null when it would need too
/// many nodes.
const WeightedNodes* trapezoid_rule(double longest_step);

/// Where an activation is not close to its limits: z in [lower, upper], in panels no wider than
/// `panel_width`. Outside it is linear up to one unit of roundoff. Ends of the zone are ends of panels.
struct ActiveZone {
  double lower, upper, panel_width;
};

/// 16 Gauss-Legendre nodes in each panel of [-kCut, kCut]. deviation > 0.
void place_panels(const ActiveZone& zone, double mean, double deviation, WeightedNodes& rule);

/// 16 nodes in each panel of [lower, upper], panels no wider than `widest`.
void place_equal_panels(double lower, double upper, double widest, WeightedNodes& rule);

/// The same of [-cut, cut], cut <= 12: panels of x no wider than kWidestPanel, between which lie the points
/// where m + s x is one of [begin, end), rising and 48 at most.
void place_cut_panels(const double* begin, const double* end, double mean, double deviation, double cut,
                      WeightedNodes& rule);

/// The same of [-cut, cut], cut <= 12: panels of width `finest` >= 1e-6 at `center`, doubling away from it,
/// so that a function with a kink at the center, or poles at a distance of `finest` from it, is integrated to
/// roundoff.
void place_graded_panels(double center, double finest, double cut, WeightedNodes& rule);

// Of the panels: Bernstein ellipse, widest panel (in x), and the constants of their error (V.3).
inline constexpr double kEllipse = 4.0;
inline constexpr double kWidestPanel = 1.5;
inline constexpr double kPanelErrorFactor = 6e-18;
inline constexpr double kPanelRadius = 11.0;

// Values of smooth activations at many nodes, less their value at the mean, (V.6).

/// z = m + s x is split as f(z) = [line] z + g(z). The line is taken off where f follows it on the side of m
/// (Limits::follows_line): g then stays bounded near m, and large means cost no accuracy.
struct NodeValues {
  bool line = false;
  double center = 0.0;  ///< the computed g(m); in what follows an exact number
  NodeArray values;     ///< g(m + s x) - center, node by node
};

/// No less than (E x^4)^{1/4}.
inline constexpr double kFourthNorm = 1.3161;

/// e_4 of (V.6): the error of a value at a node x is at most u (112 + s (8 + 64 |x|)); this is its fourth
/// norm over the nodes, and its root mean square is no larger. One per cent covers that nodes stand for x.
double node_error(double deviation);

/// Errors are those of (V.6) for smooth functions.
void evaluate_nodes(const Activation& activation, double mean, double deviation, const NodeArray& nodes,
                    NodeValues& result);

/// f'(m + s x) at every node, to 64 units of roundoff.
void evaluate_slopes(const Activation& activation, double mean, double deviation, const NodeArray& nodes,
                     NodeArray& slopes);

}  // namespace mixcert
