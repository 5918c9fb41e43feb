// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// A program of a user who links mixcert::tune from an installed tree, and with it gp: fitting needs NLopt at
// link time and no header of it.
#include "mixcert/gp/gaussian_process.h"
#include "mixcert/tune/tune.h"

int main() {
  const mixcert::Matrix inputs = mixcert::Vector::LinSpaced(30, -2.0, 2.0).transpose();
  const mixcert::Vector targets = inputs.row(0).array().sin().transpose();
  const mixcert::GpFit fit = mixcert::fit_gp({}, 0.1, inputs, targets, {});
  const mixcert::GpRegression regression(fit.process, fit.noise_variance, inputs, targets);
  mixcert::TuneOptions options;
  options.arch = "1-4-1";
  options.steps = 2;
  const mixcert::TuneProblem problem = mixcert::process_problem(fit.process, inputs, 1);
  const bool tuned = mixcert::tune(problem, options).history.size() == 2;
  return tuned && regression.scores(inputs, targets).root_mean_square_error < 0.05 ? 0 : 1;
}
