#pragma once

#include <memory>

#include "app/scene/models/learned_skills.h"
#include "app/widgets/dialog.h"

namespace headscope::app {

/// Which words of the scene's text a model with a list of words reads in pieces, with its words and example
/// texts at hand; nothing where there are none.
void unknownWords(const Scene& scene, View& view);

/// The id of the action that shows an example of that skill.
std::string exampleAction(const LearnedSkill& skill);

/// All words that the small model reads whole; a click adds one to the text.
class WordList : public Dialog {
 public:
  explicit WordList(std::shared_ptr<const Learned> learned) : learned_(std::move(learned)) {}
  std::string name() const override { return "words"; }
  void draw(Scene& scene, View& view, bool opening) override;

 private:
  std::shared_ptr<const Learned> learned_;
};

}  // namespace headscope::app
