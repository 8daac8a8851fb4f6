#pragma once

#include <memory>

#include "app/scene/models/learned_skills.h"
#include "app/widgets/dialog.h"

namespace headscope::app {

/// Lists the words of the scene's text that a model with a word vocabulary splits into pieces, with buttons
/// for its vocabulary and example texts. Draws nothing if there are no such words.
void unknownWords(const Scene& scene, View& view);

/// The id of the action that shows an example of a skill.
std::string exampleAction(const LearnedSkill& skill);

/// All words that the small model has as single tokens; a click appends one to the text.
class WordList : public Dialog {
 public:
  explicit WordList(std::shared_ptr<const Learned> learned) : learned_(std::move(learned)) {}
  std::string name() const override { return "words"; }
  void draw(Scene& scene, View& view, bool opening) override;

 private:
  std::shared_ptr<const Learned> learned_;
};

}  // namespace headscope::app
