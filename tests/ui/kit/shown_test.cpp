#include "app/kit/shown.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace headscope::test {
namespace {

using namespace app;
using attention::Result;

struct Sum {
  int value = 0;
};
using ShownSum = Shown<int, Sum>;

class ShownAnswers : public testing::Test {
 protected:
  void finish() {
    while (workers.work()) {
    }
    all.take();
  }

  View view;
  Resources resources{Limits{}};
  Workers workers{[] {}, {}, false};
  ShownSet all{view, workers, resources};
};

Result<Sum> tenfold(const int& of, std::stop_token) {
  if (of < 0) return attention::Error{"is negative"};
  return Sum{10 * of};
}

TEST_F(ShownAnswers, KeepsTheValueWhileANewerQuestionFails) {
  ShownSum sum(all, tenfold);
  EXPECT_FALSE(sum);
  EXPECT_EQ(sum.newest(), nullptr);
  sum.ask(4, Lane::front);
  finish();
  ASSERT_TRUE(sum.of(4));
  EXPECT_EQ(sum.of(4)->value, 40);
  EXPECT_EQ(sum.newest(), sum.of(4));
  EXPECT_EQ(sum.of(5), nullptr);
  sum.ask(-1, Lane::front);
  finish();
  EXPECT_EQ(sum.problem(), "is negative");
  EXPECT_TRUE(sum.answers(-1));
  EXPECT_EQ(sum.newest(), nullptr);
  EXPECT_EQ(sum->value, 40);
}

TEST_F(ShownAnswers, ShowsWhatThereIsSoFar) {
  ShownSum sum(all, [&](const int& of, const ShownSum::SoFar& soFar, const std::stop_token& stop) {
    EXPECT_GT(all.busySeconds(), 0);
    soFar({of});
    EXPECT_TRUE(all.take());
    EXPECT_EQ(sum->value, of);
    EXPECT_EQ(sum.request(), of);
    EXPECT_FALSE(sum.answers(of));
    return tenfold(of, stop);
  });
  sum.ask(2, Lane::front);
  finish();
  EXPECT_EQ(sum->value, 20);
  EXPECT_TRUE(sum.answers(2));
  EXPECT_EQ(all.busySeconds(), 0);
}

TEST_F(ShownAnswers, PartAfterAnErrorReplacesIt) {
  ShownSum sum(all, [&](const int& of, const ShownSum::SoFar& soFar, const std::stop_token& stop) {
    if (of < 0) return tenfold(of, stop);
    EXPECT_EQ(sum.problem(), "is negative");
    EXPECT_EQ(sum.problem(of), "") << "not of this question";
    soFar({of});
    EXPECT_TRUE(all.take());
    EXPECT_EQ(sum.problem(), "");
    EXPECT_NE(sum.newest(), nullptr);
    return tenfold(of, stop);
  });
  sum.ask(-1, Lane::front);
  finish();
  EXPECT_EQ(sum.problem(-1), "is negative");
  sum.ask(2, Lane::front);
  finish();
  EXPECT_EQ(sum->value, 20);
}

TEST_F(ShownAnswers, ShowsAnAnswerAgainThatAPartReplaced) {
  ShownSum sum(all, [&](const int& of, const ShownSum::SoFar& soFar, const std::stop_token& stop) {
    soFar({of});
    if (of == 3) {
      all.take();
      all.cancel();
      soFar({of + 1});
      EXPECT_FALSE(all.take()) << "after it was stopped";
    }
    return tenfold(of, stop);
  });
  sum.ask(2, Lane::front);
  finish();
  sum.ask(3, Lane::front);
  finish();
  EXPECT_EQ(sum->value, 3);
  sum.ask(2, Lane::front);
  EXPECT_EQ(sum->value, 20);
}

TEST_F(ShownAnswers, ASetWithinASetStopsAlone) {
  ShownSet inner(&all);
  ShownSum whole(all, tenfold), part(inner, tenfold);
  whole.ask(1, Lane::back);
  part.ask(2, Lane::back);
  EXPECT_GT(inner.busySeconds(), 0);
  inner.cancel();
  EXPECT_EQ(inner.busySeconds(), 0);
  finish();
  EXPECT_TRUE(whole);
  EXPECT_FALSE(part);
  part.ask(2, Lane::back);
  finish();
  EXPECT_TRUE(part) << "taken with the outer set";
  all.forget();
  EXPECT_FALSE(part);
}

}  // namespace
}  // namespace headscope::test
