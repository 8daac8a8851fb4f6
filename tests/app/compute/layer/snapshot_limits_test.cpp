#include <gtest/gtest.h>

#include "app/compute/layer/layer_inputs.h"
#include "app/scene/text/number_text.h"
#include "tests/app/compute/layer/snapshot_support.h"
#include "tests/app/compute/mask/small_masks.h"
#include "tests/support/matchers.h"
#include "tests/support/peak_memory.h"

namespace headscope::app {
namespace {

using test::computed;
using test::plainSetup;
using test::refused;
using test::sizedModel;
using test::words;

TEST(SnapshotLimits, BlankTextIsEmptyWithoutError) {
  for (const char* nothing : {"", "   ", "\n\n\r\n\t", "\xEF\xBB\xBF"}) {
    for (const WeightSource source : {WeightSource::planted, WeightSource::random, WeightSource::file}) {
      app::Setup setup = openingScene().setup;
      setup.input.text = nothing;
      setup.weights.source = source;
      const Snapshot snapshot = computeSnapshot(setup, test::kRoomy);
      EXPECT_TRUE(snapshot.empty);
      EXPECT_FALSE(snapshot.error) << snapshot.error->message;
      test::expectConsistent(snapshot);
    }
  }
}

TEST(SnapshotLimits, RefusesTooManyTokensAndLines) {
  app::Setup setup = plainSetup(words(kMaxTokens + 1));
  PlacedError error = refused(setup);
  EXPECT_EQ(error.place, Place::input);
  EXPECT_THAT(error.message, AllOf(HasSubstr("2049 tokens"), HasSubstr("at most 2048")));
  std::string lines;
  for (int i = 0; i < 65; ++i) lines += "line\n";
  setup.input.text = lines;
  error = refused(setup);
  EXPECT_EQ(error.place, Place::input);
  EXPECT_THAT(error.message, AllOf(HasSubstr("65 lines"), HasSubstr("at most 64")));
  setup.input.text = lines.substr(5);
  EXPECT_EQ(computed(setup).sequences.size(), 64u);
}

TEST(SnapshotLimits, ComputesUpToTheTokenLimit) {
  app::Setup setup = plainSetup(words(kMaxTokens));
  setup.model.heads = setup.model.kvHeads = 1;
  setup.model.headDim = setup.model.modelDim = 4;
  const Snapshot snapshot = computed(setup);
  EXPECT_EQ(snapshot.sequences[0].queryLength, kMaxTokens);
}

TEST(SnapshotLimits, RefusesInvalidUtf8) {
  for (const char* broken : {"caf\xE9", "\xFF", "\xED\xA0\x80", "\xC0\xAF", "ok \xF0\x9F\xA6"}) {
    const PlacedError error = refused(plainSetup(broken));
    EXPECT_EQ(error.place, Place::input);
    EXPECT_THAT(error.message, HasSubstr("not valid UTF-8"));
  }
}

TEST(SnapshotLimits, ReportsRequiredMemory) {
  const app::Setup setup = plainSetup("a b c\nd e");
  const std::uint64_t inputs = 3 * 32 * sizeof(float);
  const std::uint64_t need = 2 * (attention::attentionResultBytes(configOf(setup), 3, 3) + inputs);
  const PlacedError error = refused(setup, {100});
  EXPECT_EQ(error.place, Place::memory);
  EXPECT_THAT(error.message, AllOf(HasSubstr("2 sequences of 3 tokens on 4 heads"), HasSubstr("100 B")));
  EXPECT_THAT(error.message, HasSubstr(bytesText(static_cast<double>(need))));
  EXPECT_THAT(refused(plainSetup("a b c"), {100}).message, HasSubstr("1 sequence of 3 tokens"));
}

/// The largest possible scene: 64 lines of 2,048 tokens, 64 heads of size 512. It is refused before anything
/// of that size is allocated or computed, which would take minutes.
TEST(SnapshotLimits, RefusesLargestSceneBeforeAllocating) {
  app::Setup setup = openingScene().setup;
  setup.model = sizedModel(64, 64, 512, 4096);
  setup.weights.source = WeightSource::random;
  std::string text;
  for (int line = 0; line < 64; ++line) {
    for (Index i = 0; i < kMaxTokens; ++i) text += std::to_string(i + line * kMaxTokens) + " ";
    text += "\n";
  }
  setup.input.text = text;
  PlacedError error;
  const auto peak = test::peakMemoryOf([&] { error = refused(setup, {std::uint64_t{6} << 30}); });
  if (peak) {
    EXPECT_LT(*peak, std::uint64_t{256} << 20) << "its weights alone are larger";
  }
  EXPECT_EQ(error.place, Place::memory);
  EXPECT_THAT(error.message, HasSubstr("the budget is 6 GiB"));
}

TEST(SnapshotLimits, DefaultBudgetIsPlausible) {
  EXPECT_GT(defaultLimits().memoryBytes, std::uint64_t{1} << 26);
  EXPECT_LE(defaultLimits().memoryBytes, std::uint64_t{6} << 30);
}

TEST(SnapshotModel, RefusesInvalidModels) {
  app::Setup setup = plainSetup("a b");
  setup.model.kvHeads = 3;
  EXPECT_EQ(refused(setup).place, Place::model);
  setup = plainSetup("a b");
  setup.model.headDim = 7;
  setup.model.position = PositionKind::rope;
  EXPECT_EQ(refused(setup).place, Place::model);
  setup = openingScene().setup;
  setup.model = sizedModel(1, 1, 8, 8);
  setup.model.linked = true;
  EXPECT_THAT(refused(setup).message, HasSubstr("at least 16"));
  setup = openingScene().setup;
  setup.model.heads = 64;
  setup.model.headDim = 4;
  EXPECT_EQ(refused(setup).place, Place::weights) << "four dimensions can't hold all that a group needs";
}

}  // namespace
}  // namespace headscope::app
