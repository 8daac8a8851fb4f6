#include "app/pages/head_lab/map_view.h"

namespace headscope::app::head_lab_page {

void stage(Scene& scene, State& page, const ImRect& area) {
  switch (scene.cursor.lab.step) {
    case Step::input:
      return inputStage(scene, page, area);
    case Step::project:
      return projectStage(scene, page, area);
    case Step::split:
    case Step::concat:
      return splitStage(scene, page, area);
    case Step::dot:
      return dotStage(scene, page, area);
    case Step::scale:
    case Step::bias:
    case Step::mask:
    case Step::softmax:
      return changeStage(scene, page, area);
    case Step::mix:
      return mixStage(scene, page, area);
    case Step::output:
      return outputStage(scene, page, area);
  }
}

}  // namespace headscope::app::head_lab_page
