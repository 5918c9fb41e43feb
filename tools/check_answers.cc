// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// check_answers RESULT MODEL SAMPLES [classes]: compares the answers of a result file with Monte Carlo
// samples of the network that it was made from, at every input: does each proven range hold the sampled
// value, five standard errors allowed, and how wide is it? Exit code 1 where one does not.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <map>
#include <string>
#include <vector>

#include "mixcert/answer/questions.h"
#include "mixcert/core/error.h"
#include "mixcert/io/model_file.h"
#include "mixcert/io/result_file.h"
#include "mixcert/statistics/simulate.h"

namespace mixcert {
namespace {

struct Tally {
  Index asked = 0;
  Index held = 0;
  std::vector<double> widths;
};

class Check {
 public:
  void add(const std::string& question, const Interval& range, double value, double standard_error) {
    Tally& tally = tallies_[question];
    ++tally.asked;
    const double slack = 5.0 * standard_error;
    tally.held += range.lower <= value + slack && value - slack <= range.upper ? 1 : 0;
    tally.widths.push_back(range.width());
  }
  /// Prints all; were all ranges right?
  bool print() {
    bool right = true;
    std::printf("%-26s %8s %8s %14s\n", "question", "asked", "held", "median width");
    for (auto& [question, tally] : tallies_) {
      std::sort(tally.widths.begin(), tally.widths.end());
      std::printf("%-26s %8ld %8ld %14.4g\n", question.c_str(), static_cast<long>(tally.asked),
                  static_cast<long>(tally.held), tally.widths[tally.widths.size() / 2]);
      right = right && tally.held == tally.asked;
    }
    return right;
  }

 private:
  std::map<std::string, Tally> tallies_;
};

double error_of_mean(const Eigen::ArrayXd& values) {
  return std::sqrt((values - values.mean()).square().mean() / static_cast<double>(values.size()));
}

void check_mean(Check& check, const std::string& question, const Interval& range,
                const Eigen::ArrayXd& values) {
  check.add(question, range, values.mean(), error_of_mean(values));
}

void check_moments(Check& check, const LawAnswers& answers, const Matrix& y) {
  for (Index i = 0; i < y.rows(); ++i) {
    const Eigen::ArrayXd row = y.row(i).transpose().array();
    const auto place = static_cast<std::size_t>(i);
    check_mean(check, "mean", answers.moments.means[place], row);
    const Eigen::ArrayXd squares = (row - row.mean()).square();
    const double deviation = std::sqrt(squares.mean());
    check.add("standard deviation", answers.moments.deviations[place], deviation,
              error_of_mean(squares) / (2.0 * deviation));
    const CredibleInterval& credible = answers.credible[place];
    const Eigen::ArrayXd inside = (row >= credible.lower && row <= credible.upper).cast<double>();
    check.add("credible 95 %: mass", {credible.level, credible.level, 1.0}, inside.mean(),
              std::max(error_of_mean(inside), 1.0 / static_cast<double>(row.size())));
    for (Index j = 0; j < i; ++j) {
      const Eigen::ArrayXd other = y.row(j).transpose().array();
      check_mean(check, "covariance", answers.covariances->entry(i, j),
                 (row - row.mean()) * (other - other.mean()));
    }
  }
}

void check_classes(Check& check, const ClassAnswer& answer, const Matrix& y) {
  const Eigen::ArrayXXd e = (y.rowwise() - y.colwise().maxCoeff()).array().exp();
  const Eigen::ArrayXXd softmax = e.rowwise() / e.colwise().sum();
  for (Index c = 0; c < y.rows(); ++c)
    check_mean(check, "softmax probability", answer.probabilities[static_cast<std::size_t>(c)],
               softmax.row(c).transpose());
  Index best = 0;
  softmax.rowwise().mean().maxCoeff(&best);
  if (answer.settled) check.add("settled class", {0.0, 0.0, 0.0}, best == answer.predicted ? 0.0 : 1.0, 0.0);
}

bool run(const std::string& result, const std::string& model, Index samples, bool classes) {
  const StoredRun stored = read_run(result);
  const RunRecord& record = stored.require_record("check_answers");
  require(!record.joint, "check_answers: expected a result at single inputs");
  const Ensemble ensemble = load_ensemble(model);
  Questions questions;
  questions.covariances = true;
  questions.classes = classes;
  const Index outputs = ensemble.outputs();
  for (Index i = 0; i < outputs; ++i)
    questions.statements.push_back({Matrix(Vector::Unit(outputs, i).transpose()), Vector::Zero(1)});
  Check check;
  for (Index input = 0; input < stored.inputs.cols(); ++input) {
    const StoredResult& row = stored.results[static_cast<std::size_t>(input)];
    const CertifiedLaw law(row.mixture, row.w2_bound, row.w1_bound);
    const LawAnswers answers = answer(law, questions, {}, static_cast<std::uint64_t>(input));
    const Matrix y = simulate(ensemble, stored.inputs.col(input), input, {samples, 1, 0, nullptr});
    check_moments(check, answers, y);
    for (Index i = 0; i < outputs; ++i) {
      const Eigen::ArrayXd positive = (y.row(i).transpose().array() > 0.0).cast<double>();
      check.add("P(output > 0)", answers.probabilities[static_cast<std::size_t>(i)].interval, positive.mean(),
                std::max(error_of_mean(positive), 1.0 / static_cast<double>(samples)));
    }
    if (classes) check_classes(check, *answers.classes, y);
  }
  return check.print();
}

}  // namespace
}  // namespace mixcert

int main(int argc, char** argv) try {
  if (argc < 4) {
    std::fputs("usage: check_answers RESULT MODEL SAMPLES [classes]\n", stderr);
    return 2;
  }
  const bool classes = argc > 4 && std::string(argv[4]) == "classes";
  return mixcert::run(argv[1], argv[2], std::strtol(argv[3], nullptr, 10), classes) ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "check_answers: %s\n", error.what());
  return 2;
}
