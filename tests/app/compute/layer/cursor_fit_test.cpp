#include <gtest/gtest.h>

#include "app/compute/layer/snapshot.h"

namespace headscope::app {
namespace {

/// Everything a cursor has to fit into; each line has as many keys as queries.
Snapshot snapshotOf(Index heads, const std::vector<Index>& lengths, bool causal = true) {
  Snapshot snapshot;
  snapshot.config.heads = heads;
  snapshot.causal = causal;
  for (const Index length : lengths) {
    SequenceSnapshot& sequence = snapshot.sequences.emplace_back();
    sequence.queryLength = sequence.keyLength = length;
  }
  return snapshot;
}

Cursor farCursor() {
  Cursor cursor;
  cursor.sequence = 2;
  cursor.focus = 11;
  choose(cursor, {11, 30, 20});
  cursor.step = 31;
  return cursor;
}

void expectSame(const Cursor& cursor, const Cursor& expected) {
  EXPECT_EQ(cursor.sequence, expected.sequence);
  EXPECT_EQ(cursor.focus, expected.focus);
  EXPECT_EQ(cursor.cell, expected.cell);
  EXPECT_EQ(cursor.step, expected.step);
}

const Snapshot kLarge = snapshotOf(12, {40, 40, 40}), kSmall = snapshotOf(8, {5});

TEST(CursorFit, LeavesFittingCursorUnchanged) {
  CursorFit fit;
  Cursor cursor = farCursor();
  fit.apply(cursor, kLarge, true);
  expectSame(cursor, farCursor());
}

TEST(CursorFit, ClampsEverythingToTheSnapshot) {
  CursorFit fit;
  Cursor cursor = farCursor();
  fit.apply(cursor, kSmall, true);
  EXPECT_EQ(cursor.sequence, 0);
  EXPECT_EQ(cursor.focus, 7);
  EXPECT_EQ(cursor.cell, (Cell{7, 4, 4}));
  EXPECT_EQ(cursor.step, 5);
  cursor.focus = -1;
  fit.apply(cursor, kSmall, true);
  EXPECT_EQ(cursor.focus, -1) << "all heads";
}

TEST(CursorFit, RestoresCursorWhenItFitsAgain) {
  CursorFit fit;
  Cursor cursor = farCursor();
  for (const Snapshot& shown : {kSmall, snapshotOf(2, {1}), snapshotOf(12, {}), kSmall})
    for (int frame = 0; frame < 3; ++frame) fit.apply(cursor, shown, true);
  fit.apply(cursor, kLarge, true);
  expectSame(cursor, farCursor());
}

TEST(CursorFit, KeepsSelectionMadeMeanwhile) {
  CursorFit fit;
  Cursor cursor = farCursor();
  fit.apply(cursor, kSmall, true);
  choose(cursor, {1, 2, 3});
  cursor.step = 4;  // the first step after the prefill
  fit.apply(cursor, kSmall, true);
  fit.apply(cursor, kLarge, true);
  EXPECT_EQ(cursor.cell, (Cell{1, 2, 3}));
  EXPECT_EQ(cursor.step, 4);
  EXPECT_EQ(cursor.sequence, 2);
  EXPECT_EQ(cursor.focus, 11);
}

TEST(CursorFit, ExcludesCellsNotYetDecoded) {
  CursorFit fit;
  Cursor cursor = farCursor();
  cursor.decoding = true;
  cursor.step = 10;
  fit.apply(cursor, kLarge, true);
  EXPECT_EQ(cursor.cell, (Cell{11, 9, 9}));
  cursor.step = 25;
  fit.apply(cursor, kLarge, true);
  EXPECT_EQ(cursor.cell, (Cell{11, 24, 20})) << "the cell comes with the steps";
  fit.apply(cursor, snapshotOf(12, {40, 40, 40}, false), true);
  EXPECT_EQ(cursor.cell, farCursor().cell) << "only a causal text is decoded";
  fit.apply(cursor, kLarge, false);
  EXPECT_EQ(cursor.cell, farCursor().cell) << "and only on pages that show the decode";
  EXPECT_TRUE(cursor.decoding) << "which they find as it was left";
}

TEST(CursorFit, ResetForgetsThePreviousCursor) {
  CursorFit fit;
  Cursor cursor = farCursor();
  fit.apply(cursor, kSmall, true);
  const Cursor inside = cursor;
  fit.reset();
  fit.apply(cursor, kLarge, true);
  expectSame(cursor, inside);
}

/// When a scene is opened over another, the picture is still the old one for a frame.
TEST(CursorFit, OpenedSceneCursorSurvivesOldPicture) {
  CursorFit fit;
  Cursor cursor;
  fit.apply(cursor, kSmall, true);
  fit.reset();
  cursor = farCursor();
  fit.apply(cursor, kSmall, true);
  fit.apply(cursor, kLarge, true);
  expectSame(cursor, farCursor());
}

}  // namespace
}  // namespace headscope::app
