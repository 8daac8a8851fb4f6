#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "app/number_text.h"
#include "tests/app/random_scene.h"
#include "tests/app/snapshot_support.h"
#include "tests/support/small_problem.h"
#include "tests/support/temporary_folder.h"

namespace headscope::app {
namespace {

namespace fs = std::filesystem;
using test::computed;
using test::plainSetup;
using test::refused;
using ::testing::AllOf;
using ::testing::HasSubstr;

std::string words(Index count) {
  std::string text;
  for (Index i = 0; i < count; ++i) text += "w ";
  return text;
}

TEST(SnapshotLimits, NothingTypedIsEmptyAndNoError) {
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

TEST(SnapshotLimits, ComputesAsManyTokensAsItSays) {
  app::Setup setup = plainSetup(words(kMaxTokens));
  setup.model.heads = setup.model.kvHeads = 1;
  setup.model.headDim = setup.model.modelDim = 4;
  const Snapshot snapshot = computed(setup);
  EXPECT_EQ(snapshot.sequences[0].queryLength, kMaxTokens);
}

TEST(SnapshotLimits, RefusesTextThatIsNotUtf8) {
  for (const char* broken : {"caf\xE9", "\xFF", "\xED\xA0\x80", "\xC0\xAF", "ok \xF0\x9F\xA6"}) {
    const PlacedError error = refused(plainSetup(broken));
    EXPECT_EQ(error.place, Place::input);
    EXPECT_THAT(error.message, HasSubstr("not valid UTF-8"));
  }
}

TEST(SnapshotLimits, SaysHowMuchMemoryItWouldNeed) {
  const app::Setup setup = plainSetup("a b c\nd e");
  const std::uint64_t need = 2 * attention::attentionResultBytes(configOf(setup), 3, 3);
  const PlacedError error = refused(setup, {100});
  EXPECT_EQ(error.place, Place::memory);
  EXPECT_THAT(error.message, AllOf(HasSubstr("2 sequences of 3 tokens on 4 heads"), HasSubstr("100 B")));
  EXPECT_THAT(error.message, HasSubstr(bytesText(static_cast<double>(need))));
  EXPECT_THAT(refused(plainSetup("a b c"), {100}).message, HasSubstr("1 sequence of 3 tokens"));
}

/// The largest scene there is: 64 lines of 2,048 tokens, 64 heads of 512. Refused before anything of that
/// size is allocated or computed, which would take minutes.
TEST(SnapshotLimits, RefusesTheLargestSceneAtOnce) {
  app::Setup setup = openingScene().setup;
  setup.model = {.heads = 64, .kvHeads = 64, .headDim = 512, .modelDim = 4096, .linked = false};
  setup.input.text.clear();
  for (int line = 0; line < 64; ++line) setup.input.text += words(kMaxTokens) + "\n";
  const auto start = std::chrono::steady_clock::now();
  const PlacedError error = refused(setup, {std::uint64_t{6} << 30});
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5));
  EXPECT_EQ(error.place, Place::memory);
  EXPECT_THAT(error.message, HasSubstr("the budget is 6.0 GiB"));
}

TEST(SnapshotLimits, HasABudgetOfItsOwn) {
  EXPECT_GT(defaultLimits().memoryBytes, std::uint64_t{1} << 26);
  EXPECT_LE(defaultLimits().memoryBytes, std::uint64_t{6} << 30);
}

app::Setup tableSetup(Index rows, Index cols) {
  app::Setup setup = plainSetup("unused");
  setup.input.source = EmbeddingSource::table;
  setup.input.table.values = attention::Matrix::Constant(rows, cols, 0.25F);
  setup.input.table.names.assign(static_cast<std::size_t>(rows), "");
  setup.input.table.names[0] = "first";
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
  // Three rows of the same numbers: every key is as good as any other.
  for (Index head = 0; head < 4; ++head)
    for (Index i = 0; i < 9; ++i)
      EXPECT_NEAR(sequence.attention.weights[head].data()[i], 1.0F / 3, test::weightTolerance(snapshot));
}

TEST(SnapshotTable, TakesPositionsWhenAsked) {
  for (const PositionKind position : {PositionKind::sinusoidal, PositionKind::rope, PositionKind::alibi}) {
    app::Setup setup = tableSetup(3, 32);
    setup.model.position = position;
    const Snapshot snapshot = computed(setup);
    const attention::MatrixView weights = snapshot.sequences[0].attention.weights[0];
    EXPECT_GT(weights.maxCoeff() - weights.minCoeff(), test::weightTolerance(snapshot));
  }
}

TEST(SnapshotTable, RefusesWhatItCannotStandFor) {
  PlacedError error = refused(tableSetup(3, 31));
  EXPECT_EQ(error.place, Place::model);
  EXPECT_THAT(error.message, AllOf(HasSubstr("31 dimensions"), HasSubstr("is 32")));
  error = refused(tableSetup(kMaxTokens + 1, 32));
  EXPECT_EQ(error.place, Place::input);
  EXPECT_THAT(error.message, HasSubstr("2049 tokens"));
  app::Setup setup = tableSetup(3, 32);
  setup.weights.source = WeightSource::planted;
  error = refused(setup);
  EXPECT_EQ(error.place, Place::weights);
  EXPECT_THAT(error.message, HasSubstr("typed embeddings have none"));
  setup = tableSetup(3, 32);
  setup.input.cross = true;
  setup.input.contextText = "le chat";
  error = refused(setup);
  EXPECT_EQ(error.place, Place::context);
  EXPECT_THAT(error.message, AllOf(HasSubstr("yped embeddings"), testing::Not(HasSubstr("["))));
}

TEST(SnapshotTable, AnEmptyTableIsEmpty) {
  app::Setup setup = tableSetup(1, 32);
  setup.input.table = {};
  const Snapshot snapshot = computeSnapshot(setup, test::kRoomy);
  EXPECT_TRUE(snapshot.empty);
  EXPECT_FALSE(snapshot.error);
}

/// Finite numbers can still overflow on the way. That must not bring anything down.
TEST(SnapshotTable, SurvivesNumbersThatOverflow) {
  for (const float size : {3e38F, 1e30F, 1e20F, 1e-45F}) {
    app::Setup setup = tableSetup(4, 32);
    for (Index row = 0; row < 4; ++row)
      setup.input.table.values.row(row) *= size * (row % 2 ? -1.0F : 1.0F) * static_cast<float>(row + 1);
    for (const bool causal : {true, false}) {
      setup.mask.causal = causal;
      const Snapshot snapshot = computeSnapshot(setup, test::kRoomy);
      EXPECT_TRUE(snapshot.error || !snapshot.sequences.empty());
    }
  }
}

class SnapshotWeights : public testing::Test {
 protected:
  /// A model of the sizes of test::smallProblem() that reads its weights from path_.
  app::Setup fileSetup() {
    app::Setup setup = plainSetup("one two three");
    setup.model = {.heads = 4, .kvHeads = 2, .headDim = 4, .modelDim = 8, .linked = false};
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

TEST_F(SnapshotWeights, ComeFromTheFile) {
  attention::SafetensorsFile file = test::smallProblem();
  put(file);
  const Snapshot snapshot = computed(fileSetup());
  // Three times the queries make three times the scores.
  auto values = *attention::toFloats(file.tensors.at("q_proj.weight"), "q");
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

TEST_F(SnapshotWeights, MayBeDividedIntoOtherHeads) {
  put(test::smallProblem());
  app::Setup setup = fileSetup();
  setup.model.heads = 8;
  setup.model.kvHeads = 4;
  setup.model.headDim = 2;
  EXPECT_EQ(computed(setup).sequences[0].attention.weights.count(), 8);
}

TEST_F(SnapshotWeights, AreRefusedWhereTheyDoNotFit) {
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

TEST_F(SnapshotWeights, AreRefusedWhereThereAreNone) {
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

TEST(SnapshotModel, RefusesWhatCannotBeComputed) {
  app::Setup setup = plainSetup("a b");
  setup.model.kvHeads = 3;
  EXPECT_EQ(refused(setup).place, Place::model);
  setup = plainSetup("a b");
  setup.model.headDim = 7;
  setup.model.position = PositionKind::rope;
  EXPECT_EQ(refused(setup).place, Place::model);
  setup = openingScene().setup;
  setup.model = {.heads = 1, .kvHeads = 1, .headDim = 8, .modelDim = 8, .linked = true};
  EXPECT_THAT(refused(setup).message, HasSubstr("at least 16"));
  setup = openingScene().setup;
  setup.model.heads = 64;
  setup.model.headDim = 4;
  EXPECT_EQ(refused(setup).place, Place::weights) << "four dimensions can't hold all that a group needs";
}

double secondsOf(const app::Setup& setup, std::stop_token stop) {
  const auto start = std::chrono::steady_clock::now();
  computeSnapshot(setup, test::kRoomy, stop);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

TEST(SnapshotStop, StopsBeforeItStarts) {
  std::stop_source stop;
  stop.request_stop();
  const Snapshot snapshot = computeSnapshot(openingScene().setup, test::kRoomy, stop.get_token());
  EXPECT_TRUE(snapshot.sequences.empty());
}

/// Asked to stop after a tenth of its time, it is done long before its end.
TEST(SnapshotStop, StopsOnTheWay) {
  app::Setup setup = plainSetup(words(700));
  setup.model.heads = setup.model.kvHeads = 32;
  setup.model.headDim = 16;
  setup.mask.causal = true;
  const double whole = secondsOf(setup, {});
  std::stop_source stop;
  std::jthread asks([&] {
    std::this_thread::sleep_for(std::chrono::duration<double>(whole / 10));
    stop.request_stop();
  });
  EXPECT_LT(secondsOf(setup, stop.get_token()), whole / 2) << "of " << whole << " s";
}

/// At any moment it may be asked, what comes back can be dropped without harm.
TEST(SnapshotStop, SurvivesBeingStoppedAnywhere) {
  app::Setup setup = openingScene().setup;
  setup.input.text = "a b c d e f g h\ni j k l\nm n o";
  const double whole = secondsOf(setup, {});
  test::Dice dice(1);
  for (int round = 0; round < 60; ++round) {
    std::stop_source stop;
    std::jthread asks([&, wait = dice.real(0, whole * 1.2)] {
      const auto until = std::chrono::steady_clock::now() + std::chrono::duration<double>(wait);
      while (std::chrono::steady_clock::now() < until) std::this_thread::yield();
      stop.request_stop();
    });
    const Snapshot snapshot = computeSnapshot(setup, test::kRoomy, stop.get_token());
    EXPECT_FALSE(snapshot.error) << snapshot.error->message;
  }
}

/// Every legal choice with every other, small.
TEST(SnapshotFuzz, AnyLegalSceneGivesAnErrorNothingOrAResult) {
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
    ASSERT_FALSE(testing::Test::HasFailure()) << "in round " << round;
    ++(snapshot.error ? errors : snapshot.empty ? empty : results);
  }
  EXPECT_GT(errors, 50);
  EXPECT_GT(empty, 50);
  EXPECT_GT(results, 300);
}

}  // namespace
}  // namespace headscope::app
