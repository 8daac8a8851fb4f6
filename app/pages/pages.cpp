#include "app/pages/pages.h"

#include "app/pages/cache/cache_page.h"
#include "app/pages/cost/cost_page.h"
#include "app/pages/flow/flow_page.h"
#include "app/pages/head_lab/head_lab_page.h"
#include "app/pages/heads/heads_page.h"
#include "app/pages/lessons/lessons_page.h"
#include "app/pages/map/map_page.h"
#include "app/pages/mask/mask_page.h"
#include "app/pages/model/model_page.h"
#include "app/pages/talk/talk_page.h"

namespace headscope::app {

namespace {

template <typename L>
std::unique_ptr<Page> make(PageServices& services) {
  return std::make_unique<L>(services);
}

constexpr Key digit(char at) {
  return static_cast<Key>(at);
}

void toLessons(Scene& scene) {
  scene.cursor.lesson = {};
}

constexpr std::array<PageRow, 10> kTable{{
    {{"heads",
      "Heads",
      {digit('1'), {}},
      "Go to Heads",
      "Receipt",
      "Click a head to enlarge it  ·  click a word to make it the query, again to open its vector  ·  "
      "right-click for more"},
     make<heads_page::Page>},
    {{"flow",
      "Flow",
      {digit('2'), {}},
      "Go to Flow",
      "",
      "Space plays  ·  drag along the stages to scrub  ·  click a cell to follow it",
      "pipeline, animation, how attention is computed, step by step, q k v, softmax, film"},
     make<flow_page::Page>},
    {{"mask",
      "Mask",
      {digit('3'), {}},
      "Go to Mask",
      "Mask summary",
      "Choose a tool and drag to paint  ·  wheel zooms  ·  drag a layer to move it  ·  right-click for "
      "more"},
     make<mask_page::Page>},
    {{"map",
      "Map",
      {digit('4'), {}},
      "Go to Map",
      "",
      "Wheel zooms  ·  drag to move  ·  Home shows the whole head"},
     make<map_page::Page>},
    {{"cache",
      "Cache",
      {digit('5'), {}},
      "Go to Cache",
      "This step",
      "Space plays  ·  ← and → take one step  ·  drag along the tokens to move"},
     make<cache_page::Page>},
    {{"cost",
      "Cost",
      {digit('6'), {}},
      "Go to Cost",
      "",
      "Drag a factor sideways to change it  ·  / searches the models  ·  ↑ and ↓ change the model",
      "kv cache size, how much memory, memory needed, vram, gpu memory, flops, roofline, price"},
     make<cost_page::Page>},
    {{"model",
      "Model",
      {digit('7'), {}},
      "Go to Model",
      "Head",
      "Click a head to select it  ·  double-click to open it on Heads  ·  right-click for more"},
     make<model_page::Page>},
    {{"lab",
      "Lab",
      {digit('8'), {}},
      "Go to Lab",
      "",
      "Click a cell to select it  ·  ↑ and ↓ change the query  ·  Page Up and Page Down the head"},
     make<head_lab_page::Page>},
    {{"lessons",
      "Learn",
      {digit('9'), {}},
      "Go to Learn",
      "",
      "Page Down goes on  ·  everything in the picture can be changed",
      "lessons, talks, course, tutorial, teach, start here, lecture",
      toLessons},
     make<lessons_page::Page>},
    {{"talk",
      "Talk",
      {digit('0'), {}},
      "Go to Talk",
      "",
      "Click a view to show it  ·  drag it to move it  ·  P presents"},
     make<talk_page::Page>},
}};

}  // namespace

std::span<const PageRow> pageTable() {
  return kTable;
}

attention::Status checkPage(const Scene& scene, std::span<const PageRow> rows) {
  const auto& views = scene.talk->views;
  for (std::size_t i = 0; i < views.size(); ++i)
    if (const attention::Status view = checkPage(*views[i].scene, rows); !view)
      return attention::Error{"talk[" + std::to_string(i) + "]: " + view.error().message};
  std::string expected;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].info.key == scene.cursor.page) return head_lab_page::checkTab(scene);
    expected += (i == 0 ? "" : i + 1 == rows.size() ? " or " : ", ") + std::string(rows[i].info.key);
  }
  return attention::Error{"cursor.page is " + attention::quotedText(scene.cursor.page) + ", expected " +
                          expected};
}

}  // namespace headscope::app
