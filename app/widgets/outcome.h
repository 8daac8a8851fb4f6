#pragma once

#include <memory>
#include <string>

#include "app/widgets/view.h"

namespace headscope::app {

/// The outcome of reading or writing a file that the user named. Call done(), tell() or fail() once, perhaps
/// many frames later. If the dialog that asked for the name is still open, success closes it, and a failure
/// is shown there next to the name, so that it can be corrected. Otherwise the status line shows it.
class Outcome {
 public:
  /// For a file without a dialog, such as a dropped one.
  explicit Outcome(View& view) : view_(&view), pressedAt_(view.pressedAt) {}

  /// Shows `said` in the status line; "" = nothing to report yet.
  void done(std::string said = "") const {
    answer("");
    if (!said.empty()) view_->say(std::move(said));
  }
  /// Also shows `said` next to the place of the request.
  void tell(std::string said) const {
    answer("");
    view_->tell(std::move(said), pressedAt_);
  }
  /// Reports a failure in one sentence.
  void fail(std::string why) const {
    if (!answer(why)) view_->messages.fail(std::move(why));
  }

 private:
  friend class FilePicker;
  /// The result reported to the dialog.
  struct Answer {
    bool came = false;
    std::string failure;
  };
  Outcome(View& view, const std::shared_ptr<Answer>& dialog) : Outcome(view) { dialog_ = dialog; }

  /// Returns whether a dialog took the answer.
  bool answer(const std::string& failure) const {
    const std::shared_ptr<Answer> dialog = dialog_.lock();
    if (dialog) *dialog = {true, failure};
    return dialog != nullptr;
  }

  View* view_;
  ImVec2 pressedAt_;
  std::weak_ptr<Answer> dialog_;  ///< expired if the dialog was closed
};

}  // namespace headscope::app
