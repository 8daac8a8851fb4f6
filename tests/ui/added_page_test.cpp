// A page added by the tests with one file and one row: opened, queried, drawn and undone like all others.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>

#include "app/compute/jobs/answer.h"
#include "app/platform/track.h"
#include "app/widgets/controls.h"
#include "app/widgets/paint.h"
#include "tests/support/ui_driver.h"

namespace headscope::test {
namespace {

using namespace app;

/// Counts the letters of the text on a worker.
class LettersLab : public Page {
 public:
  explicit LettersLab(PageServices& services)
      : services_(services), letters_(services.workers, [this](const std::string& text, std::stop_token) {
          ++computed;
          if (text == "break") throw std::runtime_error("no such letters");
          return attention::Result<std::size_t>(text.size());
        }) {}

  std::vector<Action> actions() override {
    return {{.id = "letters.shout",
             .name = "Shout the text",
             .section = "Letters",
             .shortcut = {static_cast<Key>('U'), {}},
             .run = [](Scene& scene) { scene.setup.input.text = "SHOUT"; }}};
  }
  bool take(const Scene&) override { return std::exchange(shown_, letters_.current()) != letters_.current(); }
  void draw(Scene& scene, const Layout& layout) override {
    View& view = services_.view;
    if (beginPanel(view, "letters", layout.center, 20, 20, 0)) {
      if (shown_ && shown_->value.ok()) {
        paintText(*ImGui::GetWindowDrawList(), view.fonts->hero, layout.center.GetCenter(), view.theme->text,
                  shown_->request + ": " + std::to_string(*shown_->value));
        track("letters.shown", layout.center.Min, layout.center.Max);
      }
      toggle(view, "letters.case", "Ignore case", scene.setup.input.ignoreCase);
    }
    endPanel();
  }
  void ask(const Scene& scene) override { letters_.ask(scene.setup.input.text, Lane::front); }
  void leave() override { ++left; }
  PageStatus status(const Scene&) const override {
    PageStatus status;
    status.shape = "letters";
    return status;
  }
  std::optional<std::string> error(const Scene&) const override {
    return shown_ && !shown_->value.ok() ? std::optional(shown_->value.error().message) : std::nullopt;
  }

  /// Starts writing a file, which blocks until `written` is set.
  void write(std::shared_future<void> written) {
    services_.files.write(
        "letters.txt",
        [written] {
          written.wait();
          return attention::success();
        },
        [](attention::Status) {});
  }
  std::size_t letters() const { return shown_ && shown_->value.ok() ? *shown_->value : 0; }
  std::atomic<int> computed = 0;
  int left = 0;

 private:
  PageServices& services_;
  std::shared_ptr<const Answered<std::string, std::size_t>> shown_;
  Answer<std::string, std::size_t> letters_;
};

std::vector<PageRow> withLetters() {
  std::vector<PageRow> rows(pageTable().begin(), pageTable().end());
  rows.push_back(
      {{"letters", "Letters", {static_cast<Key>('Y'), {}}, "Go to the letters", "", "Type letters"},
       [](PageServices& services) -> std::unique_ptr<Page> {
         return std::make_unique<LettersLab>(services);
       }});
  return rows;
}

class LabTable : public testing::Test {
 protected:
  const std::vector<PageRow> rows_ = withLetters();
  UiDriver ui_{1600, 900, 1, rows_};
  LettersLab& page() { return ui_.session().page<LettersLab>(); }
};

TEST_F(LabTable, KeyTabAndPaletteOpenThePage) {
  EXPECT_EQ(page().computed, 0) << "nobody looked at it yet";
  ui_.key(static_cast<Key>('Y'));
  EXPECT_EQ(ui_.scene().cursor.page, "letters");
  EXPECT_TRUE(ui_.has("letters.case"));
  ui_.click("page.heads");
  EXPECT_EQ(ui_.scene().cursor.page, "heads");
  EXPECT_EQ(page().left, 1);
  EXPECT_FALSE(ui_.has("letters.case"));
  ui_.click("page.letters");
  EXPECT_EQ(ui_.scene().cursor.page, "letters");
  ui_.key(static_cast<Key>('1'));
  ui_.chord(kCtrl, Key::k);
  ui_.type("letters");
  ui_.key(Key::enter);
  EXPECT_EQ(ui_.scene().cursor.page, "letters");
}

TEST_F(LabTable, PageComputesOnlyWhileShown) {
  ui_.key(static_cast<Key>('Y'));
  ui_.draw();
  EXPECT_EQ(page().letters(), ui_.scene().setup.input.text.size());
  EXPECT_TRUE(ui_.has("letters.shown"));
  const int computed = page().computed;
  ui_.draw();
  EXPECT_EQ(page().computed, computed) << "nothing changed";
  ui_.key(static_cast<Key>('1'));
  ui_.session().scene().setup.input.text = "other";
  ui_.draw();
  EXPECT_EQ(page().computed, computed);
}

TEST_F(LabTable, UndoRevertsChangesMadeOnThePage) {
  const std::string before = ui_.scene().setup.input.text;
  ui_.key(static_cast<Key>('Y'));
  ui_.key(static_cast<Key>('U'));
  ui_.draw();
  EXPECT_EQ(page().letters(), 5u);
  ui_.click("letters.case");
  EXPECT_FALSE(ui_.scene().setup.input.ignoreCase);
  ui_.chord(kCtrl, Key::z);
  EXPECT_TRUE(ui_.scene().setup.input.ignoreCase);
  ui_.chord(kCtrl, Key::z);
  ui_.draw();
  EXPECT_EQ(std::string(ui_.scene().setup.input.text), before);
  EXPECT_EQ(page().letters(), before.size());
  EXPECT_EQ(ui_.scene().cursor.page, "letters") << "where one looks is not taken back";
}

TEST_F(LabTable, ReportsErrorsOfTheShownPage) {
  ui_.key(static_cast<Key>('Y'));
  ui_.session().scene().setup.input.text = "break";
  ui_.draw();
  ASSERT_TRUE(ui_.session().error());
  EXPECT_THAT(*ui_.session().error(), testing::HasSubstr("no such letters"));
  ui_.session().scene().setup.input.text = "fine";
  ui_.draw();
  EXPECT_FALSE(ui_.session().error());
  EXPECT_EQ(page().letters(), 4u);
}

TEST(Closing, WaitsForFileWritesUnlessRequestedTwice) {
  const std::vector<PageRow> rows = withLetters();
  for (const bool twice : {false, true}) {
    UiDriver ui(1600, 900, 1, rows);
    std::promise<void> written;
    ui.session().page<LettersLab>().write(written.get_future().share());
    ui.session().closing().request();
    ui.frames(3);
    EXPECT_FALSE(ui.session().closing().done());
    EXPECT_THAT(ui.view().messages.notice, testing::HasSubstr("when the file is written"));
    if (twice) ui.session().closing().request();
    ui.frames(1);
    EXPECT_EQ(ui.session().closing().done(), twice);
    written.set_value();
    ui.draw();
    EXPECT_TRUE(ui.session().closing().done());
  }
}

TEST_F(LabTable, EveryPageHasNameKeyAndAction) {
  for (const PageRow& row : rows_) {
    EXPECT_FALSE(row.info.key.empty());
    EXPECT_FALSE(row.info.name.empty());
    EXPECT_FALSE(row.info.goTo.empty());
    const Action& action = ui_.session().actions().find("page." + std::string(row.info.key));
    EXPECT_EQ(action.shortcut, row.info.shortcut);
    ui_.key(row.info.shortcut.key);
    EXPECT_EQ(ui_.scene().cursor.page, row.info.key);
    EXPECT_TRUE(ui_.has("page." + std::string(row.info.key)));
  }
}

TEST_F(LabTable, RefusesUnknownScenePage) {
  Scene scene = openingScene();
  scene.cursor.page = "letters";
  EXPECT_TRUE(checkPage(scene, rows_).ok());
  EXPECT_EQ(checkPage(scene, pageTable()).error().message,
            "cursor.page is \"letters\", expected heads, flow, mask, map, cache, cost, model, lab, lessons "
            "or talk");
}

}  // namespace
}  // namespace headscope::test
