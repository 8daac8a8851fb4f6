#include "app/shell/scene_links.h"

#include <utility>

namespace headscope::app {

attention::Result<std::string> SceneLinks::link() const {
  return linkTo(workspace_.own()->scene(), address_);
}

/// Copies the link. If it is so long that other programs may cut it, also offers to save a file.
void SceneLinks::copy() {
  View& view = services_.view;
  const Scene& own = workspace_.own()->scene();
  const auto link = this->link();
  if (!link) return view.messages.fail(link.error().message);
  ImGui::SetClipboardText(link->c_str());
  if (showsLesson(own)) {
    const bool changed = workspace_.working()->dirty();
    return view.tell(
        changed ? "Copied a link to this step, without your changes" : "Copied a link to this step",
        view.pressedAt);
  }
  if (const std::string note = longLinkNote(*link); !note.empty()) {
    view.say("Copied. " + note);
    view.menu = {"scene.save_as"};
    return;
  }
  view.tell("Copied a link that holds this scene", view.pressedAt);
}

void SceneLinks::open(std::string link, const Outcome& outcome) {
  services_.files.read<Scene>(
      "link",
      [link = std::move(link), rows = workspace_.pages().rows(),
       stop = services_.files.stopToken()]() -> attention::Result<Scene> {
        attention::Result<Scene> scene = readLink(link, stop);
        if (scene.ok())
          if (const auto page = checkPage(*scene, rows); !page)
            return attention::Error{"the link: " + page.error().message};
        return scene;
      },
      [this, outcome](attention::Result<Scene> scene) {
        if (!scene) return outcome.fail(scene.error().message);
        View& view = services_.view;
        view.redraw();
        if (!showsLesson(*scene)) {
          workspace_.open(*std::move(scene), SceneFile());
          return outcome.done("Opened the link");
        }
        // The window's own scene is kept, as for every lesson.
        Cursor& own = workspace_.own()->scene().cursor;
        own.page = scene->cursor.page;
        own.lesson = scene->cursor.lesson;
        outcome.done("Opened the lesson");
      });
}

std::vector<Action> SceneLinks::actions() {
  return {{.id = "link.copy",
           .name = "Copy link",
           .whileTyping = true,
           .words = "share url address export",
           .run = [this](Scene&) { copy(); }},
          {.id = "link.paste",
           .name = "Open the link in the clipboard",
           .shortcut = {Key::v, {.ctrl = true}},
           .words = "paste share url address import",
           .run = [this](Scene&) {
             const char* clip = ImGui::GetClipboardText();
             if (!clip || !isLink(clip))
               return services_.view.messages.fail("The clipboard holds no link to a scene.");
             open(clip, Outcome(services_.view));
           }}};
}

}  // namespace headscope::app
