#include "app/shell/workspace.h"

#include "app/pages/lessons/lessons_page.h"

namespace headscope::app {

Workspace::Workspace(PageServices& services, std::span<const PageRow> rows)
    : services_(services), document_(std::make_shared<Document>(openingScene())), pages_(rows) {
  services_.working = [this] { return working(); };
  services_.own = [this] { return document_; };
}

LessonEntry Workspace::shownLesson() const {
  const auto* page = dynamic_cast<const lessons_page::Page*>(&shown());
  if (!page || !page->state().here.lesson) return {};
  LessonEntry shown;
  shown.lesson = page->state().here.lesson;
  if (const auto& library = page->state().list.library)
    if (const LessonEntry* const entry = library->find(shown.lesson->id)) shown.path = entry->path;
  return shown;
}

Page* Workspace::onStage() const {
  const std::shared_ptr<Document> staged = shown().staged();
  return staged ? &pages_.named(staged->scene().cursor.page) : nullptr;
}

Document& Workspace::undoTarget(bool redo) const {
  const std::shared_ptr<Document> work = working();
  const bool stage = redo ? work->canRedo() : work->canUndo();
  return shown().stagesViews() && !stage ? *document_ : *work;
}

void Workspace::open(Scene scene, SceneFile file) {
  resetPages();
  document_->open(std::move(scene), std::move(file));
}

void Workspace::open(Scene scene, std::filesystem::path path, std::optional<attention::ContentMark> content) {
  resetPages();
  document_->open(std::move(scene), std::move(path), content);
}

/// Call before opening another scene. Adds what was changed on a stage to the history as a separate step.
void Workspace::resetPages() {
  View& view = services_.view;
  view.controls.refusal = {};
  for (const auto& page : pages_) {
    if (const auto staged = page->staged(); staged && staged->dirty() && !page->stagesViews())
      document_->openInTalk(staged->scene(), *staged->file());
    page->reset();
  }
  view.redraw();
}

void Workspace::openBehind(Scene scene, const std::filesystem::path& path,
                           std::optional<attention::ContentMark> content) {
  const Cursor& shown = document_->scene().cursor;
  scene.cursor.page = shown.page;
  scene.cursor.lesson = shown.lesson;
  document_->open(std::move(scene), path, content);
  services_.view.redraw();
}

std::vector<UnsavedScene> Workspace::unsaved() const {
  std::vector<UnsavedScene> unsaved = document_->unsaved();
  for (const auto& page : pages_) {
    for (const Staged& staged : page->stages())
      for (UnsavedScene& each : staged.document->unsaved()) {
        // The window's document may already contain it.
        const auto same = [&](const UnsavedScene& other) { return sameDocument(*other.scene, *each.scene); };
        if (std::none_of(unsaved.begin(), unsaved.end(), same)) unsaved.push_back(std::move(each));
      }
  }
  return unsaved;
}

std::string Workspace::placeOf(const UnsavedScene& unsaved) const {
  for (const auto& page : pages_)
    for (const Staged& staged : page->stages())
      if (staged.document->file() == unsaved.file) return staged.place;
  return unsaved.file == document_->file() ? "edited" : "edited before another scene was opened";
}

}  // namespace headscope::app
