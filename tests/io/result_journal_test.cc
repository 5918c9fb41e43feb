// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Journals: results come back to the last bit whatever their structure, in any order; what a kill or a bad
// disk did to the end is dropped; other runs, other files and other processes are refused.
#include "io/results/result_journal.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cmath>
#include <random>

#include "io/test_files.h"

namespace mixcert {
namespace result_journal_test {

using test::message_of;
using test::read_text;
using test::write_text;

/// Every field set; the covariance is diagonal, dense, or blocks plus low rank.
Result make_journal_result(Index input) {
  std::mt19937_64 generator(static_cast<std::uint64_t>(input + 1));
  std::normal_distribution<double> normal;
  const auto random = [&](Index rows, Index cols) {
    Matrix values(rows, cols);
    for (double& value : values.reshaped()) value = normal(generator);
    return values;
  };
  const Index size = 1 + input % 3;
  std::vector<Gaussian> components;
  for (Index c = 0; c < size; ++c) {
    Covariance covariance = Covariance::diagonal(random(4, 1).cwiseAbs());
    if (input % 3 == 1) covariance = Covariance::dense(random(4, 4) * random(4, 4).transpose());
    if (input % 3 == 2) covariance = Covariance::block_diagonal(random(4, 2)).plus_low_rank(random(4, 2));
    components.push_back({random(4, 1), covariance});
  }
  Result result;
  result.input = input;
  result.method = Method::Moment;
  result.certificate = CertificateMode::Metric;
  result.mixture = GaussianMixture(Vector::Constant(size, 1.0 / static_cast<double>(size)), components);
  result.w2 = {Distance::W2, normal(generator), 0.1};
  if (input % 2 == 0) result.w1 = {Distance::W1, 0.25, 0.2};
  result.relative_w2 = 0.3;
  if (input % 2 == 0) result.w2_lower = 0.0625;
  if (input % 3 == 0) result.w2_lower_mixture = 0.03125;
  result.layers = {{1, 0.1, 0.2, 3.0, 5, 50, "expected", "H.3"}, {2, 0.0, 1.0, 2.0, 1, 1, "output", "Y.1"}};
  if (input % 2 == 1) result.statistics = TwoSidedStatistics{100, 0.1, 0.95, 0.4, 0.3, 1e-3, "as said"};
  if (input % 3 == 2) {
    result.distribution = std::make_shared<const OutputDistribution>(
        OutputDistribution{-1.0, 0.5, Vector::LinSpaced(5, 0.0, 1.0), Vector::Ones(5), 1e-6, 1e-12, 1e-5});
  }
  if (input % 4 == 3) {
    result.simulated = SimulatedBound{0.5, 1e-9, 4096, 0.4, "F.8", {}, ""};
    const GaussianMixture line(Vector::Constant(2, 0.5),
                               {{Vector::Constant(1, -1.0), Covariance::diagonal(Vector::Constant(1, 0.25))},
                                {Vector::Constant(1, 1.0), Covariance::diagonal(Vector::Constant(1, 4.0))}});
    result.simulated->marginals = {{line, 0.03, -0.1, 0.1},
                                   {line, 0.04, -0.2, 0.2},
                                   {line, 0.0, 0.0, 0.0},
                                   {line, 1.0, -INFINITY, INFINITY}};
  }
  result.termination = Termination::BudgetSpent;
  result.reason = "a sentence with \n two lines";
  result.seconds = 0.5;
  return result;
}

std::string bytes_of(const Result& result) { return io::encode_result(result); }

class JournalTest : public ::testing::Test {
 protected:
  [[nodiscard]] std::filesystem::path path() const { return directory_ / "r.npz.journal"; }
  [[nodiscard]] ResultJournal open(bool resume, Index inputs = 9, const std::string& identity = "{}") const {
    return ResultJournal(path(), identity, inputs, resume);
  }
  void fill(Index count) const {
    ResultJournal journal = open(false);
    for (Index i = count; i-- > 0;) journal.append(make_journal_result(i));
  }
  test::TempDirectory directory_;
};

TEST(ResultCodec, KeepsEveryBitAndTheStructure) {
  for (Index input = 0; input < 9; ++input) {
    const Result result = make_journal_result(input);
    const Result back = io::decode_result(bytes_of(result), "bytes");
    EXPECT_EQ(bytes_of(back), bytes_of(result));
    for (Index c = 0; c < result.mixture.size(); ++c) {
      const Covariance& ours = back.mixture.component(c).covariance;
      const Covariance& theirs = result.mixture.component(c).covariance;
      EXPECT_EQ(ours.stacked_blocks(), theirs.stacked_blocks());
      EXPECT_EQ(ours.factor(), theirs.factor());
      EXPECT_EQ(ours.to_dense(), theirs.to_dense());
    }
    EXPECT_EQ(std::isnan(back.w2_lower) ? -1.0 : back.w2_lower, input % 2 == 0 ? 0.0625 : -1.0);
    EXPECT_EQ(std::isnan(back.w2_lower_mixture) ? -1.0 : back.w2_lower_mixture,
              input % 3 == 0 ? 0.03125 : -1.0);
    EXPECT_EQ(back.w1.distance, Distance::W1);
    EXPECT_EQ(back.w1.exists(), result.w1.exists());
    EXPECT_EQ(back.statistics.has_value(), result.statistics.has_value());
    ASSERT_EQ(back.simulated.has_value(), result.simulated.has_value());
    if (back.simulated) {
      ASSERT_EQ(back.simulated->marginals.size(), 4U);
      EXPECT_EQ(back.simulated->marginals[1].w2, 0.04);
      EXPECT_EQ(back.simulated->marginals[1].mean_upper, 0.2);
      EXPECT_EQ(back.simulated->marginals[1].mixture.component(1).mean(0), 1.0);
    }
    ASSERT_EQ(back.distribution == nullptr, result.distribution == nullptr);
    if (back.distribution) {
      EXPECT_EQ(back.distribution->values, result.distribution->values);
    }
    EXPECT_EQ(back.layers[1].metric, "output");
    EXPECT_EQ(back.layers[1].theorem, "Y.1");
    EXPECT_EQ(back.reason, result.reason);
    EXPECT_EQ(back.termination, Termination::BudgetSpent);
  }
}

TEST(ResultCodec, RefusesEveryShorterTextAndChangedSizes) {
  const std::string bytes = bytes_of(make_journal_result(5));
  for (std::size_t size = 0; size < bytes.size(); ++size)
    EXPECT_THROW(io::decode_result(bytes.substr(0, size), "bytes"), FileError);
  EXPECT_THROW(io::decode_result(bytes + "x", "bytes"), FileError);
  std::mt19937_64 generator(7);
  for (int trial = 0; trial < 20000; ++trial) {  // refused or another result, never a crash
    std::string changed = bytes;
    for (int k = 0; k < 3; ++k) changed[generator() % bytes.size()] = static_cast<char>(generator());
    try {
      (void)io::decode_result(changed, "bytes");
    } catch (const FileError&) {
    }
  }
}

TEST(ResultCodec, RefusesMarginalsThatDoNotFit) {
  const Result right = make_journal_result(7);
  ASSERT_EQ(right.simulated->marginals.size(), 4U);
  const auto refused = [](const Result& result) {
    return message_of<FileError>([&] { (void)io::decode_result(bytes_of(result), "bytes"); });
  };
  Result more = right;
  more.simulated->marginals.resize(5, right.simulated->marginals[0]);
  EXPECT_CONTAINS(refused(more), "4 single outputs");
  Result wide = right;
  wide.simulated->marginals[1].mixture = right.mixture;
  EXPECT_CONTAINS(refused(wide), "a mixture of one output");
  Result nothing = right;
  nothing.simulated->marginals[0].w2 = NAN;
  EXPECT_CONTAINS(refused(nothing), "NaN");
}

TEST_F(JournalTest, GoesOnWhereItStopped) {
  fill(4);
  ResultJournal journal = open(true);
  EXPECT_EQ(journal.finished(), 4);
  EXPECT_FALSE(journal.has(4));
  journal.append(8, bytes_of(make_journal_result(8)));
  for (const Index input : {0, 1, 2, 3, 8})
    EXPECT_EQ(bytes_of(journal.read(input)), bytes_of(make_journal_result(input)));
  EXPECT_THROW(journal.append(make_journal_result(3)), InvalidArgument);
  EXPECT_THROW(journal.append(make_journal_result(9)), InvalidArgument);
  EXPECT_THROW((void)journal.read(5), InvalidArgument);
  journal.remove();
  EXPECT_FALSE(std::filesystem::exists(path()));
}

TEST_F(JournalTest, IsCutAtEveryByteAndLosesNoWholeRecord) {
  fill(3);  // written in the order 2, 1, 0
  const std::string whole = read_text(path());
  const std::size_t record = 32 + bytes_of(make_journal_result(0)).size();
  for (std::size_t size = whole.size() - record - 40; size <= whole.size(); ++size) {
    write_text(path(), whole.substr(0, size));
    const Index expected = size == whole.size() ? 3 : size >= whole.size() - record ? 2 : 1;
    ResultJournal journal = open(true);
    ASSERT_EQ(journal.finished(), expected) << size;
    for (Index i = 0; i < 3; ++i) {
      if (!journal.has(i)) journal.append(make_journal_result(i));
      EXPECT_EQ(bytes_of(journal.read(i)), bytes_of(make_journal_result(i)));
    }
  }
}

TEST_F(JournalTest, DropsFromTheFirstChangedByteOn) {
  fill(3);
  std::string bytes = read_text(path());
  bytes[bytes.size() - 100] = static_cast<char>(bytes[bytes.size() - 100] ^ 1);
  write_text(path(), bytes);
  EXPECT_EQ(open(true).finished(), 2);
}

TEST_F(JournalTest, IsNotOverwrittenByAnotherRun) {
  fill(2);
  EXPECT_CONTAINS(message_of<FileError>([&] { (void)open(false); }), "--resume");
  EXPECT_CONTAINS(message_of<FileError>([&] { (void)open(true, 9, R"({"seed":1})"); }), "seed");
  EXPECT_EQ(open(true).finished(), 2);
}

TEST_F(JournalTest, WithoutResultsLeavesNothingAndHindersNobody) {
  { (void)open(false); }
  EXPECT_FALSE(std::filesystem::exists(path()));
  { const ResultJournal journal = open(false, 9, R"({"seed":1})"); }
  fill(1);
  write_text(path(), read_text(path()).substr(0, 40));  // killed while the head was written
  EXPECT_THROW((void)open(true), FileError);
}

TEST_F(JournalTest, RefusesOtherFilesAndProcesses) {
  write_text(path(), "not a journal, but longer than its head would be");
  EXPECT_CONTAINS(message_of<FileError>([&] { (void)open(true); }), "another file");
  EXPECT_THROW((void)open(false), FileError);
  std::filesystem::remove(path());
  fill(1);
  const int other = ::open(path().c_str(), O_RDWR);
  ASSERT_EQ(::flock(other, LOCK_EX), 0);
  EXPECT_CONTAINS(message_of<FileError>([&] { (void)open(true); }), "another process");
  ::close(other);
  EXPECT_EQ(open(true).finished(), 1);
}

TEST(JournalIdentity, IsThatOfInputsAndOptions) {
  RunRecord run;
  run.options = {{"seed", "0"}, {"threads", "1"}};
  run.command = "mixcert certify";
  const Matrix inputs = Matrix::Random(3, 2);
  const std::string identity = journal_identity(run, inputs, {});
  run.command = "mixcert certify --resume";
  run.options[1].second = "8";
  EXPECT_EQ(journal_identity(run, inputs, {}), identity);
  EXPECT_NE(journal_identity(run, 2.0 * inputs, {}), identity);
  InputNoise noise;
  noise.components.push_back({1.0, {}, IndependentBias{Vector::Ones(3)}});
  EXPECT_NE(journal_identity(run, inputs, noise), identity);
  run.options[0].second = "1";
  EXPECT_NE(journal_identity(run, inputs, {}), identity);
}

}  // namespace result_journal_test
}  // namespace mixcert
