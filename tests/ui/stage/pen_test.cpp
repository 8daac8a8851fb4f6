// The pen: its strokes belong to a cell or a word and move with it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/scene/links/link.h"
#include "app/scene/scene_json.h"
#include "tests/support/ui_driver.h"

namespace headscope::test {
namespace {

using app::Index;
using app::Key;
using app::PenStroke;

constexpr const char* kStroke = "stage.stroke.0";

class Pen : public testing::Test {
 protected:
  Pen() {
    ui.view().present = true;
    write("one two three two four");
    ui.key(static_cast<Key>('W'));
  }
  void write(const std::string& text) {
    ui.session().scene().setup.input.text = text;
    ui.draw();
  }
  /// Draws a short line inside a cell of a picture with all tokens on both sides.
  void drawOnCell(const std::string& picture, Index row, Index column) {
    const auto n = static_cast<float>(tokens());
    const auto part = [&](Index at, float within) { return (static_cast<float>(at) + within) / n; };
    ui.dragAcross(picture, ImVec2(part(column, 0.3f), part(row, 0.3f)),
                  ImVec2(part(column, 0.7f), part(row, 0.6f)));
  }
  Index tokens() { return std::ssize(ui.sequence().queries); }
  /// The row and column of the picture's cell that contains the line's middle.
  std::pair<Index, Index> cell(const std::string& picture) {
    const ImRect all = ui.find(picture);
    const ImVec2 at = ui.find(kStroke).GetCenter();
    const auto n = static_cast<float>(tokens());
    return {static_cast<Index>((at.y - all.Min.y) / all.GetHeight() * n),
            static_cast<Index>((at.x - all.Min.x) / all.GetWidth() * n)};
  }
  using At = std::pair<Index, Index>;

  UiDriver ui{1280, 720};
};

TEST_F(Pen, StrokeMovesWithItsCell) {
  drawOnCell("head.3", 3, 1);
  ASSERT_EQ(cell("head.3"), At(3, 1));
  write("zero one two three two four");
  EXPECT_EQ(cell("head.3"), At(4, 2)) << "one before both";
  write("one two and three two four five six");
  EXPECT_EQ(cell("head.3"), At(4, 1)) << "one between them, two behind";
  write("one two two four");
  EXPECT_EQ(cell("head.3"), At(2, 1)) << "one removed between them";
  write("one TWO three two four");
  EXPECT_EQ(cell("head.3"), At(3, 1)) << "a word that was replaced keeps its place";
  write("one three four five");
  EXPECT_FALSE(ui.has(kStroke)) << "its cell is gone";
  write("one two three two four");
  EXPECT_EQ(cell("head.3"), At(3, 1)) << "and is back";
}

TEST_F(Pen, StrokeFollowsPictureAndIsErasedByBackspace) {
  drawOnCell("head.3", 2, 0);
  EXPECT_EQ(ui.scene().cursor.focus, -1) << "the page is left alone";
  ui.resize(1920, 1080);
  EXPECT_EQ(cell("head.3"), At(2, 0));
  ui.key(static_cast<Key>('3'));
  EXPECT_FALSE(ui.has(kStroke)) << "that picture isn't on this page";
  ui.key(static_cast<Key>('1'));
  EXPECT_TRUE(ui.has(kStroke));
  ui.key(Key::backspace);
  EXPECT_FALSE(ui.has(kStroke));
}

TEST_F(Pen, StrokesFollowCellsOnOtherPages) {
  for (const auto& [page, picture] : {std::pair("mask", "mask_map"), std::pair("lab", "stage.views.map")}) {
    SCOPED_TRACE(page);
    write("one two three two four");
    ui.session().scene().cursor.page = page;
    ui.session().scene().cursor.lab.tab = "views";
    ui.draw();
    ASSERT_TRUE(ui.has(picture)) << testing::PrintToString(ui.names());
    drawOnCell(picture, 3, 1);
    ASSERT_EQ(cell(picture), At(3, 1));
    write("zero one two three two four");
    EXPECT_EQ(cell(picture), At(4, 2));
    ui.key(Key::backspace);
  }
}

TEST_F(Pen, StrokeOnModelWordFollowsTheWord) {
  ui.view().request("model.learned");
  ui.session().scene().cursor.page = "model";
  ui.draw().dragAcross("strip.word.2", ImVec2(0.2f, 0.5f), ImVec2(0.8f, 0.6f));
  const PenStroke line = ui.scene().look.strokes->front();
  ASSERT_EQ(line.cell.size(), 1u) << line.on;
  const std::string text = *ui.scene().setup.input.text;
  write("Then " + text);
  const ImRect word = ui.find("strip.word.2"), next = ui.find("strip.word.3"), drawn = ui.find(kStroke);
  EXPECT_TRUE(next.Contains(drawn.GetCenter())) << line.cell.front().word;
  EXPECT_FALSE(word.Contains(drawn.GetCenter()));
}

/// What a scene's pen lines may hold together is refused in files, also in a talk's views, and not drawn.
TEST_F(Pen, PointsOfAllStrokesAreLimited) {
  const auto full = [](std::size_t strokes) {
    PenStroke stroke{"heads", "", {}, false, {}};
    for (std::size_t i = 0; i < app::kMaxStrokePoints; ++i)
      stroke.points.push_back({static_cast<float>(i) / 4000, 0.5f});
    return std::vector<PenStroke>(strokes, stroke);
  };
  constexpr std::size_t kFit = app::kMaxPenPoints / app::kMaxStrokePoints;
  app::Scene scene = ui.scene();
  const auto read = [&] { return app::parseScene(app::formatScene(scene), "a file"); };
  scene.look.strokes = full(kFit);
  ASSERT_TRUE(read().ok()) << read().error().message;
  const app::Scene fits = scene;
  scene.look.strokes = full(app::kMaxStrokes);
  constexpr const char* kRefused = "strokes has more than 200000 points together";
  EXPECT_THAT(read().error().message, testing::HasSubstr(kRefused));
  const auto view = std::make_shared<const app::Scene>(scene);
  scene = fits;
  scene.talk = app::Talk{{{"one", "", std::make_shared<const app::Scene>(fits)}, {"two", "", view}}};
  EXPECT_THAT(read().error().message, testing::HasSubstr(kRefused));

  // Drawn: the last stroke ends with the pen, and another isn't begun.
  scene = fits;
  scene.look.strokes.edit().back().points.resize(app::kMaxStrokePoints - 3);
  ui.show(scene);
  const auto points = [&] {
    std::size_t all = 0;
    for (const PenStroke& stroke : *ui.scene().look.strokes) all += stroke.points.size();
    return all;
  };
  drawOnCell("head.3", 3, 1);
  for (int i = 0; i < 2; ++i) ui.dragAcross("head.5", ImVec2(0.1f, 0.1f), ImVec2(0.9f, 0.9f));
  EXPECT_EQ(points(), app::kMaxPenPoints);
  EXPECT_THAT(ui.view().messages.error, testing::HasSubstr("200,000 points together, the maximum"));
  ui.key(Key::backspace);
  EXPECT_EQ(points(), 0u);
}

TEST_F(Pen, StrokesSurviveFileAndLink) {
  drawOnCell("head.3", 3, 1);
  ui.dragAcross("head.5", ImVec2(0.1f, 0.1f), ImVec2(0.4f, 0.9f));
  const auto& lines = ui.scene().look.strokes;
  ASSERT_EQ(lines->size(), 2u);
  const auto file = app::parseScene(app::formatScene(ui.scene()), "a file");
  ASSERT_TRUE(file.ok()) << file.error().message;
  EXPECT_EQ(file->look.strokes, lines);
  const auto link = app::linkTo(ui.scene());
  ASSERT_TRUE(link.ok()) << link.error().message;
  const auto opened = app::readLink(*link);
  ASSERT_TRUE(opened.ok()) << opened.error().message;
  EXPECT_EQ(opened->look.strokes, lines);
  ui.show(*opened);
  EXPECT_EQ(cell("head.3"), At(3, 1));
}

}  // namespace
}  // namespace headscope::test
