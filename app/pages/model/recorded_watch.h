#pragma once

#include <memory>
#include <string>

#include "app/pages/common/page.h"
#include "app/scene/models/open_model.h"

namespace headscope::app::model_page {

/// Watches a file of recorded attention that another program, such as a training run, may rewrite.
class RecordedWatch {
 public:
  static constexpr double kInterval = 0.5;  ///< seconds between checks of the file

  explicit RecordedWatch(PageServices& services) : services_(services) {}

  /// Replaces the subject's recording with the file's new version if one has been read, and checks the file
  /// every kInterval. Returns whether the picture of `shown` may stay until the new version has been studied.
  bool renew(SubjectSetup& subject, const OpenModel* shown);

 private:
  void look(const SubjectSetup& subject);

  /// The new version of a file.
  struct WrittenAgain {
    std::string model;
    std::shared_ptr<const OpenModel> opened;  ///< null: no new version
  };
  /// The last version of the file that couldn't be read, and the last one reported to the user.
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
