// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// A zero-mean rbf process for a table. The fit with one length-scale comes first; the one with a length-scale
// for each input starts from it, so that it is never worse.
#include "prior/table_process.h"

#include <cmath>

#include "mixcert/core/error.h"
#include "mixcert/core/rng.h"
#include "statistics/simulate/normal_source.h"

namespace mixcert::lab {
namespace {

constexpr double kFirstNoiseVariance = 0.1;
/// Tells the noise of copies from other examples of the same seed.
constexpr std::uint64_t kCopyNoise = 0xC0B1E5;

Matrix columns(const FloatRows& rows) { return rows.cast<double>().transpose(); }

Vector targets(const Examples& examples) { return examples.targets.cast<double>(); }

GpFitOptions fit_options(const TableProcessOptions& options, const CancelFlag* cancel) {
  GpFitOptions fit;
  fit.starts = options.starts;
  fit.subset_size = options.subset_size;
  fit.most_evaluations = options.most_evaluations;
  fit.seed = options.seed;
  fit.cancel = cancel;
  return fit;
}

void require_table(const Dataset& data) {
  require(data.task == Task::Regression && data.outputs() == 1,
          "data: expected a regression with one output, got " + data.name);
}

}  // namespace

const OptionTable<TableProcessOptions>& table_process_table() {
  using Options = TableProcessOptions;
  static const OptionTable<Options> table = {
      choice_option<Options, LengthscaleChoice>("lengthscales", &Options::lengthscales,
                                                {{LengthscaleChoice::Ard, "ard"},
                                                 {LengthscaleChoice::Isotropic, "isotropic"},
                                                 {LengthscaleChoice::Auto, "auto"}},
                                                "one for each input, one for all, or what is likelier"),
      integer_option<Options, Index>("subset-size", &Options::subset_size, 0, 20000,
                                     "examples to fit parameters on, 0: all"),
      integer_option<Options, Index>("starts", &Options::starts, 1, 1000, "starts of each fit"),
      integer_option<Options, Index>("most-evaluations", &Options::most_evaluations, 1, 100000,
                                     "evaluations of the likelihood from each start"),
      integer_option<Options, std::uint64_t>("seed", &Options::seed, 0, UINT64_MAX,
                                             "of subset, starts and noisy copies"),
      integer_option<Options, Index>("copies", &Options::copies, 0, 1000,
                                     "noisy copies of each training input in --inputs-out"),
      real_option("copy-noise", &Options::copy_noise, 0.0,
                  "standard deviation of their noise, inputs standardised"),
  };
  return table;
}

GpScores TableProcess::in_data_units(const GpScores& scores) const {
  return {scores.root_mean_square_error * target_scale,
          scores.negative_log_likelihood + std::log(target_scale)};
}

TableProcess fit_table_process(const Dataset& data, const TableProcessOptions& options,
                               const CancelFlag* cancel) {
  require_table(data);
  const Matrix inputs = columns(data.train.inputs);
  const GpFitOptions choices = fit_options(options, cancel);
  const Vector unit = Vector::Ones(inputs.rows());
  TableProcess result;
  // Standardised inputs are about sqrt(2 d) apart.
  Kernel start = Kernel::parse("rbf").with_parameters(
      Eigen::Vector2d(0.5 * std::log(static_cast<double>(inputs.rows())), 0.0));
  result.fit = fit_gp({{}, start}, kFirstNoiseVariance, inputs, targets(data.train), choices);
  result.isotropic_likelihood = result.fit.log_marginal_likelihood;
  if (options.lengthscales != LengthscaleChoice::Isotropic) {
    const Vector found = result.fit.process.kernel.parameters().array().exp();
    GpFit ard = fit_gp({{}, Kernel::rbf(found(0) * unit, found(1))}, result.fit.noise_variance, inputs,
                       targets(data.train), choices);
    result.ard_likelihood = ard.log_marginal_likelihood;
    result.ard = options.lengthscales == LengthscaleChoice::Ard ||
                 ard.log_marginal_likelihood > result.fit.log_marginal_likelihood;
    if (result.ard) result.fit = std::move(ard);
  }
  const GpRegression regression(result.fit.process, result.fit.noise_variance, inputs, targets(data.train));
  result.jitter = regression.jitter();
  result.train = regression.scores(inputs, targets(data.train));
  result.test = regression.scores(columns(data.test.inputs), targets(data.test));
  if (data.standardisation.target_scale.size() == 1)
    result.target_scale = data.standardisation.target_scale(0);
  return result;
}

Matrix tuning_inputs(const FloatRows& inputs, Index copies, double noise, std::uint64_t seed) {
  const Matrix points = columns(inputs);
  Matrix all(points.rows(), points.cols() * (copies + 1));
  Generator generator = make_generator(seed, Stream::Example, kCopyNoise);
  fill_normal(generator, all);
  all *= noise;
  all.leftCols(points.cols()).setZero();
  for (Index copy = 0; copy <= copies; ++copy) all.middleCols(copy * points.cols(), points.cols()) += points;
  return all;
}

}  // namespace mixcert::lab
