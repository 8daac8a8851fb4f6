#include "app/labs/labs.h"

#include <array>

#include "app/labs/cache/cache_lab.h"
#include "app/labs/cost/cost_lab.h"
#include "app/labs/heads/heads_lab.h"
#include "app/labs/lab/head_lab.h"
#include "app/labs/lab/inner_tab.h"
#include "app/labs/lessons/lessons_lab.h"
#include "app/labs/map/map_lab.h"
#include "app/labs/mask/mask_lab.h"
#include "app/labs/model/model_lab.h"
#include "attention/formats/quote.h"

namespace headscope::app {

namespace {

template <typename L>
std::unique_ptr<Lab> make(LabServices& services) {
  return std::make_unique<L>(services);
}

constexpr Key digit(char at) {
  return static_cast<Key>(at);
}

}  // namespace

std::span<const LabRow> labTable() {
  static constexpr std::array<LabRow, 8> kTable{{
      {{"heads", "Heads", {digit('1'), {}}, "Go to the heads", "Receipt"}, make<HeadsLab>},
      {{"mask", "Mask", {digit('2'), {}}, "Go to the mask studio", "Mask summary"}, make<MaskLab>},
      {{"map", "Map", {digit('3'), {}}, "Go to the map", ""}, make<MapLab>},
      {{"cache", "Cache", {digit('4'), {}}, "Go to the KV cache", "This step"}, make<CacheLab>},
      {{"cost", "Cost", {digit('5'), {}}, "Go to what models cost", ""}, make<CostLab>},
      {{"model", "Model", {digit('6'), {}}, "Go to the model", "Head"}, make<ModelLab>},
      {{"lab", "Lab", {digit('7'), {}}, "Go to the head lab", ""}, make<HeadLab>},
      {{"lessons", "Lessons", {digit('8'), {}}, "Go to the lessons", ""}, make<LessonsLab>},
  }};
  return kTable;
}

attention::Status checkPage(const Scene& scene, std::span<const LabRow> labs) {
  std::string expected;
  for (std::size_t i = 0; i < labs.size(); ++i) {
    if (labs[i].info.key == scene.cursor.page) return checkTab(scene);
    expected += (i == 0 ? "" : i + 1 == labs.size() ? " or " : ", ") + std::string(labs[i].info.key);
  }
  return attention::Error{"cursor.page is " + attention::quotedText(scene.cursor.page) + ", expected " +
                          expected};
}

}  // namespace headscope::app
