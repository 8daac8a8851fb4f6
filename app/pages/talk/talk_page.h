#pragma once

#include <map>

#include "app/pages/common/page.h"
#include "app/pages/talk/talk_state.h"
#include "app/pages/talk/view_travel.h"

namespace headscope::app::talk_page {

/// The scene's talk: one view at a time on the stage, above the strip of all views. While presenting, only
/// the view is shown. Changes made on the stage are reverted when another view is shown, unless they are kept
/// in the view; back on that view, undo restores them.
class Page : public app::Page {
 public:
  explicit Page(PageServices& services) : services_(services), page_(services.view) {}

  std::vector<Action> actions() override;
  void arrange(Document& own) override;
  std::shared_ptr<Document> staged() const override { return page_.stage.document(); }
  std::vector<Staged> stages() const override;
  bool stagesViews() const override { return true; }
  bool travels() const override { return travel_.active(); }
  Layout stageLayout(const Layout& window, bool hasSide, bool hasStrip) const override;
  void draw(Scene& scene, const Layout& layout) override;
  void ask(const Scene&) override {}
  void reset() override;
  std::vector<CaptionPart> caption(const Scene& scene) const override;
  PageStatus status(const Scene& scene) const override;
  std::string notes(const Scene& scene) const override;
  std::shared_ptr<const Scene> nextScene(const Scene& scene) const override;

  const State& state() const { return page_; }

 private:
  void applyMoves(Document& own);
  void edit(Document& own, Move move);
  void place(Scene& own);
  void clearStage();
  void addShown(const Scene& shown);
  void present();
  std::string placeText() const;

  PageServices& services_;
  State page_;
  std::shared_ptr<const Scene> placed_;  ///< the staged view's scene
  ViewTravel travel_;
  /// Documents of views whose changes were reverted, so that undo can restore them when staged again.
  std::map<std::shared_ptr<const Scene>, std::shared_ptr<Document>> left_;
};

}  // namespace headscope::app::talk_page
