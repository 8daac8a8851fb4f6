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

}  // namespace headscope::app
