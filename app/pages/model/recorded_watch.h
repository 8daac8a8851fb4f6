#pragma once

#include <memory>
#include <string>

#include "app/pages/common/page.h"
#include "app/scene/models/open_model.h"

namespace headscope::app::model_page {

/// Recorded attention that is written again while it is shown, as by a program that trains.
class RecordedWatch {
 public:
  static constexpr double kInterval = 0.5;  ///< seconds between looks at the file

  explicit RecordedWatch(PageServices& services) : services_(services) {}

  /// Puts what was written since in place of what the subject has open, and looks at the file now and then.
  /// Whether what `shown` has on screen may stay until the numbers of the new version are there.
  bool renew(SubjectSetup& subject, const OpenModel* shown);

 private:
  void look(const SubjectSetup& subject);

  /// What a file holds since it was written again.
  struct WrittenAgain {
    std::string model;
    std::shared_ptr<const OpenModel> opened;  ///< null: nothing new
  };
  /// Which of a file's versions couldn't be read, and for which of them that was said.
  struct Unreadable {
    FileVersion version, told;
  };

  PageServices& services_;
  double at_ = 0;
  bool busy_ = false;
  WrittenAgain again_;
  Unreadable failed_;
};

}  // namespace headscope::app::model_page
