// A run over many texts: it continues where it stopped, and shows the result of each text.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/compute/figures/study_figures.h"
#include "app/compute/model/text_study.h"
#include "tests/app/compute/layer/golden_scene.h"
#include "tests/app/compute/layer/snapshot_support.h"

namespace headscope::test {
namespace {

using namespace app;

class Texts : public testing::Test {
 protected:
  Texts() {
    scene_ = openingScene();
    auto opened = openModel(kLearned);
    if (!opened) throw std::runtime_error(opened.error().message);
    adoptModel(scene_, kLearned, *opened);
  }
  TextsQuestion question(std::vector<std::string> texts) {
    TextFile file{"texts.txt", {}};
    for (std::string& text : texts)
      file.texts.push_back({std::ssize(file.texts) + 1, std::move(text), "", "", "", {}, {}});
    TextsQuestion asked = textsQuestion(scene_.setup, std::make_shared<const TextFile>(std::move(file)));
    asked.measures.loss = asked.measures.patch = false;
    return asked;
  }

  Scene scene_;
  Resources resources_{kRoomy};
  Workers workers_{[] {}};
};

TEST_F(Texts, BatchMatchesSingleTexts) {
  TextsRun run(workers_, resources_);
  const TextsQuestion asked =
      question({"Mia lost her ring in the garden", "", "milk river Ben cold milk river Ben"});
  run.start(asked);
  workers_.finish();
  const auto progress = run.progress();
  EXPECT_FALSE(progress.runs);
  EXPECT_EQ(progress.done, 3);
  ASSERT_TRUE(progress.study);
  EXPECT_EQ(progress.study->problems, 1) << "there is nothing to read in an empty text";
  const StudiedHeads alone = studyText(asked.setup, asked.file->texts[2], asked.measures, resources_, {});
  const auto top = textsOfHead(*progress.study, "induction", 1, 2, 5);
  ASSERT_FALSE(top.empty());
  EXPECT_EQ(top.front().text, 2u);
  for (const auto& [name, values] : columnsOf(alone))
    if (name == "induction") {
      EXPECT_FLOAT_EQ(top.front().value, (*values)(1, 2));
    }
}

TEST_F(Texts, ResumesAfterStop) {
  TextsRun run(workers_, resources_);
  const TextsQuestion asked = question({"Mia lost her ring", "Mia lost her key", "Mia lost her ball"});
  run.start(asked);
  run.stop();
  workers_.finish();
  const Index done = run.progress().done;
  EXPECT_FALSE(run.progress().runs);
  run.start(asked);
  EXPECT_GE(run.progress().done, done) << "what has come stays";
  workers_.finish();
  EXPECT_EQ(run.progress().done, 3);
  run.start(question({"Ben"}));
  EXPECT_EQ(run.progress().of, 1);
  workers_.finish();
  EXPECT_EQ(run.progress().study->texts.size(), 1u);
  run.forget();
  EXPECT_FALSE(run.progress().study);
}

TEST_F(Texts, RefusesTextsOverBudget) {
  Resources small(Limits{1000});
  TextsRun run(workers_, small);
  run.start(question({"Mia lost her ring"}));
  workers_.finish();
  EXPECT_FALSE(run.progress().runs);
  EXPECT_THAT(run.progress().problem, testing::HasSubstr("the budget is"));
}

TEST(StudyFigures, SortsShowsAndFindsHeads) {
  TextsStudy study;
  study.question.file = std::make_shared<const TextFile>(TextFile{"texts.txt", {}});
  const auto column = [&](const char* name, std::vector<float> means) {
    HeadColumn& one = study.columns.emplace_back();
    one.name = one.title = name;
    one.mean = Eigen::Map<attention::Matrix>(means.data(), 2, 2);
    one.spread = attention::Matrix::Constant(2, 2, 0.1f);
    one.most = one.texts = decltype(one.most)::Constant(2, 2, 1);
  };
  column("up", {0.5f, std::nanf(""), 2, -1});
  column("across", {1, 2, 3, 4});
  const TableFigure table = tableFigure(study, "up", false);
  using Heads = std::vector<std::pair<Index, Index>>;
  EXPECT_EQ(table.rows, (Heads{{1, 0}, {0, 0}, {1, 1}, {0, 1}})) << "the largest first, none last";
  EXPECT_EQ(tableFigure(study, "up", true).rows.front(), (std::pair<Index, Index>{1, 1}));
  const HeadScatter scatter = headScatter(study, "across", "up", {1, 0});
  EXPECT_EQ(scatter.heads, (Heads{{0, 0}, {1, 0}, {1, 1}})) << "a head without a mean has no mark";
  ASSERT_EQ(scatter.plot.marks.size(), 3u);
  EXPECT_EQ(scatter.plot.marks[1].label, "1.0");
  EXPECT_TRUE(scatter.plot.marks[1].chosen);
  EXPECT_EQ(scatter.plot.y.low, -1);
  EXPECT_EQ(scatter.plot.x.low, 0) << "0 is in sight";
  const GridFigure map = studyMap(study, "up");
  EXPECT_TRUE(map.aroundZero);
  EXPECT_FLOAT_EQ(map.high, 2);
}

}  // namespace
}  // namespace headscope::test
