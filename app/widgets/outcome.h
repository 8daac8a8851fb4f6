#pragma once

#include <memory>
#include <string>

#include "app/widgets/view.h"

namespace headscope::app {

/// Where to say what came of a file that a person named: whoever reads or writes it calls done() or fail()
/// once, perhaps many frames later. While the dialog that asked for the name is open, done() closes it and
/// what failed is said there, beside the name, so that it can be mended. Otherwise the status line says it.
class Outcome {
 public:
  /// Of a file that no dialog asked for, such as one that was dropped.
  explicit Outcome(View& view) : view_(&view), pressedAt_(view.pressedAt) {}

  /// Said in the status line; "" = there is nothing to say yet.
  void done(std::string said = "") const {
    answer("");
    if (!said.empty()) view_->say(std::move(said));
  }
  /// Said beside the place where it was asked for, too.
  void tell(std::string said) const {
    answer("");
    view_->tell(std::move(said), pressedAt_);
  }
  /// One sentence.
  void fail(std::string why) const {
    if (!answer(why)) view_->messages.fail(std::move(why));
  }

 private:
  friend class FilePicker;
  /// What the dialog has been told.
  struct Answer {
    bool came = false;
    std::string failure;
  };
  Outcome(View& view, const std::shared_ptr<Answer>& dialog) : Outcome(view) { dialog_ = dialog; }

  /// Whether a dialog takes it.
  bool answer(const std::string& failure) const {
    const std::shared_ptr<Answer> dialog = dialog_.lock();
    if (dialog) *dialog = {true, failure};
    return dialog != nullptr;
  }

  View* view_;
  ImVec2 pressedAt_;
  std::weak_ptr<Answer> dialog_;  ///< gone when the dialog was closed
};

}  // namespace headscope::app
