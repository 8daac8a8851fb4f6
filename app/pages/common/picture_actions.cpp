#include "app/pages/common/picture_actions.h"

#include "app/compute/figures/picture_file.h"
#include "app/compute/figures/scene_picture.h"
#include "app/widgets/file_picker.h"

namespace headscope::app {

namespace {

/// Pixels of a layout unit: sharp on paper and on displays of double density.
constexpr double kScale = 2;

/// What is drawn, from the newest that was computed, away from the thread that draws the window.
void savePicture(PageServices& services, const Scene& scene, PictureKind kind, const DrawingOptions& options,
                 const std::filesystem::path& path, const Outcome& outcome) {
  View& view = services.view;
  if (const auto format = pictureFormat(path); !format) return outcome.fail(format.error().message);
  view.say("Drawing " + path.filename().string() + " …");
  services.files.write(
      path,
      [scene, kind, options, path, snapshot = services.layer.snapshot(),
       &resources = services.resources]() -> attention::Status {
        const auto drawing = drawPicture(kind, scene, snapshot.get(), resources, options);
        if (!drawing) return attention::Error{path.filename().string() + ": " + drawing.error().message};
        return writePicture(path, *drawing, {.scale = kScale}, resources.memory);
      },
      [path, outcome](attention::Status written) {
        written.ok() ? outcome.tell("Saved " + path.filename().string())
                     : outcome.fail(written.error().message);
      });
}

void askWhere(PageServices& services, PictureKind kind, const DrawingOptions& options) {
  FileQuestion question{"Save a picture", {kPictureEndings.begin(), kPictureEndings.end()}, "", {}};
  question.proposal = std::string(kPictureNames[static_cast<std::size_t>(kind)]) + ".png";
  question.chosen = [&services, kind, options](Scene& scene, const auto& path, const Outcome& outcome) {
    savePicture(services, scene, kind, options, path, outcome);
  };
  services.view.dialog = std::make_shared<FilePicker>(std::move(question), services.folders);
}

}  // namespace

std::vector<Action> pictureActions(PageServices& services) {
  return {
      {"picture.save",
       "Save a picture of this page…",
       "Picture",
       {Key::p, {.ctrl = true}},
       true,
       false,
       [&services](Scene& scene) { askWhere(services, shownPicture(scene), {}); },
       "",
       "export screenshot image figure png svg pdf"},
      {"picture.save_dark",
       "Save a picture of this page, dark…",
       "Picture",
       {},
       true,
       false,
       [&services](Scene& scene) { askWhere(services, shownPicture(scene), {.dark = true}); },
       "",
       "export screenshot image figure png svg pdf"},
      {"picture.save_head",
       "Save a picture of this head…",
       "Picture",
       {},
       true,
       false,
       [&services](Scene&) { askWhere(services, PictureKind::head, {}); },
       "",
       "export screenshot image figure png svg pdf"},
      {"picture.save_heads",
       "Save a picture of all heads…",
       "Picture",
       {},
       true,
       false,
       [&services](Scene&) { askWhere(services, PictureKind::heads, {}); },
       "",
       "export screenshot image figure png svg pdf"},
      {"picture.save_mask",
       "Save a picture of the mask…",
       "Picture",
       {},
       true,
       false,
       [&services](Scene&) { askWhere(services, PictureKind::mask, {}); },
       "",
       "export screenshot image figure png svg pdf"},
      {"picture.save_map",
       "Save a picture of the map…",
       "Picture",
       {},
       true,
       false,
       [&services](Scene&) { askWhere(services, PictureKind::map, {}); },
       "",
       "export screenshot image figure png svg pdf"},
      {"picture.save_cache",
       "Save a picture of the KV cache…",
       "Picture",
       {},
       true,
       false,
       [&services](Scene&) { askWhere(services, PictureKind::cache, {}); },
       "",
       "export screenshot image figure png svg pdf"},
      {"picture.save_cost",
       "Save a picture of the cost figures…",
       "Picture",
       {},
       true,
       false,
       [&services](Scene&) { askWhere(services, PictureKind::cost, {}); },
       "",
       "export screenshot image figure png svg pdf"},
  };
}

}  // namespace headscope::app
