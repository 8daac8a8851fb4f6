#include "app/compute/mask/mask_study.h"

#include <gtest/gtest.h>

#include "app/compute/layer/mask_inputs.h"
#include "render/heatmap.h"
#include "tests/app/compute/layer/snapshot_support.h"
#include "tests/app/compute/mask/small_masks.h"
#include "tests/app/scene/random_scene.h"
#include "tests/support/matchers.h"
#include "tests/support/temporary_folder.h"

namespace headscope::app {
namespace {

using attention::MaskFormula;
using attention::Matrix;
using test::cellsOf;
using test::Dice;
using test::layersFrom;
using test::plainSetup;
using test::words;

/// Expects cells pooled in squares of factor × factor, counted one by one.
void expectPicture(const Matrix& picture, const std::vector<std::vector<bool>>& cells, Index factor) {
  const auto queries = std::ssize(cells), keys = std::ssize(cells.front());
  ASSERT_EQ(picture.rows(), (queries + factor - 1) / factor);
  ASSERT_EQ(picture.cols(), (keys + factor - 1) / factor);
  for (Index row = 0; row < picture.rows(); ++row)
    for (Index col = 0; col < picture.cols(); ++col) {
      int visible = 0, all = 0, visibleInRows = 0;
      for (Index i = row * factor; i < std::min(queries, (row + 1) * factor); ++i)
        for (Index j = 0; j < keys; ++j) {
          const bool inside = j / factor == col,
                     seen = cells[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)];
          all += inside;
          visible += inside && seen;
          visibleInRows += seen;
        }
      const float expected = visibleInRows == 0 ? render::kDeadCell
                             : visible == 0     ? render::kMaskedCell
                                                : static_cast<float>(visible) / static_cast<float>(all);
      ASSERT_FLOAT_EQ(picture(row, col), expected) << row << ", " << col << " at factor " << factor;
    }
}

void expectStatistics(const StudiedMask& studied, const std::vector<std::vector<bool>>& cells) {
  std::uint64_t visible = 0, future = 0;
  std::vector<Index> emptyRows, unseen;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const auto seen = std::count(cells[i].begin(), cells[i].end(), true);
    visible += static_cast<std::uint64_t>(seen);
    if (seen == 0) emptyRows.push_back(static_cast<Index>(i));
    for (std::size_t j = i + 1; j < cells[i].size(); ++j) future += cells[i][j];
  }
  for (std::size_t j = 0; j < cells.front().size(); ++j)
    if (std::none_of(cells.begin(), cells.end(), [&](const auto& row) { return row[j]; }))
      unseen.push_back(static_cast<Index>(j));
  for (std::vector<Index>* listed : {&emptyRows, &unseen})
    listed->resize(std::min<std::size_t>(listed->size(), 64));  // only the first ones are listed
  const attention::MaskStatistics& statistics = studied.statistics;
  EXPECT_FALSE(statistics.sampled);
  EXPECT_EQ(statistics.visible, visible);
  EXPECT_EQ(statistics.cells, cells.size() * cells.front().size());
  EXPECT_EQ(statistics.firstEmptyRows, emptyRows);
  EXPECT_EQ(statistics.firstUnseenKeys, unseen);
  EXPECT_EQ(statistics.future, future);
}

void expectBlocks(const attention::BlockMap& blocks, const std::vector<std::vector<bool>>& cells,
                  Index size) {
  const auto queries = std::ssize(cells), keys = std::ssize(cells.front());
  EXPECT_EQ(blocks.blockSize, size);
  ASSERT_EQ(blocks.rows, (queries + size - 1) / size);
  ASSERT_EQ(blocks.cols, (keys + size - 1) / size);
  std::vector<std::uint32_t> visible(static_cast<std::size_t>(blocks.rows * blocks.cols), 0);
  for (Index i = 0; i < queries; ++i)
    for (Index j = 0; j < keys; ++j)
      visible[static_cast<std::size_t>(i / size * blocks.cols + j / size)] +=
          cells[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)];
  EXPECT_EQ(blocks.visible, visible);
  EXPECT_EQ(blocks.full + blocks.partial + blocks.empty, blocks.rows * blocks.cols);
  EXPECT_EQ(blocks.empty, std::count(visible.begin(), visible.end(), 0U));
}

/// Checks everything a study says about one mask against its formula.
void expectStudied(const StudiedMask& studied, const MaskStudy& study, const attention::MaskLayers& layers) {
  const MaskQuestion& question = study.question;
  const Index head = std::min(question.head, question.setup.model.heads - 1);
  const MaskFormula& mask = *studied.formula;
  EXPECT_EQ(studied.variant, mask.variantOf(head));
  const auto cells = cellsOf(mask, studied.variant);
  ASSERT_FALSE(studied.levels.empty());
  for (std::size_t level = 0; level < studied.levels.size(); ++level)
    expectPicture(studied.levels[level], cells, Index{1} << level);
  ASSERT_EQ(studied.thumbnails.count(), mask.variants());
  Index factor = 1;
  while ((std::max(mask.queries(), mask.keys()) + factor - 1) / factor > 48) factor *= 2;
  for (Index variant = 0; variant < mask.variants(); ++variant)
    expectPicture(studied.thumbnails[variant], cellsOf(mask, variant), factor);
  expectStatistics(studied, cells);
  expectBlocks(studied.blocks, cells, question.blockSize);
  const Index kvHead = head / (question.setup.model.heads / question.setup.model.kvHeads);
  attention::MaskLayers asked;  // layers that are left out here appear in no formula
  for (const attention::Layer& layer : layers)
    if (attention::omittedReason(layer, study.geometry).empty()) asked.push_back(layer);
  EXPECT_EQ(studied.formulaText, attention::maskFormula(asked, head, kvHead, study.sequence));
  bool future = false;
  for (Index variant = 0; variant < mask.variants(); ++variant) {
    const auto all = cellsOf(mask, variant);
    for (std::size_t i = 0; i < all.size(); ++i)
      for (std::size_t j = i + 1; j < all[i].size(); ++j) future = future || all[i][j];
  }
  EXPECT_EQ(studied.seesFuture, future && !question.setup.input.cross);
  ASSERT_EQ(studied.layers.size(), layers.size());
}

TEST(MaskStudy, MatchesFormulasAndSnapshots) {
  Dice dice(77);
  int studied = 0, compared = 0, refused = 0;
  for (int round = 0; round < 400; ++round) {
    app::Setup setup = test::randomScene(dice, {}).setup;
    setup.weights.source = WeightSource::random;
    const MaskQuestion question{setup, dice.between(0, 3), dice.between(0, 9), dice.between(16, 40)};
    const MaskStudy study = studyMask(question);
    EXPECT_EQ(study.question, question);
    const Snapshot snapshot = computeSnapshot(setup, test::kRoomy);
    if (!study.line() || study.mask.error || (study.other && study.other->error)) {
      const bool said = snapshot.empty || snapshot.error;
      EXPECT_TRUE(said) << "the attention knows nothing of it";
      refused += study.line() != nullptr;
      continue;
    }
    expectStudied(study.mask, study, setup.mask.layers);
    ASSERT_EQ(study.other.has_value(), setup.mask.compare);
    if (study.other) expectStudied(*study.other, study, setup.mask.other);
    ++studied;
    compared += study.other.has_value();
    if (snapshot.error) continue;  // weights or sizes, which masks don't depend on
    const MaskFormula &asked = *study.mask.formula,
                      &used = *snapshot.sequences[static_cast<std::size_t>(study.sequence)].mask.formula;
    for (Index head = 0; head < asked.heads(); ++head)
      ASSERT_EQ(cellsOf(asked, asked.variantOf(head)), cellsOf(used, used.variantOf(head)))
          << "head " << head;
    ASSERT_FALSE(HasFailure()) << "in round " << round;
  }
  EXPECT_GT(studied, 100);
  EXPECT_GT(compared, 20);
  EXPECT_GT(refused, 4);
}

TEST(MaskStudy, StudiesEachLayerSeparately) {
  app::Setup setup = plainSetup("a b c d\ne f");
  setup.mask.layers = layersFrom("causal & off: sinks(1) | heads(1): window(2) then sequences(1): !full");
  const auto layersThere = [&](Index sequence, Index head) {
    const MaskStudy study = studyMask({setup, sequence, head, 32});
    std::vector<bool> there;
    for (const auto& layer : study.mask.layers) there.push_back(layer != nullptr);
    return there;
  };
  ASSERT_EQ(setup.mask.layers.size(), 4u);
  EXPECT_THAT(layersThere(0, 0), ElementsAre(true, false, false, false));
  EXPECT_THAT(layersThere(0, 1), ElementsAre(true, false, true, false));
  EXPECT_THAT(layersThere(1, 1), ElementsAre(true, false, true, true));
  const MaskStudy study = studyMask({setup, 0, 1, 32});
  const MaskFormula& window = *study.mask.layers[2];
  EXPECT_TRUE(window.visible(window.variantOf(1), 3, 2));
  EXPECT_FALSE(window.visible(window.variantOf(1), 3, 1)) << "the layer alone, not the mask";
  setup.input.cross = true;
  setup.input.contextText = "x y z";
  EXPECT_THAT(layersThere(0, 1), ElementsAre(true, false, true, false)) << "positions decide there, too";
}

TEST(MaskStudy, ClampsLineAndHead) {
  app::Setup setup = plainSetup("a b c d\ne f");
  setup.mask.layers = layersFrom("padding");
  const MaskStudy study = studyMask({setup, 99, 99, 32});
  EXPECT_EQ(study.sequence, 1);
  ASSERT_EQ(study.lines.size(), 2u);
  EXPECT_EQ(study.line()->queries.size(), 4u);
  EXPECT_EQ(study.line()->queryLength, 2);
  EXPECT_EQ(study.mask.statistics.visible, 8u) << "four rows of two real keys";
  EXPECT_EQ(study.geometry.keyLength, 2);
  EXPECT_EQ(studyMask({setup, -5, 0, 32}).sequence, 0);
}

/// From one cell per pixel down to a picture that fits into a thumbnail, each half the size.
TEST(MaskStudy, HasEveryLevelForLongTexts) {
  for (const Index tokens : {1, 47, 48, 49, 97, 500, 2048}) {
    app::Setup setup = plainSetup(words(tokens));
    setup.mask.layers = layersFrom("streaming(sinks=3, window=40)");
    const StudiedMask studied = studyMask({setup, 0, 0, 16}).mask;
    ASSERT_FALSE(studied.error) << *studied.error;
    Index factor = 1;
    for (const Matrix& level : studied.levels) {
      ASSERT_EQ(level.rows(), (tokens + factor - 1) / factor);
      const Matrix drawn = drawMask(*studied.formula, studied.variant, factor);
      ASSERT_EQ(level, drawn) << "factor " << factor;
      factor *= 2;
    }
    EXPECT_LE(studied.levels.back().rows(), 48);
    EXPECT_TRUE(studied.levels.size() == 1 || studied.levels[studied.levels.size() - 2].rows() > 48);
    EXPECT_EQ(studied.thumbnails.rows(), studied.levels.back().rows());
    if (tokens <= 500) {
      const auto cells = cellsOf(*studied.formula, studied.variant);
      for (const Index odd : {1, 3, 7}) expectPicture(drawMask(*studied.formula, 0, odd), cells, odd);
      expectPicture(studied.levels.back(), cells, factor / 2);
      expectBlocks(studied.blocks, cells, 16);
    }
  }
}

TEST(MaskStudy, DifferenceSubtractsFirstFromSecond) {
  constexpr float masked = render::kMaskedCell, dead = render::kDeadCell;
  Matrix a(3, 4), b(3, 4);
  a << 1, 0.25f, masked, 1,          //
      masked, 0.5f, masked, masked,  //
      dead, dead, dead, dead;
  b << 1, 1, 0.5f, masked,     //
      dead, dead, dead, dead,  //
      masked, 0.75f, dead, dead;
  Matrix expected(3, 4);
  expected << 0, 0.75f, 0.5f, -1,     //
      masked, -0.5f, masked, masked,  //
      masked, 0.75f, dead, dead;
  EXPECT_EQ(maskDifference(a, b), expected);
}

/// The difference of two masks over one text, cell by cell and pooled.
TEST(MaskStudy, DifferenceMatchesFormulasAtEveryLevel) {
  app::Setup setup = plainSetup(words(101));
  setup.mask.layers = layersFrom("window(30) & !globals([40])");
  setup.mask.compare = true;
  setup.mask.other = layersFrom("chunked(7) | sinks(2)");
  const MaskStudy study = studyMask({setup, 0, 0, 16});
  ASSERT_TRUE(study.mask.formula && study.other && study.other->formula);
  ASSERT_EQ(study.mask.levels.size(), study.other->levels.size());
  ASSERT_GE(study.mask.levels.size(), 3u);
  const auto a = cellsOf(*study.mask.formula, 0), b = cellsOf(*study.other->formula, 0);
  for (std::size_t level = 0; level < study.mask.levels.size(); ++level) {
    const Index factor = Index{1} << level;
    const Matrix difference = maskDifference(study.mask.levels[level], study.other->levels[level]);
    for (Index row = 0; row < difference.rows(); ++row)
      for (Index col = 0; col < difference.cols(); ++col) {
        int inA = 0, inB = 0, all = 0;
        for (Index i = row * factor; i < std::min<Index>(101, (row + 1) * factor); ++i)
          for (Index j = col * factor; j < std::min<Index>(101, (col + 1) * factor); ++j, ++all) {
            inA += a[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)];
            inB += b[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)];
          }
        const bool neither = inA == 0 && inB == 0;
        // Two quotients below 1 and their difference are each rounded once.
        const float rounding = 2 * std::numeric_limits<float>::epsilon();
        if (neither)
          ASSERT_LT(difference(row, col), -1) << row << ", " << col << " at factor " << factor;
        else
          ASSERT_NEAR(difference(row, col), static_cast<float>(inB - inA) / static_cast<float>(all), rounding)
              << row << ", " << col << " at factor " << factor;
      }
  }
}

/// The error of a mask that doesn't fit the text: one sentence, the same as the snapshot's.
std::string errorOf(const app::Setup& setup) {
  const MaskStudy study = studyMask({setup, 0, 0, 32});
  EXPECT_TRUE(study.mask.error);
  EXPECT_FALSE(study.mask.formula);
  EXPECT_TRUE(study.mask.levels.empty());
  const std::string message = study.mask.error.value_or("");
  EXPECT_FALSE(message.empty());
  EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  const PlacedError error = test::refused(setup);
  EXPECT_EQ(error.place, Place::mask);
  EXPECT_EQ(error.message, message);
  return message;
}

TEST(MaskStudy, ReportsMasksThatDoNotFitText) {
  const test::TemporaryFolder folder;
  test::putFile(folder / "small.csv", "1,0\n1,1\n");
  test::putFile(folder / "broken.npy", "no array");
  const auto error = [&](const std::string& expression) {
    app::Setup setup = plainSetup("a b c d");
    setup.mask.layers = layersFrom(expression);
    return errorOf(setup);
  };
  const std::string at = (folder.path() / "").string();
  EXPECT_THAT(error("file(\"" + at + "none.npy\", masked)"), HasSubstr("none.npy: cannot be opened"));
  EXPECT_THAT(error("file(\"" + at + "broken.npy\", masked)"), HasSubstr("broken.npy"));
  EXPECT_THAT(error("file(\"" + at + "small.csv\", visible)"),
              HasSubstr("small.csv is 2 × 2, expected 4 × 4"));
  EXPECT_THAT(error("tree(prefix=1, parents=[1, 0, -1])"), HasSubstr("tree"));
  EXPECT_THAT(error("tree(prefix=1, parents=[5])"), HasSubstr("5"));
  EXPECT_THAT(error("causal & painted(\"gone\")"), HasSubstr("there is no painting \"gone\""));
  EXPECT_THAT(error("packed([9])"), HasSubstr("9, but there are 4 keys"));
}

TEST(MaskStudy, ErrorInSecondMaskKeepsTheFirst) {
  app::Setup setup = plainSetup("a b c d");
  setup.mask.layers = layersFrom("causal");
  setup.mask.compare = true;
  setup.mask.other = layersFrom("packed([9])");
  const MaskStudy study = studyMask({setup, 0, 0, 32});
  EXPECT_FALSE(study.mask.error);
  EXPECT_TRUE(study.mask.formula);
  ASSERT_TRUE(study.other && study.other->error);
  EXPECT_THAT(*study.other->error, HasSubstr("9, but there are 4 keys"));
  EXPECT_THAT(test::refused(setup).message, testing::StartsWith("Mask B: "));
  setup.mask.compare = false;
  EXPECT_FALSE(studyMask({setup, 0, 0, 32}).other);
  test::computed(setup);
}

/// A file is read again when it changes, and released when it is deleted.
TEST(MaskStudy, FollowsChangesOfAMaskFile) {
  const test::TemporaryFolder folder;
  const auto path = folder / "m.csv";
  test::putFile(path, "1,0\n1,1\n");
  app::Setup setup = plainSetup("a b");
  setup.mask.layers = layersFrom("file(\"" + path.string() + "\", visible)");
  EXPECT_EQ(studyMask({setup, 0, 0, 32}).mask.statistics.visible, 3u);
  test::putFile(path, "1,0\n0,1\n");
  std::filesystem::last_write_time(path, std::filesystem::last_write_time(path) + std::chrono::seconds(2));
  EXPECT_EQ(studyMask({setup, 0, 0, 32}).mask.statistics.visible, 2u);
  setup.mask.layers = layersFrom("file(\"" + path.string() + "\", masked)");
  EXPECT_EQ(studyMask({setup, 0, 0, 32}).mask.statistics.visible, 2u);
  EXPECT_TRUE(studyMask({setup, 0, 0, 32}).mask.formula->visible(0, 0, 1)) << "the other convention";
  std::filesystem::remove(path);
  EXPECT_THAT(errorOf(setup), HasSubstr("m.csv: cannot be opened"));
}

TEST(MaskStudy, MissingTextGivesEmptyStudy) {
  for (const char* text : {"", " \n", "caf\xE9"}) {
    const MaskStudy study = studyMask({plainSetup(text), 0, 0, 32});
    EXPECT_EQ(study.line(), nullptr);
    EXPECT_FALSE(study.mask.error);
    EXPECT_FALSE(study.mask.formula);
  }
}

TEST(MaskStudy, StopsWhenAsked) {
  std::stop_source stop;
  stop.request_stop();
  app::Setup setup = plainSetup(words(2048));
  setup.mask.compare = true;
  const MaskStudy study = studyMask({setup, 0, 0, 16}, stop.get_token());
  EXPECT_FALSE(study.other) << "the second mask was studied all the same";
  EXPECT_LE(study.mask.levels.size(), 1u);
  const auto mask = studyMask({plainSetup(words(700)), 0, 0, 16}).mask.formula;
  EXPECT_EQ(studyReach({mask, -1, 8, true}, stop.get_token()).picture.size(), 0);
}

}  // namespace
}  // namespace headscope::app
