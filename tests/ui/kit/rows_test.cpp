// Rows of a panel that can be clicked, and pictures with rows next to them, on a page of the tests.

#include "app/kit/rows.h"

#include <gtest/gtest.h>

#include "app/kit/control_line.h"
#include "app/platform/track.h"
#include "tests/support/ui_driver.h"

namespace headscope::test {
namespace {

using namespace app;

constexpr Index kSquares = 40;

/// Rows in the left panel, and controls in a line above the page.
class RowsPage : public Page {
 public:
  explicit RowsPage(PageServices& services) : services_(services) {}

  void draw(Scene&, const Layout& layout) override {
    leftPanel(services_.view, layout, "rows", [&](Rows& rows) {
      rows.section("ROWS");
      if (rows.bar("bar", "half", 0.5, "50 %")) ++bars;
      rows.bar("", "cannot be clicked", 2, "200 %");
      if (const auto clicked = rows.numbers("square", kSquares, [&](Index i) { return i == chosen; }))
        chosen = *clicked;
      rows.beside(
          0.4f, [](const ImRect& area) { track("picture", area.Min, area.Max); },
          [&] {
            rows.swatch(rows.theme().query, "full", "12");
            rows.pair("beside", "1", {.name = "beside"});
          });
      rows.pair("below", "2", {.name = "below", .lined = true});
    });
    if (beginPanel(services_.view, "line", layout.center, 0, 0)) {
      ControlLine line(services_.view, ImRect(layout.center.Min, layout.center.Min + ImVec2(300, 34)),
                       ControlLine::From::left, 12);
      for (const char* name : {"first", "second", "third"})
        line.part(name, 120, [&] { toggle(services_.view, name, name, on); });
    }
    endPanel();
  }
  void ask(const Scene&) override {}
  PageStatus status(const Scene&) const override { return {}; }

  int bars = 0;
  Index chosen = -1;
  bool on = false;

 private:
  PageServices& services_;
};

std::vector<PageRow> withRows() {
  std::vector<PageRow> rows(pageTable().begin(), pageTable().end());
  rows.push_back(
      {{"rows", "Rows", {static_cast<Key>('Y'), {}}, "Go to the rows", "", ""},
       [](PageServices& services) -> std::unique_ptr<Page> { return std::make_unique<RowsPage>(services); }});
  return rows;
}

class KitRows : public testing::Test {
 protected:
  KitRows() { ui.request("page.rows"); }
  RowsPage& page() { return ui.session().page<RowsPage>(); }

  std::vector<PageRow> rows = withRows();
  UiDriver ui{1600, 900, 1, rows};
};

TEST_F(KitRows, BarsAndSquaresAreClicked) {
  ui.click("bar");
  EXPECT_EQ(page().bars, 1);
  ui.click("square.17");
  EXPECT_EQ(page().chosen, 17);
}

TEST_F(KitRows, SquaresWrapInsideThePanel) {
  const ImRect first = ui.find("square.0"), last = ui.find("square.39"), bar = ui.find("bar");
  EXPECT_GT(last.Min.y, first.Max.y);
  for (Index i = 0; i < kSquares; ++i) {
    const ImRect square = ui.find("square." + std::to_string(i));
    EXPECT_GE(square.Min.x, bar.Min.x) << i;
    EXPECT_LE(square.Max.x, bar.Max.x) << i;
  }
}

TEST_F(KitRows, RowsStandBesideAndBelowAPicture) {
  const ImRect picture = ui.find("picture"), beside = ui.find("beside"), below = ui.find("below");
  EXPECT_FLOAT_EQ(picture.GetWidth(), picture.GetHeight());
  EXPECT_GT(beside.Min.x, picture.Max.x);
  EXPECT_LT(beside.Max.y, picture.Max.y);
  EXPECT_FLOAT_EQ(beside.Max.x, below.Max.x);
  EXPECT_FLOAT_EQ(below.Min.x, picture.Min.x);
  EXPECT_GE(below.Min.y, picture.Max.y);
}

TEST_F(KitRows, PartsThatDontFitALineAreLeftOut) {
  EXPECT_TRUE(ui.has("first") && ui.has("second"));
  EXPECT_FALSE(ui.has("third"));
  EXPECT_GT(ui.find("second").Min.x, ui.find("first").Max.x);
}

}  // namespace
}  // namespace headscope::test
