#include <fmt/core.h>

#include <algorithm>

#include "app/pages/common/token_chips.h"
#include "app/pages/head_lab/embeddings/embeddings_state.h"
#include "app/pages/head_lab/head_lab_tab.h"
#include "app/pages/head_lab/head_maps.h"
#include "app/widgets/panel.h"

namespace headscope::app::head_lab_page {

namespace {

class EmbeddingsTab : public Tab {
 public:
  EmbeddingsTab(PageServices& services, State& page) : Tab(services, page), embeddings_(page) {}

  void draw(Scene& scene, const ImRect& area, const Layout& layout) override {
    if (!embeddings_.study.problem().empty()) return refusal(scene, area);
    if (!embeddings_.study) return;
    // Components of an earlier table are kept only while this tab edits the table.
    const bool own = scene.setup.input.source == EmbeddingSource::table &&
                     scene.setup.input.table.pointer() == embeddings_.made;
    if (!own && embeddings_.drag.kind == EmbeddingsState::Drag::Kind::none) embeddings_.kept.reset();
    const View& view = page_.view;
    const bool small = page_.small;
    const float margin = view.px(small ? 16 : 24), space = view.px(small ? 12 : 20);
    const ImRect inner(area.Min.x + margin, area.Min.y + space, area.Max.x - margin, area.Max.y - space);
    float top = inner.Min.y;
    if (!layout.presents) {
      const float high = tokenChipsHeight(view, page_.layer->sequence().queries, inner.GetWidth()) +
                         view.px(small ? 40 : 46);
      embeddingsTokens(scene, embeddings_, ImRect(inner.Min, ImVec2(inner.Max.x, top + high)));
      top += high + space;
    }
    const float split = std::round(inner.Min.x + inner.GetWidth() * 0.56f);
    const auto rows = static_cast<float>(std::max<Index>(tableNow(scene, embeddings_).values.rows(), 1));
    const float wanted = view.px(28 + 62) + rows * view.px(27),
                most = (inner.Max.y - top) * (small ? 0.55f : 0.48f);
    const float middle = top + std::min(wanted, most);
    embeddingsTable(scene, embeddings_, ImRect(inner.Min.x, top, split - space, middle));
    embeddingsPlane(scene, embeddings_, ImRect(inner.Min.x, middle + space, split - space, inner.Max.y));
    heads(scene, ImRect(split + space, top, inner.Max.x, inner.Max.y));
  }

  void paste(Scene& scene) override {
    if (embeddings_.study && embeddings_.study.problem().empty() && !page_.missing())
      pasteTable(scene, embeddings_);
  }

  void ask(const Scene& scene) override {
    embeddings_.study.ask(
        embeddingQuestion(scene.setup, scene.cursor.sequence, embeddings_.axes, embeddings_.kept),
        Lane::front);
  }

  void leave() override {
    embeddings_.drag = {};
    embeddings_.typing = {};
    embeddings_.kept.reset();
    embeddings_.extent = 0;
  }

  std::vector<CaptionPart> caption(const Scene&) const override {
    return {{"Drag a number or a point to see every head change", page_.view.theme->secondary}};
  }

 private:
  /// Draws all heads computed from the table, with the same value ranges as on the heads page.
  void heads(Scene& scene, const ImRect& area) {
    const SequenceSnapshot& sequence = page_.layer->sequence();
    const attention::AttentionConfig& config = page_.layer->config();
    const MapGrid grid = mapGrid(page_.view, area.GetSize(), config.heads, std::ssize(sequence.queries),
                                 std::ssize(sequence.keys));
    const PictureLevel& level = sequence.pictures.levelFor(std::max(grid.width, grid.height));
    Look look = scene.look;
    look.quantity = Quantity::weights;
    headMaps(scene, page_, area,
             {.name = "embeddings.head",
              .values = level.weights,
              .factor = level.factor,
              .range = [&](Index head) { return rangeFor(look, sequence.pictures, head); },
              .eases = embeddings_.drag.kind == EmbeddingsState::Drag::Kind::none,
              .names = true});
  }

  void refusal(Scene& scene, const ImRect& area) {
    if (!scene.setup.subject.model.empty())
      emptyMessage(page_.view, area, "A model's embeddings are fixed", embeddings_.study.problem(),
                   "Switch to a synthetic layer", "model.leave");
    else
      paintMessage(page_.view, area, "Can't edit these embeddings", embeddings_.study.problem(),
                   page_.view.theme->text);
  }

  EmbeddingsState embeddings_;
};

}  // namespace

std::unique_ptr<Tab> makeEmbeddingsTab(PageServices& services, State& page) {
  return std::make_unique<EmbeddingsTab>(services, page);
}

}  // namespace headscope::app::head_lab_page
