#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>

#include "app/scene/mask_rules.h"
#include "tests/app/compute/layer/snapshot_support.h"
#include "tests/support/matchers.h"
#include "tests/support/safetensors_file.h"
#include "tests/support/small_problem.h"
#include "tests/support/temporary_folder.h"

namespace headscope::app {
namespace {

namespace fs = std::filesystem;
using test::computed;
using test::plainSetup;
using test::refused;
using test::sizedModel;

app::Setup tableSetup(Index rows, Index cols) {
  app::Setup setup = plainSetup("unused");
  setup.input.source = EmbeddingSource::table;
  setup.input.table.edit().values = attention::Matrix::Constant(rows, cols, 0.25F);
  setup.input.table.edit().names.assign(static_cast<std::size_t>(rows), "");
  setup.input.table.edit().names[0] = "first";
  return setup;
}

TEST(SnapshotTable, ReadsTypedEmbeddings) {
  app::Setup setup = tableSetup(3, 32);
  setup.model.position = PositionKind::none;
  const Snapshot snapshot = computed(setup);
  const SequenceSnapshot& sequence = snapshot.sequences[0];
  ASSERT_EQ(snapshot.sequences.size(), 1u);
  EXPECT_EQ(sequence.queries[0].text, "first");
  EXPECT_EQ(sequence.queries[2].text, "t2");
  // Three equal rows: no key differs from another.
  for (Index head = 0; head < 4; ++head)
    for (Index i = 0; i < 9; ++i)
      EXPECT_NEAR(sequence.attention.weights[head].data()[i], 1.0F / 3, test::weightTolerance(snapshot));
}

TEST(SnapshotTable, AppliesPositionEncodings) {
  for (const PositionKind position :
       {PositionKind::sinusoidal, PositionKind::rope, PositionKind::alibi, PositionKind::t5}) {
    app::Setup setup = tableSetup(3, 32);
    setup.model.position = position;
    const Snapshot snapshot = computed(setup);
    const attention::MatrixView weights = snapshot.sequences[0].attention.weights[0];
    EXPECT_GT(weights.maxCoeff() - weights.minCoeff(), test::weightTolerance(snapshot));
  }
}

TEST(SnapshotTable, RefusesTablesThatDoNotFit) {
  PlacedError error = refused(tableSetup(3, 31));
  EXPECT_EQ(error.place, Place::model);
  EXPECT_THAT(error.message, AllOf(HasSubstr("31 dimensions"), HasSubstr("is 32")));
  error = refused(tableSetup(kMaxTokens + 1, 32));
  EXPECT_EQ(error.place, Place::input);
  EXPECT_THAT(error.message, HasSubstr("2049 tokens"));
  app::Setup setup = tableSetup(3, 8);
  setup.model.modelDim = 8;
  setup.model.heads = setup.model.kvHeads = 2;
  setup.model.headDim = 4;
  setup.weights.source = WeightSource::planted;
  error = refused(setup);
  EXPECT_EQ(error.place, Place::weights);
  EXPECT_THAT(error.message, HasSubstr("at least 16"));
  setup = tableSetup(3, 32);
  setup.input.cross = true;
  setup.input.contextText = "le chat";
  error = refused(setup);
  EXPECT_EQ(error.place, Place::context);
  EXPECT_THAT(error.message, AllOf(HasSubstr("yped embeddings"), testing::Not(HasSubstr("["))));
}

TEST(SnapshotTable, EmptyTableGivesEmptySnapshot) {
  app::Setup setup = tableSetup(1, 32);
  setup.input.table = {};
  const Snapshot snapshot = computeSnapshot(setup, test::kRoomy);
  EXPECT_TRUE(snapshot.empty);
  EXPECT_FALSE(snapshot.error);
}

/// Finite numbers can still overflow along the way, which must not crash anything.
TEST(SnapshotTable, SurvivesOverflow) {
  for (const float size : {3e38F, 1e30F, 1e20F, 1e-45F}) {
    app::Setup setup = tableSetup(4, 32);
    for (Index row = 0; row < 4; ++row)
      setup.input.table.edit().values.row(row) *=
          size * (row % 2 ? -1.0F : 1.0F) * static_cast<float>(row + 1);
    for (const bool causal : {true, false}) {
      setup.mask.layers = layersOf({.causal = causal});
      const Snapshot snapshot = computeSnapshot(setup, test::kRoomy);
      EXPECT_TRUE(snapshot.error || !snapshot.sequences.empty());
    }
  }
}

class SnapshotWeights : public testing::Test {
 protected:
  /// A model with the sizes of test::smallProblem() that reads its weights from path_.
  app::Setup fileSetup() {
    app::Setup setup = plainSetup("one two three");
    setup.model = sizedModel(4, 2, 4, 8);
    setup.weights.source = WeightSource::file;
    setup.weights.file = path_.string();
    return setup;
  }
  void put(const attention::SafetensorsFile& file) {
    ASSERT_TRUE(attention::writeSafetensors(path_, file).ok());
  }

  test::TemporaryFolder folder_;
  fs::path path_ = folder_ / "w.safetensors";
};

TEST_F(SnapshotWeights, ReadsWeightsFromTheFile) {
  attention::SafetensorsFile file = test::smallProblem();
  put(file);
  const Snapshot snapshot = computed(fileSetup());
  // Three times the queries give three times the scores.
  auto values = *test::toFloats(file.tensors.at("q_proj.weight"), "q");
  for (float& value : values) value *= 3;
  file.tensors["q_proj.weight"] = attention::fromFloats(values, {16, 8});
  put(file);
  fs::last_write_time(path_, fs::last_write_time(path_) + std::chrono::seconds(2));
  const Snapshot changed = computed(fileSetup());
  const float tolerance = 4 * test::scoreTolerance(changed);
  for (Index i = 0; i < 4 * 9; ++i)
    EXPECT_NEAR(changed.sequences[0].attention.scores.data()[i],
                3 * snapshot.sequences[0].attention.scores.data()[i], tolerance);
}

TEST_F(SnapshotWeights, SplitsIntoOtherHeadCounts) {
  put(test::smallProblem());
  app::Setup setup = fileSetup();
  setup.model.heads = 8;
  setup.model.kvHeads = 4;
  setup.model.headDim = 2;
  EXPECT_EQ(computed(setup).sequences[0].attention.weights.count(), 8);
}

TEST_F(SnapshotWeights, RefusesMismatchedSizes) {
  put(test::smallProblem());
  const auto change = [&](auto member, Index value) {
    app::Setup setup = fileSetup();
    setup.model.*member = value;
    const PlacedError error = refused(setup);
    EXPECT_EQ(error.place, Place::weights);
    EXPECT_THAT(error.message,
                AllOf(HasSubstr("w.safetensors holds model dim 8"), HasSubstr("4 heads over 2")));
  };
  change(&ModelSetup::heads, 8);
  change(&ModelSetup::kvHeads, 4);
  change(&ModelSetup::headDim, 8);
  change(&ModelSetup::modelDim, 16);
}

TEST_F(SnapshotWeights, RefusesMissingFiles) {
  PlacedError error = refused(fileSetup());
  EXPECT_EQ(error.place, Place::weights);
  EXPECT_THAT(error.message, HasSubstr("w.safetensors: cannot be opened"));
  app::Setup setup = fileSetup();
  setup.weights.file.clear();
  EXPECT_THAT(refused(setup).message, HasSubstr("No weights file is chosen"));
  test::putFile(path_, "not tensors");
  EXPECT_THAT(refused(fileSetup()).message, HasSubstr("w.safetensors"));
  put(test::smallProblem());
  computed(fileSetup());
  fs::remove(path_);
  EXPECT_THAT(refused(fileSetup()).message, HasSubstr("cannot be opened")) << "kept although it is gone";
}

}  // namespace
}  // namespace headscope::app
