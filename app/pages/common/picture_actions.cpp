#include "app/pages/common/picture_actions.h"

#include <functional>

#include "app/compute/figures/picture_file.h"
#include "app/compute/figures/scene_picture.h"
#include "app/widgets/file_picker.h"

namespace headscope::app {

namespace {

/// Pixels of a layout unit: sharp on paper and on displays of double density.
constexpr double kScale = 2;

using Draw = std::function<attention::Result<Drawing>()>;

/// Draws and writes away from the thread that draws the window.
void savePicture(PageServices& services, const std::filesystem::path& path, double scale, Draw draw,
                 const Outcome& outcome) {
  services.files.write(
      path,
      [path, scale, draw = std::move(draw), &resources = services.resources]() -> attention::Status {
        const auto drawing = draw();
        if (!drawing) return attention::Error{path.filename().string() + ": " + drawing.error().message};
        return writePicture(path, *drawing, {.scale = scale}, resources.memory);
      },
      [path, outcome](attention::Status written) {
        written.ok() ? outcome.tell("Saved " + path.filename().string())
                     : outcome.fail(written.error().message);
      });
}

void askForFile(PageServices& services, std::string proposal,
                std::function<void(Scene&, const std::filesystem::path&, const Outcome&)> chosen) {
  FileQuestion question{"Save a picture", {kPictureEndings.begin(), kPictureEndings.end()}, "", {}};
  question.proposal = std::move(proposal);
  question.chosen = [chosen = std::move(chosen)](Scene& scene, const auto& path, const Outcome& outcome) {
    if (const auto format = pictureFormat(path); !format) return outcome.fail(format.error().message);
    chosen(scene, path, outcome);
  };
  services.view.dialog = std::make_shared<FilePicker>(std::move(question), services.folders);
}

/// The figure, from the newest that was computed.
void askWhere(PageServices& services, PictureKind kind, const DrawingOptions& options) {
  askForFile(
      services, std::string(kPictureNames[static_cast<std::size_t>(kind)]) + ".png",
      [&services, kind, options](Scene& scene, const auto& path, const Outcome& outcome) {
        services.view.say("Drawing " + path.filename().string() + " …");
        savePicture(
            services, path, kScale,
            [scene, kind, options, snapshot = services.layer.snapshot(), &resources = services.resources] {
              return drawPicture(kind, scene, snapshot.get(), resources, options);
            },
            outcome);
      });
}

/// The page as the window shows it, as soon as the dialog has gone.
void askWhereShown(PageServices& services, const Scene& scene) {
  askForFile(services, scene.cursor.page + ".pdf",
             [&services](Scene&, const std::filesystem::path& path, const Outcome& outcome) {
               outcome.done("Drawing " + path.filename().string() + " …");
               services.view.redraw();
               services.view.pictureWanted = [&services, path](Drawing drawing) {
                 savePicture(
                     services, path, 1, [drawing] { return drawing; }, Outcome(services.view));
               };
             });
}

}  // namespace

std::vector<Action> pictureActions(PageServices& services) {
  std::vector<Action> actions;
  const auto add = [&actions](std::string id, std::string name, std::function<void(Scene&)> run,
                              KeyPress shortcut = {}) {
    actions.push_back({.id = "picture." + std::move(id),
                       .name = "Save a picture of " + std::move(name) + "…",
                       .section = "Picture",
                       .shortcut = shortcut,
                       .whileTyping = true,
                       .words = "export screenshot image figure window vector print png svg pdf",
                       .run = std::move(run)});
  };
  add("save", "this page",
      [&services](Scene& scene) {
        hasFigure(scene) ? askWhere(services, shownPicture(scene), {}) : askWhereShown(services, scene);
      },
      {Key::p, {.ctrl = true}});
  add("save_shown", "this page as it is shown",
      [&services](Scene& scene) { askWhereShown(services, scene); });
  add("save_dark", "this page, dark",
      [&services](Scene& scene) { askWhere(services, shownPicture(scene), {.dark = true}); });
  const auto addFigure = [&](PictureKind kind, std::string name) {
    add("save_" + std::string(kPictureNames[static_cast<std::size_t>(kind)]), std::move(name),
        [&services, kind](Scene&) { askWhere(services, kind, {}); });
  };
  addFigure(PictureKind::head, "this head");
  addFigure(PictureKind::heads, "all heads");
  addFigure(PictureKind::mask, "the mask");
  addFigure(PictureKind::map, "the map");
  addFigure(PictureKind::cache, "the KV cache");
  addFigure(PictureKind::cost, "the cost figures");
  return actions;
}

}  // namespace headscope::app
