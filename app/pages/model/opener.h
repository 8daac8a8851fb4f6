#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "app/pages/common/page.h"
#include "app/pages/model/model_state.h"

namespace headscope::app::model_page {

/// Opens models, recorded attention and pictures in the background, and lists the models that can be opened.
class Opener {
 public:
  Opener(PageServices& services, State& page) : services_(services), page_(page) {}

  /// Opens `model` (a folder, a GGUF file, recorded attention, or kLearned) in the scene that asked, then
  /// calls `then` with that scene.
  void open(const std::string& model, const Requester& requester, const Outcome& outcome,
            const std::function<void(Scene&)>& then = {});
  /// Opens a picture for the model that is open.
  void openPicture(const std::filesystem::path& path, const Requester& requester, const Outcome& outcome);
  /// Reads the recording to compare the scene's with; "" = none.
  void readOther(const std::string& name);

  /// Lists the models on this machine and those opened recently. Reads each list only once.
  void look();
  /// Makes the next look() read the list of recent models again.
  void lookAgain() { page_.opening.lookedForRecent = false; }
  /// Opens or forgets the model that was chosen in the list during this frame.
  void takeChoice();

  /// `openBundled` runs for "Open the bundled model".
  std::vector<Action> actions(const std::function<void(Scene&)>& openBundled);

 private:
  void lookForCached();
  void lookForRecent();
  void changeRecent(const std::string& path, bool opened);
  Action pictureAction();

  PageServices& services_;
  State& page_;
};

}  // namespace headscope::app::model_page
