// Recorded attention that is written again while it is shown, as by a program that trains.

#include <utility>

#include "app/pages/model/model_page.h"
#include "app/scene/models/open_model.h"

namespace headscope::app {

namespace {

/// Whether one can take the other's place while what is shown waits for its numbers.
bool isAlike(const OpenModel& a, const OpenModel& b) {
  return a.recorded && b.recorded && a.recorded->queries() == b.recorded->queries() &&
         a.recorded->keys() == b.recorded->keys() && a.recordedShape.heads == b.recordedShape.heads &&
         a.recordedShape.layerCount() == b.recordedShape.layerCount();
}

}  // namespace

/// Looks at the file now and then. One that can't be read may be half written: it is looked at once more
/// before that is said.
void ModelPage::watchRecorded(const SubjectSetup& subject) {
  const double now = services_.view.time;
  if (!subject.opened || !subject.opened->recorded || watch_.busy || now - watch_.at < kWatchInterval) return;
  watch_.at = now;
  watch_.busy = true;
  using Again = std::shared_ptr<const OpenModel>;
  const auto failed = std::make_shared<Unreadable>(watch_.failed);
  services_.files.read<Again>(
      subject.opened->recorded->path(),
      [opened = subject.opened, model = subject.model, picture = subject.picture, failed,
       stop = services_.files.stopToken()]() -> attention::Result<Again> {
        const FileVersion found = versionOf(opened->recorded->path());
        if (found.size == 0 || found == opened->version || found == failed->told) return Again();
        failed->version = found;
        auto again = openModel(model, stop);
        return again && opened->picture ? withPicture(*again, picture) : again;
      },
      [this, model = subject.model, failed](attention::Result<Again> again) {
        watch_.busy = false;
        if (again) {
          watch_.again = *again ? WrittenAgain{model, *std::move(again)} : WrittenAgain{};
          return;
        }
        const bool twice = watch_.failed.version == failed->version;
        watch_.failed.version = failed->version;
        if (!twice) return;
        watch_.failed.told = failed->version;
        services_.view.messages.fail("The file was written again: " + again.error().message);
      });
}

void ModelPage::arrange(Document& own) {
  SubjectSetup& subject = own.scene().setup.subject;
  WrittenAgain again = std::exchange(watch_.again, {});
  if (again.opened && subject.opened && again.model == subject.model) {
    subject.opened = std::move(again.opened);
    keepsPicture_ = opened_ && isAlike(*opened_, *subject.opened);
    services_.view.redraw();
  }
  watchRecorded(subject);
}

}  // namespace headscope::app
