#include <fmt/core.h>

#include "app/pages/head_lab/ablation/ablation_state.h"
#include "app/scene/text/number_text.h"

namespace headscope::app::head_lab_page {

namespace {

class AblationTab : public Tab {
 public:
  AblationTab(PageServices& services, State& page)
      : Tab(services, page),
        ablation_(page, [this](const LossQuestion& question, const std::shared_ptr<const TextLoss>& loss) {
          takeLoss(question, loss);
        }) {}

  /// Undo restores how heads are switched off but not the cursor, so the cursor's choice follows the heads.
  void prepare(Scene& scene) override {
    HeadOff& by = scene.cursor.lab.offBy;
    by = standIn(scene.setup.subject, shownLayer(scene.setup), by);
  }

  void draw(Scene& scene, const ImRect& area, const Layout&) override {
    if (!ablation_.study) return;
    Board board(page_.view, page_.inset(area));
    board.controls([this, &scene](ControlLine& line) { controls(scene, line); });
    switch (scene.cursor.lab.ablationView) {
      case AblationView::heads:
        headsView(scene, ablation_, board);
        break;
      case AblationView::hull:
        hullView(scene, ablation_, board);
        break;
      case AblationView::patch:
        patchView(scene, ablation_, board);
        break;
    }
    board.show();
  }

  void switchHead(Scene& scene) override {
    if (ablation_.study && page_.head) toggleHead(scene, page_.head->question.head);
  }

  void ask(const Scene& scene) override {
    if (!page_.layer || !page_.head) return;
    ablation_.study.ask(page_.layer, Lane::front);
    const Cell cell = selectedCell(scene, page_);
    const HeadLabCursor& at = scene.cursor.lab;
    if (at.ablationView == AblationView::hull)
      ablation_.hull.ask({page_.layer, cell.head, cell.query}, Lane::front);
    if (at.ablationView == AblationView::patch && !at.patchText.empty())
      ablation_.patch.ask({page_.layer, cell.head, at.patchText}, Lane::front);
    if (at.ablationView == AblationView::heads) askLoss(scene);
  }

  void leave() override { forgetLosses(); }

  std::vector<CaptionPart> caption(const Scene& scene) const override {
    const std::uint32_t color = page_.view.theme->secondary;
    switch (scene.cursor.lab.ablationView) {
      case AblationView::heads:
        return {{"How much of each token's output is lost without one head", color}};
      case AblationView::hull:
        return {
            {"A head's output is a weighted mean of its values: a point inside their convex hull", color}};
      case AblationView::patch:
        return {
            {"One head takes its attention pattern from another text, and its values from this one", color}};
    }
    return {};
  }

 private:
  void controls(Scene& scene, ControlLine& line) {
    line.buttons(scene, "cursor.lab.view", 340);
    if (scene.cursor.lab.ablationView != AblationView::heads) return;
    line.list(scene, "cursor.lab.measure");
    if (line.list(scene, "cursor.lab.off_by")) changeBy(scene);
    if (line.button("ablation.restore", "All on", anyOff(scene) ? "" : "All heads are on.")) restore(scene);
    line.lastWords("Delete switches the selected head");
  }

  /// Applies the selected replacement to the heads that are already off.
  static void changeBy(Scene& scene) {
    SubjectSetup& subject = scene.setup.subject;
    for (SwitchedHead& off : subject.switchedOff)
      if (off.layer == shownLayer(scene.setup)) off.by = scene.cursor.lab.offBy;
  }

  static void restore(Scene& scene) {
    SubjectSetup& subject = scene.setup.subject;
    std::erase_if(subject.switchedOff,
                  [&](const SwitchedHead& off) { return off.layer == shownLayer(scene.setup); });
  }

  /// Asks the questions one at a time: all heads on, as in the scene, without each head.
  void askLoss(const Scene& scene) {
    if (!scene.setup.subject.opened || !scene.setup.subject.opened->model || !page_.snapshot) return;
    Setup allOn = scene.setup;
    allOn.subject.switchedOff.clear();
    const ModelQuestion base = modelQuestion(allOn);
    const std::vector<SwitchedHead>& now = scene.setup.subject.switchedOff;
    const HeadOff by = scene.cursor.lab.offBy;
    const Index layer = shownLayer(scene.setup), heads = scene.setup.subject.opened->config().heads;
    if (!(base == lossBase_) || layer != lossLayer_ || lossBy_ != by) {
      if (!(base == lossBase_)) ablation_.allOn.reset();
      lossBase_ = base;
      lossLayer_ = layer;
      lossBy_ = by;
      ablation_.without.assign(static_cast<std::size_t>(heads), nullptr);
      ablation_.asIs.reset();
      ablation_.loss.forget();
    }
    if (!ablation_.loss.problem().empty()) return;
    if (!ablation_.allOn) return ablation_.loss.ask({base, nullptr}, Lane::back);
    if (now != lossNow_) ablation_.asIs.reset();
    lossNow_ = now;
    if (now.empty()) {
      ablation_.asIs = ablation_.allOn;
    } else if (!ablation_.asIs) {
      return askWith(base, now);
    }
    for (Index head = 0; head < heads; ++head)
      if (!ablation_.without[static_cast<std::size_t>(head)]) return askWith(base, {{layer, head, by}});
  }

  void askWith(ModelQuestion base, std::vector<SwitchedHead> off) {
    base.setup.subject.switchedOff = std::move(off);
    ablation_.loss.ask({std::move(base), ablation_.allOn}, Lane::back);
  }

  /// `question` is about lossBase_, because answers about anything else are forgotten.
  void takeLoss(const LossQuestion& question, const std::shared_ptr<const TextLoss>& loss) {
    const std::vector<SwitchedHead>& off = question.model.setup.subject.switchedOff;
    if (off.empty()) {
      ablation_.allOn = loss;
      return;
    }
    if (question.followed != ablation_.allOn) return;
    if (off == lossNow_) ablation_.asIs = loss;
    if (off.size() == 1 && off.front().layer == lossLayer_ && off.front().by == lossBy_)
      ablation_.without[static_cast<std::size_t>(off.front().head)] = loss;
  }

  void forgetLosses() {
    lossBase_ = {};
    lossLayer_ = -1;
    lossNow_.clear();
    ablation_.allOn.reset();
    ablation_.asIs.reset();
    ablation_.without.clear();
  }

  AblationState ablation_;
  ModelQuestion lossBase_;
  Index lossLayer_ = -1;
  HeadOff lossBy_ = HeadOff::zero;
  std::vector<SwitchedHead> lossNow_;
};

}  // namespace

std::unique_ptr<Tab> makeAblationTab(PageServices& services, State& page) {
  return std::make_unique<AblationTab>(services, page);
}

}  // namespace headscope::app::head_lab_page
