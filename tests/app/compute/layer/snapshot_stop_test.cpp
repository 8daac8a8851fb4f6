#include <gtest/gtest.h>

#include <cstdint>
#include <thread>

#include "app/scene/mask_rules.h"
#include "app/scene/scene_json.h"
#include "tests/app/compute/layer/snapshot_support.h"
#include "tests/app/compute/mask/small_masks.h"
#include "tests/app/scene/random_scene.h"
#include "tests/support/matchers.h"

namespace headscope::app {
namespace {

using test::plainSetup;
using test::words;

/// How often another thread runs while this is computed: a measure of progress without a clock.
std::int64_t turnsOf(const app::Setup& setup) {
  std::int64_t turns = 0;
  std::jthread counts([&](std::stop_token stop) {
    for (; !stop.stop_requested(); ++turns) std::this_thread::yield();
  });
  computeSnapshot(setup, test::kRoomy);
  counts.request_stop();
  counts.join();
  return turns;
}

/// Requests the stop after `turns` turns.
std::jthread asking(std::stop_source& stop, std::int64_t turns) {
  return std::jthread([&stop, turns] {
    for (std::int64_t i = 0; i < turns; ++i) std::this_thread::yield();
    stop.request_stop();
  });
}

TEST(SnapshotStop, StopsBeforeStarting) {
  std::stop_source stop;
  stop.request_stop();
  const Snapshot snapshot = computeSnapshot(openingScene().setup, test::kRoomy, stop.get_token());
  EXPECT_TRUE(snapshot.sequences.empty());
}

/// If it is stopped after a tenth of the work, the rest is not done. On a busy machine the stop may come too
/// late; one attempt in time is enough.
TEST(SnapshotStop, StopsMidway) {
  app::Setup setup = plainSetup(words(700));
  setup.model.heads = setup.model.kvHeads = 32;
  setup.model.headDim = 16;
  setup.mask.layers = layersOf({});
  const std::int64_t whole = turnsOf(setup);
  bool leftUndone = false;
  for (int attempt = 0; attempt < 100 && !leftUndone; ++attempt) {
    std::stop_source stop;
    const std::jthread asks = asking(stop, whole / 10);
    const Snapshot snapshot = computeSnapshot(setup, test::kRoomy, stop.get_token());
    leftUndone = snapshot.sequences.empty() || snapshot.sequences.back().profiles.size() < 32;
  }
  EXPECT_TRUE(leftUndone);
}

/// A snapshot can be stopped at any moment, and what it returns can be dropped safely.
TEST(SnapshotStop, SurvivesBeingStoppedAnywhere) {
  app::Setup setup = openingScene().setup;
  setup.input.text = "a b c d e f g h\ni j k l\nm n o";
  const std::int64_t whole = turnsOf(setup);
  test::Dice dice(1);
  for (int round = 0; round < 60; ++round) {
    std::stop_source stop;
    const std::jthread asks =
        asking(stop, static_cast<std::int64_t>(dice.real(0, 1.2 * static_cast<double>(whole))));
    const Snapshot snapshot = computeSnapshot(setup, test::kRoomy, stop.get_token());
    EXPECT_FALSE(snapshot.error) << snapshot.error->message;
  }
}

/// Weights a thousand times as large in four stacked layers give a sentence instead of NaN.
TEST(SnapshotRange, ReportsOverflowingValues) {
  app::Setup setup = plainSetup(words(6));
  setup.weights.source = WeightSource::random;
  setup.weights.gain = 1000;
  setup.model.scaled = false;
  setup.model.layers = 4;
  setup.model.norm = false;
  setup.subject.layer = 0;
  EXPECT_FALSE(computeSnapshot(setup, test::kRoomy).error);
  setup.subject.layer = 3;
  const Snapshot snapshot = computeSnapshot(setup, test::kRoomy);
  ASSERT_TRUE(snapshot.error);
  EXPECT_THAT(snapshot.error->message, HasSubstr("Layer 3's values exceed"));
  setup.model.norm = true;
  EXPECT_FALSE(computeSnapshot(setup, test::kRoomy).error);
}

/// Every combination of legal choices, at small sizes.
TEST(SnapshotFuzz, EveryValidSceneGivesConsistentSnapshot) {
  test::Dice dice(2024);
  int errors = 0, empty = 0, results = 0;
  for (int round = 0; round < 1500; ++round) {
    Scene scene = test::randomScene(dice, {});
    if (scene.setup.weights.source == WeightSource::planted && dice.coin()) {
      scene.setup.model.modelDim = 32;
      scene.setup.model.headDim = 8;
      scene.setup.model.linked = false;
    }
    const Snapshot snapshot = computeSnapshot(scene.setup, test::kRoomy);
    test::expectConsistent(snapshot);
    if (snapshot.error) {
      EXPECT_THAT(snapshot.error->message, testing::Not(HasSubstr("can't be computed")))
          << "thrown, not foreseen";
    }
    ASSERT_FALSE(testing::Test::HasFailure()) << "in round " << round << " of\n" << formatScene(scene);
    ++(snapshot.error ? errors : snapshot.empty ? empty : results);
  }
  EXPECT_GT(errors, 50);
  EXPECT_GT(empty, 50);
  EXPECT_GT(results, 300);
}

}  // namespace
}  // namespace headscope::app
