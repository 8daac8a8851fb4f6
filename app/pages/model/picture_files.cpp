// Opening a picture for the model, or for the recorded attention, that is open.

#include <utility>

#include "app/pages/model/model_page.h"
#include "app/scene/models/open_model.h"
#include "app/widgets/file_picker.h"

namespace headscope::app::model_page {

void Page::openPicture(const std::filesystem::path& path, const Asker& asker, const Outcome& outcome) {
  const std::shared_ptr<const OpenModel> opened = opened_;
  if (!opened) return outcome.fail(pictureWithoutModel(path).message);
  using On = std::shared_ptr<const OpenModel>;
  services_.files.read<On>(
      path, [opened, path] { return withPicture(opened, path); },
      [this, opened, path, asker, outcome](attention::Result<On> on) {
        if (!on) return outcome.fail(on.error().message);
        if (opened_ != opened) return outcome.fail("Another model was opened meanwhile.");
        const std::string name = path.filename().string();
        const auto taken = asker.edit(name, [&](Scene& scene) {
          scene.setup.subject.opened = *std::move(on);
          scene.setup.subject.picture = path.string();
          scene.setup.subject.problem.clear();
          scene.cursor.page = "model";
          scene.cursor.cell.query = scene.cursor.cell.key = 0;  // the class token asks
        });
        taken ? outcome.done("Opened " + name) : outcome.fail(taken.error().message);
      });
}

Action Page::pictureAction() {
  return {.id = "model.picture",
          .name = "Open a picture for the model…",
          .words = "image vit dinov2 clip patches",
          .run = [this](Scene&) {
            services_.view.dialog = std::make_shared<FilePicker>(
                FileQuestion{"Open a picture",
                             {".png", ".jpg", ".jpeg"},
                             "",
                             [this](Scene&, const auto& path, const Outcome& outcome) {
                               openPicture(path, services_.asker(), outcome);
                             }},
                services_.folders);
          }};
}

}  // namespace headscope::app::model_page
