// The part of Session that remembers opened files and offers ways to start.

#include <utility>

#include "app/session.h"
#include "app/shell/start_offers.h"

namespace headscope::app {

RecentKind recentKind(const Scene& scene) {
  return scene.talk->views.empty() ? RecentKind::scene : RecentKind::talk;
}

void Session::remember(const RecentFile& file) {
  services_.files.write(
      file.path,
      [file] {
        std::error_code ignored;
        const std::filesystem::path whole = std::filesystem::absolute(file.path, ignored);
        rememberRecent({file.kind, whole.empty() ? file.path : whole.string()});
        return attention::success();
      },
      [](const attention::Status&) {});
}

void Session::readRecent(const std::function<void(std::vector<RecentFile>)>& take) {
  services_.files.read<std::vector<RecentFile>>(
      "recent.json", [] { return loadRecent(); },
      [take](attention::Result<std::vector<RecentFile>> found) {
        if (found) take(*std::move(found));
      });
}

void Session::openRecent(const RecentFile& file, const Outcome& outcome) {
  if (file.kind != RecentKind::model) return openFile(file.path, outcome);
  // Which page takes a model doesn't depend on the page shown.
  open({file.path, true, "model"}, services_.asker(), outcome);
}

void Session::offerRecent() {
  readRecent([this](std::vector<RecentFile> files) { recent_ = std::move(files); });
}

/// Offered at the first start, unless the user opened something else.
bool Session::offersLesson() const {
  const View& view = services_.view;
  return view.showTimings && !view.present && !view.preferences.lessonOffered &&
         scene().cursor.page == "heads" && document_->path().empty() && !onStage();
}

/// Offered until the window holds work.
bool Session::offersRecent() {
  if (!document_->path().empty() || document_->undoSteps() > 0 || onStage()) recent_.clear();
  return !recent_.empty() && !services_.view.present && !offersLesson();
}

void Session::drawOffer(const Layout& layout, float width) {
  View& view = services_.view;
  const ImRect area(0, layout.status.Min.y - view.px(kOfferHeight), width, layout.status.Min.y);
  if (offersLesson()) return lessonOffer(view, area);
  if (!offersRecent()) return;
  const auto clicked = recentOffer(view, area, recent_);
  if (!clicked) return;
  if (*clicked < recent_.size())
    openRecent(recent_[*clicked], Outcome(view));
  else
    recent_.clear();
  view.redraw();
}

}  // namespace headscope::app
