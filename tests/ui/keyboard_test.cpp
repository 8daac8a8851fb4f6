// Without a mouse: Tab reaches everything that can be pressed, an outline shows the keyboard focus, and
// Enter, Space and the arrow keys act there as the mouse would.

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <set>

#include "app/platform/track.h"
#include "app/platform/ui_state.h"
#include "tests/support/matchers.h"
#include "tests/support/page_check.h"
#include "tests/ui/page_views.h"

namespace headscope::test {
namespace {

using app::Key;
using app::Scene;
using app::TabStop;
using app::TabStopKind;

app::KeyboardFocus& focus() {
  return app::uiState().focus;
}

class Keyboard : public testing::Test {
 protected:
  /// Presses Tab without waiting for computations.
  void tab(bool back = false) {
    ui.pushKey(Key::tab, {.shift = back}, true).pushKey(Key::tab, {.shift = back}, false);
    ui.pushKey(Key::none, {}, false).frames(4);
  }
  /// Presses Tab until the focused control has the same middle as the control of that name.
  bool tabTo(const std::string& name) {
    for (int i = 0; i < 400; ++i) {
      tab();
      const TabStop* control = focus().control();
      const auto rect = app::tracked(name);
      if (control && rect && control->area.Contains(rect->GetCenter()) &&
          rect->Contains(control->area.GetCenter()))
        return true;
    }
    return false;
  }
  /// A control's name for failure messages: the tracked names that match its area.
  static std::string nameOf(const TabStop& control) {
    std::string names;
    for (const auto& [name, rect] : app::allTracked())
      if (control.area.Contains(rect.GetCenter()) && rect.Contains(control.area.GetCenter()))
        names += name + " ";
    return fmt::format("{}at ({:.0f}, {:.0f}) of {}", names, control.area.GetCenter().x,
                       control.area.GetCenter().y, control.window->Name);
  }

  UiDriver ui{1280, 720};
};

TEST_F(Keyboard, TabReachesEveryVisibleControlOfEveryView) {
  for (const PageView& view : pageViews()) {
    SCOPED_TRACE(view.name);
    ui.session().setScene(withView(app::openingScene(), view));
    focus().release();
    ui.park();
    std::map<ImGuiID, std::string> drawn;
    for (const TabStop& control : focus().reachable()) drawn[control.id] = nameOf(control);
    ASSERT_GE(drawn.size(), 8u) << "the bar alone has as many";
    std::set<ImGuiID> reached;
    std::vector<std::string> hidden, covered;
    // A panel that scrolls may show more controls than were drawn at first.
    for (std::size_t i = 0; i < 2 * drawn.size() + 20; ++i) {
      tab();
      const TabStop* control = focus().control();
      ASSERT_NE(control, nullptr);
      reached.insert(control->id);
      if (control->seen.GetWidth() < 1 || control->seen.GetHeight() < 1) hidden.push_back(nameOf(*control));
      if (control->kind != TabStopKind::text && ImGui::GetHoveredID() != control->id)
        covered.push_back(nameOf(*control));
    }
    for (const ImGuiID id : reached) drawn.erase(id);
    for (const auto& [id, name] : drawn) ADD_FAILURE() << name << " is not reached";
    EXPECT_THAT(hidden, IsEmpty());
    EXPECT_THAT(covered, IsEmpty()) << "the pointer can't get there";
  }
}

TEST_F(Keyboard, EnterAndSpacePressButtonsAndSwitches) {
  ASSERT_TRUE(tabTo("causal"));
  const Scene before = ui.scene();
  ui.key(Key::space);
  EXPECT_NE(ui.scene().setup.mask, before.setup.mask);
  EXPECT_FALSE(ui.scene().cursor.decoding) << "Space is the control's while it has the keyboard";
  ui.key(Key::enter);
  EXPECT_EQ(ui.scene().setup.mask, before.setup.mask);
  ui.key(Key::escape);
  EXPECT_FALSE(focus().on());
  ui.key(static_cast<Key>('D'));
  EXPECT_TRUE(ui.scene().cursor.decoding) << "and the page's again";
}

TEST_F(Keyboard, ArrowsMoveASliderAndEnterTypesAValue) {
  ASSERT_TRUE(tabTo("kv_heads"));
  ASSERT_EQ(focus().control()->kind, TabStopKind::slider);
  const app::Index heads = ui.scene().setup.model.kvHeads;
  ui.key(Key::right);
  EXPECT_GT(ui.scene().setup.model.kvHeads, heads);
  EXPECT_EQ(ui.scene().cursor.focus, -1) << "no head is walked to meanwhile";
  ui.key(Key::enter).chord(kCtrl, Key::a).type("1").key(Key::enter);
  EXPECT_EQ(ui.scene().setup.model.kvHeads, 1);
}

TEST_F(Keyboard, TextBoxAcceptsTypingAndTabLeavesIt) {
  ASSERT_TRUE(tabTo("text"));
  ui.frames(3).type(" x1");
  EXPECT_EQ(*ui.scene().setup.input.text, *app::openingScene().setup.input.text + " x1") << "at its end";
  tab();
  ui.key(static_cast<Key>('D'));
  EXPECT_TRUE(ui.scene().cursor.decoding) << "the letter is a key again";
}

TEST_F(Keyboard, ArrowsMoveAcrossCellsAndHeads) {
  ASSERT_TRUE(tabTo("head.0"));
  ui.frames(3);
  EXPECT_EQ(ui.view().hover, (app::Crosshair{0, 0, 0}));
  ui.key(Key::down).key(Key::right);
  EXPECT_EQ(ui.view().hover, (app::Crosshair{0, 1, 1}));
  const ImGuiID first = focus().control()->id;
  for (int i = 0; i < 40 && focus().control()->id == first; ++i) ui.key(Key::right);
  EXPECT_TRUE(ui.find("head.1").Contains(focus().place())) << "the head beside it";
  ui.key(Key::enter);
  EXPECT_EQ(ui.scene().cursor.focus, 1);
}

TEST_F(Keyboard, ListSelectionReturnsKeyboardFocus) {
  ASSERT_TRUE(tabTo("colormap"));
  const ImGuiID box = focus().control()->id;
  const render::Colormap before = ui.scene().look.colormap;
  ui.key(Key::enter).frames(4);
  ASSERT_TRUE(ui.has("colormap.magma"));
  ui.key(Key::down).key(Key::down).key(Key::enter).frames(4);
  EXPECT_NE(ui.scene().look.colormap, before);
  ASSERT_NE(focus().control(), nullptr);
  EXPECT_EQ(focus().control()->id, box);
}

TEST_F(Keyboard, TabStaysInsideADialog) {
  ui.chord(kCtrl, Key::comma);
  ASSERT_EQ(ui.dialog(), "settings");
  const ImRect dialog = ui.find("dialog");
  std::set<ImGuiID> reached;
  for (int i = 0; i < 30; ++i) {
    tab();
    ASSERT_NE(focus().control(), nullptr);
    EXPECT_TRUE(dialog.Contains(focus().control()->area.GetCenter())) << nameOf(*focus().control());
    reached.insert(focus().control()->id);
  }
  EXPECT_GE(reached.size(), 8u);
}

TEST_F(Keyboard, MouseTakesThePointerBack) {
  ASSERT_TRUE(tabTo("causal"));
  EXPECT_TRUE(focus().on());
  ui.hover("head.2");
  EXPECT_FALSE(focus().on());
  EXPECT_EQ(ui.view().hover.head, 2);
}

TEST_F(Keyboard, FocusRingIsVisibleOnEveryBackground) {
  ui.session().scene().cursor.cell.query = 1;  // the hovered cell's tooltip doesn't cover that row's mark
  for (const bool light : {false, true}) {
    ui.view().preferences.light = light;
    for (const char* name : {"causal", "head.3", "bar.palette"}) {
      ASSERT_TRUE(tabTo(name)) << name;
      EXPECT_THAT(faintMarks(ui), IsEmpty()) << name;
      std::vector<std::string> marks;
      for (const app::DrawnMark& mark : app::uiState().marks) marks.push_back(mark.name);
      EXPECT_THAT(marks, Contains("focus.ring"));
    }
  }
}

}  // namespace
}  // namespace headscope::test
