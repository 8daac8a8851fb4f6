// Statistics over many texts for every head, on the page Model.

#include <fstream>

#include "app/scene/scene_json.h"
#include "tests/support/matchers.h"
#include "tests/support/page_check.h"
#include "tests/support/temporary_folder.h"
#include "tests/ui/model/model_heads_support.h"

namespace headscope::test {
namespace {

class ModelTexts : public ModelHeads {
 protected:
  void openBundled() {
    ui.request("model.learned");
    ASSERT_TRUE(ui.scene().setup.subject.opened) << ui.view().messages.error;
    ASSERT_EQ(ui.scene().cursor.page, "model");
  }
  void measured(Index texts) {
    for (int i = 0; i < 500 && (page().texts.progress.runs || page().texts.progress.done < texts); ++i)
      ui.draw();
    ASSERT_TRUE(page().texts.progress.study) << page().texts.progress.problem << ui.view().messages.error;
    ASSERT_EQ(std::ssize(page().texts.progress.study->texts), texts);
  }
  void drop(const std::string& name, const std::string& lines) {
    std::ofstream(folder_ / name) << lines;
    ui.drop({(folder_ / name).string()});
  }
  TemporaryFolder folder_;
};

constexpr const char* kTexts =
    "{\"text\": \"When Anna and Ben went to the lake , Ben gave the key to\", \"other\": \"When Anna and Ben "
    "went "
    "to the lake , Anna gave the key to\", \"answer\": \"Anna\", \"other_answer\": \"Ben\"}\n"
    "{\"text\": \"milk river Ben cold door Mia hill sad ring milk river Ben\"}\n";

TEST_F(ModelTexts, MeasuresDroppedFileAndOpensClickedText) {
  openBundled();
  drop("texts.jsonl", kTexts);
  EXPECT_EQ(ui.scene().cursor.model.view, app::ModelView::study);
  measured(2);
  const auto study = page().texts.progress.study;
  EXPECT_EQ(study->problems, 0) << study->problem;
  ASSERT_TRUE(study->column("patch") && study->column("loss") && study->column("induction"));
  EXPECT_EQ(study->column("patch")->texts(0, 0), 1) << "one text has another beside it";
  EXPECT_EQ(study->column("induction")->texts(1, 2), 2);
  ui.choose("study.column", "induction");
  ASSERT_TRUE(ui.has("study.text.0"));
  const app::Index layer = ui.scene().cursor.model.layer, head = ui.scene().cursor.cell.head;
  const auto first = page().texts.texts.front();
  const auto& text = study->texts[first.text];
  ui.click("study.text.0");
  for (int i = 0; i < 50 && page().awaitedCell; ++i) ui.draw();
  ui.park();
  EXPECT_EQ(*ui.scene().setup.input.text, text.asked.text);
  EXPECT_EQ(*ui.scene().compare.other, text.asked.other);
  EXPECT_EQ(ui.scene().cursor.model.view, app::ModelView::heads);
  EXPECT_EQ(ui.scene().cursor.cell.query, text.query(layer, head));
  EXPECT_EQ(ui.scene().cursor.cell.key, text.key(layer, head));
  ui.chord(kCtrl, app::Key::z);
  EXPECT_NE(*ui.scene().setup.input.text, text.asked.text) << "one step of undo";
}

TEST_F(ModelTexts, TableAndMapSelectHeads) {
  openBundled();
  ui.request("model.texts.examples");
  measured(6);
  ui.choose("study.column", "previous").clickAt("study.figure", 0.2f, 0.6f);
  const auto chosen = [&] { return std::pair(ui.scene().cursor.model.layer, ui.scene().cursor.cell.head); };
  const auto first = chosen();
  const app::HeadColumn& column = *page().texts.progress.study->column("previous");
  EXPECT_GE(column.mean(first.first, first.second), column.mean.mean()) << "near the table's top";
  ui.click("study.shape.map").clickAt("study.figure", 0.2f, 0.4f);
  EXPECT_NE(chosen(), first);
  ui.click("study.shape.scatter");
  EXPECT_TRUE(ui.has("study.across"));
}

TEST_F(ModelTexts, FractionsOfWheelStepsScrollTheTable) {
  ui.resize(1280, 720);
  openBundled();
  ui.request("model.texts.examples");
  measured(6);
  for (int i = 0; i < 2; ++i) ui.wheelAt("study.figure", 0.5f, 0.6f, -0.3f);
  EXPECT_EQ(page().texts.first, 4);
  ui.wheelAt("study.figure", 0.5f, 0.6f, 0.3f);
  EXPECT_EQ(page().texts.first, 2);
}

TEST_F(ModelTexts, SceneRestoresTextsAndTheirView) {
  openBundled();
  drop("texts.jsonl", kTexts);
  measured(2);
  ui.click("study.shape.scatter").choose("study.column", "induction");
  const app::Scene saved = ui.scene();
  EXPECT_EQ(saved.compare.texts, (folder_ / "texts.jsonl").string());
  const auto read = app::parseScene(app::formatScene(saved), "saved");
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read->cursor.model.study, saved.cursor.model.study);
  EXPECT_EQ(read->cursor.model.study.shape, app::StudyShape::scatter);

  app::Scene without = saved;
  without.compare.texts.clear();
  ui.show(without);
  EXPECT_FALSE(page().texts.file);
  EXPECT_FALSE(page().texts.progress.study);
  ui.session().setScene(saved);
  for (int i = 0; i < 100 && !page().texts.file; ++i) ui.draw();
  measured(2);
  EXPECT_TRUE(ui.has("study.across"));

  app::Scene gone = saved;
  gone.compare.texts = (folder_ / "gone.jsonl").string();
  ui.session().setScene(gone);
  for (int i = 0; i < 100 && page().texts.problem.empty(); ++i) ui.draw();
  EXPECT_THAT(page().texts.problem, HasSubstr("gone.jsonl"));
  EXPECT_FALSE(page().texts.file);
}

TEST_F(ModelTexts, EveryShapeFitsAtEverySize) {
  openBundled();
  ui.request("model.view.study");
  EXPECT_THAT(flaws(ui), IsEmpty()) << "before a file was opened";
  ui.request("model.texts.examples");
  measured(6);
  for (const auto& [width, height] : {std::pair(1280, 720), std::pair(1920, 1080)}) {
    ui.resize(width, height);
    for (const char* shape : {"table", "map", "scatter"}) {
      ui.click(std::string("study.shape.") + shape);
      EXPECT_THAT(flaws(ui), IsEmpty()) << shape << " at " << width;
    }
  }
}

TEST_F(ModelTexts, ReportsInvalidTexts) {
  openBundled();
  drop("texts.jsonl", "{\"words\": \"a\"}\n");
  EXPECT_THAT(ui.view().messages.error, HasSubstr("line 1"));
  EXPECT_FALSE(page().texts.file);
  drop("more.jsonl",
       "{\"text\": \"Mia lost her ring\", \"answer\": \"Ben\", \"other_answer\": \"Ben\"}\n{\"text\": \"Mia "
       "lost her\"}\n");
  measured(2);
  EXPECT_EQ(page().texts.progress.study->problems, 1);
  EXPECT_THAT(page().texts.progress.study->problem, HasSubstr("line 1"));
}

TEST_F(ModelTexts, ResultsAreStaleOnceHeadsAreDisabled) {
  openBundled();
  drop("texts.jsonl", kTexts);
  measured(2);
  EXPECT_FALSE(page().texts.stale);
  ui.request("model.switch");
  EXPECT_TRUE(page().texts.stale);
  ui.click("study.again");
  measured(2);
  EXPECT_FALSE(page().texts.stale);
}

}  // namespace
}  // namespace headscope::test
