// The film of a layer's computation: its stages, beats and moments.

#include "app/compute/layer/flow_time.h"

#include <gtest/gtest.h>

namespace headscope::test {
namespace {

using app::FlowCursor;
using app::PipelineStep;

const std::vector<PipelineStep>& allSteps() {
  static const std::vector<PipelineStep> kSteps{
      PipelineStep::input,  PipelineStep::project, PipelineStep::split,   PipelineStep::dot,
      PipelineStep::scale,  PipelineStep::mask,    PipelineStep::softmax, PipelineStep::mix,
      PipelineStep::concat, PipelineStep::output};
  return kSteps;
}

TEST(FlowTime, HasTwentyEightBeatsInFiftyTwoSeconds) {
  std::size_t beats = 0;
  for (const PipelineStep step : allSteps()) {
    const auto of = app::flowStage(step).beats;
    beats += of.size();
    ASSERT_FALSE(of.empty());
    EXPECT_EQ(of.back().end, 1);
    for (std::size_t i = 1; i < of.size(); ++i) EXPECT_LT(of[i - 1].end, of[i].end);
  }
  EXPECT_EQ(beats, 28u);
  const app::FlowStage& bias = app::flowStage(PipelineStep::bias);
  EXPECT_EQ(bias.seconds, 3);
  EXPECT_EQ(bias.beats.back().end, 1);
  EXPECT_DOUBLE_EQ(app::flowSeconds(allSteps()), 52);
}

/// Forward through all beats and back gives the same moments, each once.
TEST(FlowTime, BeatsGoForwardAndBack) {
  FlowCursor at{PipelineStep::input, 0};
  std::vector<FlowCursor> ends;
  for (FlowCursor next = app::nextBeat(allSteps(), at); next != at; next = app::nextBeat(allSteps(), at)) {
    ends.push_back(next);
    at = next;
  }
  EXPECT_EQ(ends.size(), 28u);
  EXPECT_EQ(at, (FlowCursor{PipelineStep::output, 1}));
  std::size_t starts = 0;
  for (FlowCursor back = app::previousBeat(allSteps(), at); back != at;
       back = app::previousBeat(allSteps(), at), ++starts)
    at = back;
  EXPECT_EQ(starts, 28u);
  EXPECT_EQ(at, (FlowCursor{PipelineStep::input, 0}));
}

TEST(FlowTime, PlayingPassesEveryStageAndEnds) {
  FlowCursor at{PipelineStep::input, 0};
  std::vector<PipelineStep> seen;
  for (int i = 0; i < 520; ++i) {
    if (seen.empty() || seen.back() != at.stage) seen.push_back(at.stage);
    at = app::laterBy(allSteps(), at, 0.1001);
  }
  EXPECT_EQ(seen, allSteps());
  EXPECT_EQ(at, (FlowCursor{PipelineStep::output, 1}));
  EXPECT_EQ(app::laterBy(allSteps(), at, 5), at);
  EXPECT_EQ(app::laterBy(allSteps(), {PipelineStep::input, 0.5}, 2.5),
            (FlowCursor{PipelineStep::project, 0}));
  EXPECT_EQ(app::laterBy(allSteps(), {PipelineStep::input, 0}, 1000), (FlowCursor{PipelineStep::output, 1}));
}

TEST(FlowTime, StageThatIsGoneIsTheOneBeforeIt) {
  EXPECT_EQ(app::within(allSteps(), {PipelineStep::bias, 0.3}), (FlowCursor{PipelineStep::scale, 1}));
  EXPECT_EQ(app::within(allSteps(), {PipelineStep::mask, 0.3}), (FlowCursor{PipelineStep::mask, 0.3}));
}

/// Done things only become more, from none to all, whatever their number.
TEST(FlowTime, RowsAreDoneInOrder) {
  for (const attention::Index count : {0, 1, 2, 12, 60, 2000}) {
    attention::Index before = 0;
    for (int i = 0; i <= 200; ++i) {
      const attention::Index done = app::doneBy(i / 200.0, count);
      EXPECT_GE(done, before);
      before = done;
    }
    EXPECT_EQ(app::doneBy(0, count), 0);
    EXPECT_EQ(before, count);
  }
  const app::RowsDone none = app::rowsDone(12, 7, 0, false, 0), all = app::rowsDone(12, 7, 1, true, 1);
  for (attention::Index row = 0; row < 12; ++row) {
    EXPECT_FALSE(none.has(row, 7)) << row;
    EXPECT_TRUE(all.has(row, 7)) << row;
  }
  const app::RowsDone own = app::rowsDone(12, 7, 1, true, 0);
  EXPECT_TRUE(own.has(6, 7));
  EXPECT_TRUE(own.has(7, 7));
  EXPECT_FALSE(own.has(8, 7));
}

TEST(FlowTime, EasingStartsAndEndsWhereItShould) {
  for (double (*ease)(double) : {app::easeBoth, app::easeOut}) {
    EXPECT_DOUBLE_EQ(ease(0), 0);
    EXPECT_DOUBLE_EQ(ease(1), 1);
    for (int i = 1; i <= 100; ++i) EXPECT_GE(ease(i / 100.0), ease((i - 1) / 100.0));
  }
  EXPECT_EQ(app::passed(0.1, 0.2, 0.4), 0);
  EXPECT_EQ(app::passed(0.5, 0.2, 0.4), 1);
  EXPECT_NEAR(app::passed(0.3, 0.2, 0.4), 0.5, 1e-12);
}

}  // namespace
}  // namespace headscope::test
