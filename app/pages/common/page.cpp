#include "app/pages/common/page.h"

namespace headscope::app {

std::shared_ptr<Document> Requester::alive() const {
  const std::shared_ptr<Document> document = document_.lock();
  return document && document->file() == file_.lock() ? document : nullptr;
}

const Scene* Requester::scene() const {
  const std::shared_ptr<Document> document = alive();
  return document ? &document->scene() : nullptr;
}

attention::Status Requester::edit(const std::string& file, const std::function<void(Scene&)>& change) const {
  const std::shared_ptr<Document> document = alive();
  if (!document) return attention::Error{file + " was read too late: the scene it was opened for is closed"};
  Scene& scene = document->scene();
  const std::string page = scene.cursor.page;
  const bool front = inFront();  // read first: change() may switch pages, which affects it
  document->record();
  change(scene);
  if (!front) scene.cursor.page = page;
  document->record();
  return attention::success();
}

void PageServices::keepPreferences() {
  const std::filesystem::path path = preferencesPath();
  if (path.empty()) return;
  files.keep(path, [path, text = formatPreferences(view.preferences), file = view.preferencesFile] {
    return file->write(path, text);
  });
}

void PageStage::put(Scene written, std::shared_ptr<Document> left) {
  written_ = std::move(written);
  // A stage can't contain another stage.
  if (written_.cursor.page == "lessons" || written_.cursor.page == "talk") written_.cursor.page = "heads";
  document_ = left ? std::move(left) : std::make_shared<Document>(written_);
}

void PageStage::restore() {
  if (!document_) return;
  document_->record();
  document_->scene() = written_;
  document_->record();
}

std::shared_ptr<Document> PageStage::take() {
  std::shared_ptr<Document> left = std::exchange(document_, nullptr);
  if (!left) return nullptr;
  left->record();
  return left->canUndo() || left->canRedo() ? left : nullptr;
}

}  // namespace headscope::app
