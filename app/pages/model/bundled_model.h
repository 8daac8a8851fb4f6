#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "app/pages/common/page.h"
#include "app/pages/model/model_state.h"
#include "app/pages/model/opener.h"

namespace headscope::app::model_page {

/// The bundled model: shown on the page while no model is open, and opened for its example texts.
class BundledModel {
 public:
  /// Reads the example texts.
  BundledModel(PageServices& services, State& page, Opener& opener);

  /// Reads the model in the background, once.
  void read();
  /// Whether the page shows it: it has been read, and the scene has neither a model nor synthetic layers.
  bool isShown(const Scene& scene) const;
  /// The scene as the page then shows it: with this model, and with an example text if the scene's own is
  /// empty or has words that the model doesn't know.
  Scene shownScene(const Scene& scene);
  /// Runs `act` on the scene as the page shows it, and takes over the result. The bundled model's setup is
  /// taken over only if `act` changed the setup or the comparison, or left the page.
  void onShown(Scene& scene, const std::function<void(Scene&)>& act);
  /// The same actions, each run through onShown().
  std::vector<Action> onShown(std::vector<Action> actions);
  /// Makes it the scene's model.
  void open(Scene& scene);
  /// Actions for its example texts. Returns them once, after they have been read.
  std::vector<Action> moreActions() { return std::exchange(more_, {}); }

 private:
  void readExamples();
  std::vector<Action> exampleActions(const std::shared_ptr<const Learned>& learned);
  void showExample(Scene& scene, const LearnedSkill& skill);
  void showPair(Scene& scene, const LearnedSkill& skill);

  PageServices& services_;
  State& page_;
  Opener& opener_;
  std::shared_ptr<const OpenModel> model_;  ///< null before it is read
  bool asked_ = false;
  std::optional<SharedText> text_;  ///< the last text checked for unknown words
  bool known_ = false;              ///< the model knows every word of it
  std::vector<Action> more_;        ///< not returned yet
};

}  // namespace headscope::app::model_page
