#include "app/commands/handout_views.h"

#include <fmt/core.h>

#include <filesystem>

#include "app/commands/commands.h"
#include "app/compute/lessons/lesson_study.h"
#include "app/pages/lessons/lessons_state.h"
#include "app/scene/lessons/lesson_file.h"

namespace headscope::app {

namespace {

HandoutView viewOf(const Lesson& lesson, std::size_t at, const StepStudy& study, bool answers) {
  const LessonStep& step = lesson.steps[at];
  HandoutView view{lessons_page::stageScene(lesson, step, answers || !step.question),
                   lesson.title,
                   step.title,
                   study.text,
                   study.ask,
                   {},
                   ""};
  for (std::size_t i = 0; i < study.options.size(); ++i) {
    view.options.push_back(study.options[i].text);
    if (answers && study.options[i].holds)
      view.answer = fmt::format("**{} is right.** {}", lessons_page::optionLetter(i), study.options[i].why);
  }
  return view;
}

}  // namespace

attention::Result<std::vector<HandoutView>> handoutViews(const std::string& named, bool answers) {
  const std::string file = lessonOr(named).string();
  std::vector<HandoutView> views;
  if (!isLessonFile(file)) {
    auto scene = sceneOrOpening(file);
    if (!scene) return scene.error();
    const std::string name = std::filesystem::path(file).stem().string();
    const std::vector<TalkView> talk = talkViews(*scene);
    for (std::size_t at = 0; at < talk.size(); ++at)
      views.push_back({*talk[at].scene, name, viewTitle(talk[at], at), talk[at].notes, "", {}, ""});
    if (views.empty()) views.push_back({*std::move(scene), name, name, "", "", {}, ""});
    return views;
  }
  const auto lesson = readLesson(file);
  if (!lesson) return lesson.error();
  Resources resources(defaultLimits());
  LessonRunner runner(**lesson, resources);
  for (std::size_t at = 0; at < (*lesson)->steps.size(); ++at) {
    const auto study = runner.study(at);
    if (!study) return study.error();
    views.push_back(viewOf(**lesson, at, **study, answers));
  }
  return views;
}

}  // namespace headscope::app
