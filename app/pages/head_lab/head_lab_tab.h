#pragma once

#include <memory>
#include <span>
#include <vector>

#include "app/pages/common/page.h"
#include "app/pages/head_lab/head_lab_state.h"

namespace headscope::app::head_lab_page {

/// One of the page's inner tabs: what it asks for while it is shown, and how the answers are drawn. A tab is
/// a class in a file of its own and a row of the table in lab_tabs.cpp; its place in the line of tabs, its
/// action and its name in scenes follow.
class Tab {
 public:
  Tab(PageServices& services, State& page) : services_(services), page_(page) {}
  virtual ~Tab() = default;
  Tab(const Tab&) = delete;
  Tab& operator=(const Tab&) = delete;

  /// At the start of a frame, shown or not: takes the answers that have come; whether there were any.
  virtual bool take(const Scene&) { return false; }
  /// While shown, before anything is drawn.
  virtual void prepare(Scene&) {}
  /// `area` is what the line of tabs leaves. `page_.head` is there where the tab's row says that it needs it.
  virtual void draw(Scene& scene, const ImRect& area, const Layout& layout) = 0;
  /// In place of draw() where a row that needs the layer has none: why, and what to do.
  virtual void drawMissing(Scene& scene, const ImRect& area, const Layout& layout);
  /// While shown: asks for what is on screen, after the panels.
  virtual void ask(const Scene&) {}
  /// Another page is shown: what is under way for this tab stops, and what it alone holds is let go.
  virtual void leave() {}
  /// What stands at the right of the line of tabs, from `left` on: the head, its query and its key.
  virtual void choices(Scene& scene, const ImRect& line, float left);
  /// The arrows ← → by so many; false where they step through the pipeline.
  virtual bool move(Scene&, int) { return false; }
  /// Delete: switches the head that is pointed at off, or on again; other tabs have nothing to switch.
  virtual void switchHead(Scene&) {}
  /// Ctrl+V outside of text boxes; other tabs have nothing to paste into.
  virtual void paste(Scene&) {}
  /// While presenting: one sentence that says what is seen.
  virtual std::vector<CaptionPart> caption(const Scene&) const { return {}; }
  /// What the status line says is shown; empty: the layer.
  virtual std::string shape() const { return ""; }

 protected:
  PageServices& services_;
  State& page_;
};

/// A row of the table of tabs, which stand in its order.
struct TabRow {
  std::string_view key;  ///< in scenes and tests: "weights"
  const char* label;     ///< on the tab
  const char* action;    ///< in the list of actions
  bool needsLayer;       ///< without a layer's numbers it shows why there are none
  std::unique_ptr<Tab> (*make)(PageServices&, State&);
  const char* words = "";  ///< what else people call it, for the list of actions
};
std::span<const TabRow> tabTable();
/// An error that names the tabs there are, where the scene's is none of them.
attention::Status checkTab(const Scene& scene);

// The tabs' makers.
std::unique_ptr<Tab> makePipelineTab(PageServices& services, State& page);
std::unique_ptr<Tab> makeWeightsTab(PageServices& services, State& page);
std::unique_ptr<Tab> makeEmbeddingsTab(PageServices& services, State& page);
std::unique_ptr<Tab> makeAblationTab(PageServices& services, State& page);
std::unique_ptr<Tab> makePrecisionTab(PageServices& services, State& page);
std::unique_ptr<Tab> makeDetectorsTab(PageServices& services, State& page);
std::unique_ptr<Tab> makeViewsTab(PageServices& services, State& page);
std::unique_ptr<Tab> makeHeadCountTab(PageServices& services, State& page);
std::unique_ptr<Tab> makeMistakesTab(PageServices& services, State& page);

/// Draws the line of tabs, and at its right what the shown one offers. Returns where the line ends below.
float tabLine(Scene& scene, State& page, Tab& shown, const Layout& layout);

}  // namespace headscope::app::head_lab_page
