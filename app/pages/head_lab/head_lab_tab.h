#pragma once

#include <memory>
#include <span>
#include <vector>

#include "app/pages/common/page.h"
#include "app/pages/head_lab/head_lab_state.h"

namespace headscope::app::head_lab_page {

/// An inner tab of the page: what it requests while visible, and how answers are drawn. A tab is a class in
/// its own file and a row of the table in head_lab_tabs.cpp, which determines its place in the tab line, its
/// action and its name in scenes.
class Tab {
 public:
  Tab(PageServices& services, State& page) : services_(services), page_(page) {}
  virtual ~Tab() = default;
  Tab(const Tab&) = delete;
  Tab& operator=(const Tab&) = delete;

  /// Called while visible, before drawing.
  virtual void prepare(Scene&) {}
  /// `area` is the space below the tab line. If the tab's row needs the layer, `page_.head` is set.
  virtual void draw(Scene& scene, const ImRect& area, const Layout& layout) = 0;
  /// Called instead of draw() if the row needs the layer and there is none. Explains why, and what to do.
  virtual void drawMissing(Scene& scene, const ImRect& area, const Layout& layout);
  /// Called while visible. Requests what is on screen, after the panels are drawn.
  virtual void ask(const Scene&) {}
  /// Called when another page is shown, after the answers were dropped.
  virtual void leave() {}
  /// Draws the choices on the right of the tab line, from `left` on: the head, its query and its key.
  virtual void choices(Scene& scene, const ImRect& line, float left);
  /// Handles the arrow keys ← and →, by `by`. Returns false to let them step through the pipeline.
  virtual bool move(Scene&, int) { return false; }
  /// Handles Delete: switches the hovered head off or on. Does nothing in tabs without heads to switch.
  virtual void switchHead(Scene&) {}
  /// Handles Ctrl+V outside of text boxes. Does nothing in tabs that don't accept pasted data.
  virtual void paste(Scene&) {}
  /// While presenting: one sentence that describes what is shown.
  virtual std::vector<CaptionPart> caption(const Scene&) const { return {}; }
  /// What the status line says is shown; "" = the layer.
  virtual std::string shape() const { return ""; }

 protected:
  PageServices& services_;
  State& page_;
};

/// A row in the table of tabs, in tab order.
struct TabRow {
  std::string_view key;  ///< in scenes and tests: "weights"
  const char* label;     ///< on the tab
  const char* action;    ///< in the list of actions
  bool needsLayer;       ///< draws only if the layer is computed, else explains why it isn't
  std::unique_ptr<Tab> (*make)(PageServices&, State&);
  const char* words = "";  ///< other search words for the list of actions
};
std::span<const TabRow> tabTable();
/// Returns an Error that lists the tabs if the scene's tab isn't one of them.
attention::Status checkTab(const Scene& scene);

// The tabs' factories.
std::unique_ptr<Tab> makePipelineTab(PageServices& services, State& page);
std::unique_ptr<Tab> makeWeightsTab(PageServices& services, State& page);
std::unique_ptr<Tab> makeEmbeddingsTab(PageServices& services, State& page);
std::unique_ptr<Tab> makeAblationTab(PageServices& services, State& page);
std::unique_ptr<Tab> makePrecisionTab(PageServices& services, State& page);
std::unique_ptr<Tab> makeDetectorsTab(PageServices& services, State& page);
std::unique_ptr<Tab> makeViewsTab(PageServices& services, State& page);
std::unique_ptr<Tab> makeHeadCountTab(PageServices& services, State& page);
std::unique_ptr<Tab> makeMistakesTab(PageServices& services, State& page);

/// Draws the tab line with the shown tab's choices on the right. Returns the y of its bottom.
float tabLine(Scene& scene, State& page, Tab& shown, const Layout& layout);

}  // namespace headscope::app::head_lab_page
