#include "app/pages/model/recorded_watch.h"

#include <utility>

namespace headscope::app::model_page {

namespace {

/// Whether two recordings have the same shape, so that the old picture can stay until the new one is studied.
bool isAlike(const OpenModel& a, const OpenModel& b) {
  return a.recorded && b.recorded && a.recorded->queries() == b.recorded->queries() &&
         a.recorded->keys() == b.recorded->keys() && a.recordedShape.heads == b.recordedShape.heads &&
         a.recordedShape.layerCount() == b.recordedShape.layerCount();
}

}  // namespace

/// Checks the file every kInterval. A version that can't be read may be half written, so it is tried a second
/// time before the error is shown.
void RecordedWatch::look(const SubjectSetup& subject) {
  const double now = services_.view.time;
  if (!subject.opened || !subject.opened->recorded || busy_ || now - at_ < kInterval) return;
  at_ = now;
  busy_ = true;
  using Again = std::shared_ptr<const OpenModel>;
  const auto failed = std::make_shared<Unreadable>(failed_);
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
        busy_ = false;
        if (again) {
          again_ = *again ? WrittenAgain{model, *std::move(again)} : WrittenAgain{};
          return;
        }
        const bool twice = failed_.version == failed->version;
        failed_.version = failed->version;
        if (!twice) return;
        failed_.told = failed->version;
        services_.view.messages.fail("The file was written again: " + again.error().message);
      });
}

bool RecordedWatch::renew(SubjectSetup& subject, const OpenModel* shown) {
  WrittenAgain again = std::exchange(again_, {});
  bool keeps = false;
  if (again.opened && subject.opened && again.model == subject.model) {
    subject.opened = std::move(again.opened);
    keeps = shown && isAlike(*shown, *subject.opened);
    services_.view.redraw();
  }
  look(subject);
  return keeps;
}

}  // namespace headscope::app::model_page
