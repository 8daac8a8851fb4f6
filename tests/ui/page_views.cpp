#include "tests/ui/page_views.h"

#include "app/compute/layer/flow_time.h"
#include "app/pages/head_lab/head_lab_page.h"
#include "app/pages/pages.h"

namespace headscope::test {

using app::Cursor;

std::vector<PageView> pageViews() {
  std::vector<PageView> views;
  const auto add = [&](const std::string& page, const std::string& name, auto&& change) {
    PageView view{page + (name.empty() ? "" : "/" + name), app::openingScene().cursor};
    view.cursor.page = page;
    change(view.cursor);
    views.push_back(std::move(view));
  };
  const auto none = [](Cursor&) {};
  for (const app::PageRow& row : app::pageTable()) add(std::string(row.info.key), "", none);
  add("heads", "focus", [](Cursor& cursor) { cursor.focus = 1; });
  add("heads", "decode", [](Cursor& cursor) {
    cursor.decoding = true;
    cursor.step = 6;
  });
  add("heads", "word", [](Cursor& cursor) { cursor.wordCard = true; });
  add("heads", "wiring", [](Cursor& cursor) { cursor.wiring = true; });
  // Where a beat ends: between, parts of the film fly over words.
  for (std::size_t step = 0; step < app::kPipelineStepNames.size(); ++step)
    add("flow", std::string(app::kPipelineStepNames[step]), [&](Cursor& cursor) {
      const auto stage = static_cast<app::PipelineStep>(step);
      const auto beats = app::flowStage(stage).beats;
      cursor.flow = {stage, beats[beats.size() / 2].end};
    });
  add("mask", "biases", [](Cursor& cursor) { cursor.studio.tab = app::StudioTab::biases; });
  add("mask", "compare", [](Cursor& cursor) { cursor.studio.tab = app::StudioTab::compare; });
  for (const auto room :
       {app::CacheView::shapes, app::CacheView::precision, app::CacheView::eviction, app::CacheView::paging})
    add("cache", std::to_string(static_cast<int>(room)), [&](Cursor& cursor) { cursor.cacheView = room; });
  for (const app::head_lab_page::TabRow& tab : app::head_lab_page::tabTable())
    add("lab", std::string(tab.key), [&](Cursor& cursor) { cursor.lab.tab = tab.key; });
  for (const auto room : {app::AblationView::hull, app::AblationView::patch})
    add("lab", "ablation" + std::to_string(static_cast<int>(room)), [&](Cursor& cursor) {
      cursor.lab.tab = "ablation";
      cursor.lab.ablationView = room;
    });
  for (std::size_t picture = 0; picture < app::kHeadPictureNames.size(); ++picture)
    add("lab", std::string(app::kHeadPictureNames[picture]), [&](Cursor& cursor) {
      cursor.lab.tab = "views";
      cursor.lab.picture = static_cast<app::HeadPicture>(picture);
    });
  add("lessons", "one", [](Cursor& cursor) { cursor.lesson.lesson = "scaled_attention"; });
  return views;
}

app::Scene withView(app::Scene scene, const PageView& view) {
  scene.cursor = view.cursor;
  return scene;
}

}  // namespace headscope::test
