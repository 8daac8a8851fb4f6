// A stop takes effect during the work. This is measured in rows instead of milliseconds: a mask that is
// queried row by row requests the stop and counts later queries.

#include <gtest/gtest.h>

#include <atomic>

#include "attention/core/head_map.h"
#include "attention/kernels/pool.h"
#include "tests/attention/core/heads_problem.h"

namespace headscope::attention::test {
namespace {

/// Sees everything, and requests the stop at the `last`-th query.
class StoppingMask final : public MaskFormula {
 public:
  StoppingMask(Index heads, Index queries, Index keys, int last)
      : heads_(heads), queries_(queries), keys_(keys), last_(last) {}
  Index heads() const override { return heads_; }
  Index queries() const override { return queries_; }
  Index keys() const override { return keys_; }
  Index variants() const override { return heads_; }
  Index variantOf(Index head) const override { return head; }
  void visibleRuns(Index, Index, KeyRuns& runs) const override {
    runs.assign(1, {0, keys_});
    if (source_.stop_requested()) ++askedSince_;
    if (++asked_ == last_) source_.request_stop();
  }
  int asked() const { return asked_; }
  /// Queries after the stop was visible: the thread that requests it may be interrupted before.
  int askedSince() const { return askedSince_; }
  std::stop_token token() const { return source_.get_token(); }

 private:
  Index heads_, queries_, keys_;
  int last_;
  mutable std::atomic<int> asked_ = 0, askedSince_ = 0;
  mutable std::stop_source source_;
};

/// Each thread may finish the rows of its current task, at most 64.
int mostAskedSince() {
  return 64 * kernels::sharedPool().threads();
}

TEST(Stop, EndsAttentionWithinOneTask) {
  constexpr Index kRows = 20'000;
  for (const int last : {1, 100, 30'000}) {
    const auto mask = std::make_shared<StoppingMask>(2, kRows, 8, last);
    HeadsProblem p = plainHeads({2, 1, 4, kRows, 8}, 1);
    p.mask.formula = mask;
    (void)solveFast(p, Keep::weights, mask->token());
    EXPECT_GE(mask->asked(), last);
    EXPECT_LE(mask->askedSince(), mostAskedSince());
    // Without the stop, every row is queried.
    const AttentionResult whole = solveFast(p, Keep::weights);
    EXPECT_GE(mask->asked(), 2 * kRows);
    EXPECT_TRUE(whole.lse.allFinite());
  }
}

HeadField fieldOf(Index rows, std::shared_ptr<const MaskFormula> mask) {
  HeadField field;
  field.config = plainConfig(1, 1, 4);
  field.q = gaussianStack(1, rows, 4, 1)[0];
  field.k = gaussianStack(1, 300, 4, 2)[0];
  field.mask.formula = std::move(mask);
  return field;
}

TEST(Stop, EndsMapWithinATaskAndKeepsItUsable) {
  constexpr Index kRows = 10'000;
  for (const Index factor : {1, 8, 32, 128}) {
    const auto mask = std::make_shared<StoppingMask>(1, kRows, 300, 777);
    const auto never = std::make_shared<StoppingMask>(1, kRows, 300, -1);
    HeadMap map(fieldOf(kRows, mask)), other(fieldOf(kRows, never));
    const MapPart whole{0, 0, kRows, 300, factor};
    (void)map.weights(whole, Pooling::max, mask->token());
    EXPECT_GE(mask->asked(), 777);
    // A task of the coarse parts may have as many rows as one row of pixels.
    EXPECT_LE(mask->askedSince(), 2 * mostAskedSince());
    const HeadMap::Pooled found = map.pooled(whole), expected = other.pooled(whole);
    EXPECT_EQ(found.max, expected.max) << "factor " << factor;
    EXPECT_EQ(found.mean, expected.mean) << "factor " << factor;
  }
}

TEST(Stop, EndsPreviewWithinOneTask) {
  constexpr Index kRows = 100'000;
  const auto mask = std::make_shared<StoppingMask>(1, kRows, 300, 500);
  HeadMap map(fieldOf(kRows, mask));
  (void)map.preview(64, Pooling::max, 1e6, mask->token());
  EXPECT_LE(mask->askedSince(), mostAskedSince());
}

}  // namespace
}  // namespace headscope::attention::test
