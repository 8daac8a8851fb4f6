#pragma once

#include <string>
#include <vector>

#include "app/scene/scene.h"

namespace headscope::app {

/// A view that is handed out: what is shown, and what is said about it. Texts are those of
/// scene/text/rich_text.h.
struct HandoutView {
  Scene scene;
  std::string file;  ///< that it is from
  std::string title, notes, ask;
  std::vector<std::string> options;
  std::string answer;  ///< which option is right, and why
};

/// The views of a scene, those of its talk if it has one, or of a lesson: one a step, computed. With
/// `answers` a step shows what comes after its question, and says what is right. Errors: what can't be read
/// or computed.
attention::Result<std::vector<HandoutView>> handoutViews(const std::string& file, bool answers);

}  // namespace headscope::app
