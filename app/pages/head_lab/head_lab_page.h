#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "app/compute/heads/head_studies.h"
#include "app/compute/heads/lab_studies.h"
#include "app/compute/layer/layer_parts.h"
#include "app/compute/layer/snapshot.h"
#include "app/kit/plane_view.h"
#include "app/kit/shown.h"
#include "app/pages/common/layer_steps.h"
#include "app/pages/common/page.h"
#include "app/widgets/heatmap_layer.h"
#include "app/widgets/panel.h"
#include "app/widgets/view.h"
#include "imgui_internal.h"

namespace headscope::app::head_lab_page {

/// The page's view state, which its panels may change.
struct State {
  explicit State(PageServices& services)
      : view(services.view), shown(services.view, services.workers, services.resources) {}

  View& view;
  std::shared_ptr<const Snapshot> snapshot;  ///< of the layer; null before the first
  std::shared_ptr<const LayerParts> layer;   ///< of the head drawn; null until computed
  MatrixTextures pictures;                   ///< by MatrixPicture::name

  ShownSet shown;  ///< all that the page and its tabs show
  Shown<PartsQuestion, LayerParts> parts{shown, layerParts};
  Shown<HeadPartsQuestion, HeadParts> head{
      shown, headParts, {}, [this](const HeadPartsQuestion& drawn, const auto&) { layer = drawn.layer; }};
  Shown<std::shared_ptr<const HeadParts>, WeightStudy> weights{shown, studyWeights};
  Shown<MistakeQuestion, MistakeStudy> study{shown, studyMistake};
  /// For a mistake about scaling.
  Shown<attention::Mistake, std::vector<attention::SaturationPoint>> curve{
      shown, [](attention::Mistake mistake, std::stop_token stop) {
        return attention::saturation(mistake, kMistakeDims, 12, kSaturationLayers, stop);
      }};
  bool showsEntropy = false;  ///< where one plot fits: the entropy, not the largest weight
  /// Whether there is nothing to show in detail: no tokens, or a layer that can't be computed.
  bool missing() const { return snapshot && (snapshot->error || snapshot->empty); }
  /// Why the layer's parts can't be computed; "" if they can.
  std::string problem() const { return parts.problem() + head.problem(); }
  /// A tab's area without its margins.
  ImRect inset(const ImRect& area) const {
    const ImVec2 by(view.px(20), view.px(12));
    return {area.Min + by, area.Max - by};
  }
};

/// The selected query and key, inside the drawn head.
Cell selectedCell(const Scene& scene, const State& page);

/// Draws the tag "hover", for a receipt that previews what is hovered. Returns its width with the gap after.
float paintHoverTag(const View& view, ImVec2 leftMiddle);
/// Outlines what is tracked as `name` dashed, as everything hovered is.
void paintGhostOf(const View& view, const std::string& name);

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
  /// Called while visible. Requests what is on screen, after the panels are drawn.
  virtual void ask(const Scene&) {}
  /// Called when another page is shown, after the answers were dropped.
  virtual void leave() {}
  /// Draws the choices on the right of the tab line, from `left` on: the head, its query and its key.
  virtual void choices(Scene& scene, const ImRect& line, float left);
  /// Handles the arrow keys ← and →, Home and End, by `by`. Does nothing in tabs without a sequence.
  virtual void move(Scene&, int) {}
  /// Handles Delete: switches the selected head off or on. Does nothing in tabs without heads to switch.
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
  const char* about;       ///< below the tabs: what it is for, in a sentence
  const char* words = "";  ///< other search words for the list of actions
};
std::span<const TabRow> tabTable();
/// Returns an Error that lists the tabs if the scene's tab isn't one of them.
attention::Status checkTab(const Scene& scene);

// The tabs' factories.
std::unique_ptr<Tab> makeWeightsTab(PageServices& services, State& page);
std::unique_ptr<Tab> makeEmbeddingsTab(PageServices& services, State& page);
std::unique_ptr<Tab> makeAblationTab(PageServices& services, State& page);
std::unique_ptr<Tab> makeDetectorsTab(PageServices& services, State& page);
std::unique_ptr<Tab> makeViewsTab(PageServices& services, State& page);
std::unique_ptr<Tab> makeHeadCountTab(PageServices& services, State& page);
std::unique_ptr<Tab> makeMistakesTab(PageServices& services, State& page);

/// Draws the tab line with the shown tab's choices on the right. Returns the y of its bottom.
float tabLine(Scene& scene, State& page, Tab& shown, const Layout& layout);

/// One head of a layer in detail: a page with inner tabs that all show the same head.
class Page : public app::Page {
 public:
  explicit Page(PageServices& services);

  std::vector<Action> actions() override;
  bool take(const Scene& scene) override;
  void prepare(Scene& scene) override;
  void draw(Scene& scene, const Layout& layout) override;
  void ask(const Scene& scene) override;
  void leave() override;
  void reset() override;
  std::vector<CaptionPart> caption(const Scene& scene) const override;
  PageStatus status(const Scene& scene) const override;
  std::optional<std::string> error(const Scene& scene) const override;
  double nextFrameIn() const override;
  std::size_t gpuBytes() const override;

  const State& state() const { return page_; }
  /// The inner tab of class T, for tests. Throws std::invalid_argument if there is none.
  template <class T>
  const T& tab() const {
    for (const auto& tab : tabs_)
      if (const auto* found = dynamic_cast<const T*>(tab.get())) return *found;
    throw std::invalid_argument("the page Lab has no such tab");
  }

 private:
  std::vector<Action> keyActions();
  Tab& shown(const Scene& scene) const;
  void askHead(const Scene& scene);

  PageServices& services_;
  State page_;
  CursorFit fit_;
  std::vector<std::unique_ptr<Tab>> tabs_;  ///< in the order of tabTable()
};

}  // namespace headscope::app::head_lab_page
