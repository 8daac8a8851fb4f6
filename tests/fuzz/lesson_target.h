#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>

#include "app/scene/lesson.h"
#include "app/scene/scene_json.h"

/// The fuzz target of lesson files, apart from the others: it needs the document as well.
namespace headscope::fuzz {

inline void holdLesson(bool condition) {
  if (!condition) std::abort();
}

/// A lesson or one sentence. What is read has whole scenes, and a step more can be written to it.
inline void fuzzLesson(std::span<const std::uint8_t> bytes) {
  using namespace app;
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const auto lesson = parseLesson(text, "fuzz", {}, "/nowhere");
  if (!lesson) {
    const std::string& message = lesson.error().message;
    return holdLesson(message.starts_with("fuzz") && message.size() < 2000);
  }
  const Lesson& read = **lesson;
  holdLesson(!read.steps.empty() && read.steps.size() <= kMaxLessonSteps && read.stepAt(read.coverStep) >= 0);
  for (std::size_t i = 0; i < read.steps.size(); ++i) {
    const LessonStep& step = read.steps[i];
    holdLesson(read.stepAt(step.id) == static_cast<int>(i) && !step.text.empty() &&
               validate(step.scene).ok());
    holdLesson(step.from == kOpeningStep || read.stepAt(step.from) < static_cast<int>(i));
    holdLesson(step.compare.empty() || read.stepAt(step.compare) >= 0);
    if (step.question)
      holdLesson(step.question->options.size() >= kMinLessonOptions &&
                 step.question->options.size() <= kMaxLessonOptions);
  }
  Scene now = read.steps.back().scene;
  now.setup.model.sharpness = now.setup.model.sharpness == 2 ? 3 : 2;
  const auto grown = appendStep(text, now, "More", "/nowhere");
  if (!grown) return holdLesson(read.steps.size() == kMaxLessonSteps || text.size() + 4096 > kMaxLessonBytes);
  const auto back = parseLesson(*grown, "fuzz", {}, "/nowhere");
  holdLesson(back.ok() && (*back)->steps.size() == read.steps.size() + 1 &&
             (*back)->steps.back().scene.setup.model.sharpness == now.setup.model.sharpness);
}

}  // namespace headscope::fuzz
