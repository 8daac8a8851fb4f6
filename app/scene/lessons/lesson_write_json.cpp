#include <fstream>

#include "app/scene/json_text.h"
#include "app/scene/lessons/lesson.h"

namespace headscope::app {

using attention::Error;
using attention::Result;

namespace {

/// "Take the first token away" → "take_the_first_token": an id for use in expressions.
std::string idOf(const std::string& title, const std::string& otherwise) {
  constexpr std::size_t kLongest = 24;
  std::string id;
  for (const char c : title) {
    const bool upper = c >= 'A' && c <= 'Z', lower = c >= 'a' && c <= 'z', digit = c >= '0' && c <= '9';
    if (id.empty() && !upper && !lower) continue;
    if (upper || lower || digit)
      id += upper ? static_cast<char>(c - 'A' + 'a') : c;
    else if (id.back() != '_')
      id += '_';
    if (id.size() == kLongest) break;
  }
  while (!id.empty() && id.back() == '_') id.pop_back();
  return id.empty() ? otherwise : id;
}

/// The place that the scene shows, which the author would otherwise have to look up.
Json lookJson(const Scene& now) {
  Json look = Json::object();
  look["page"] = now.cursor.page;
  return look;
}

/// Formats JSON with `spaces` more of indentation after the first line.
std::string indented(const Json& json, std::size_t spaces) {
  std::string text = json.dump(1, ' ', false, Json::error_handler_t::replace);
  for (std::size_t at = 0; (at = text.find('\n', at)) != std::string::npos; at += spaces + 1)
    text.insert(at + 1, spaces, ' ');
  return text;
}

Json stepJson(const std::string& id, const std::string& title, Json patch, const Scene& now) {
  Json step = Json::object();
  step["id"] = id;
  step["title"] = title;
  step["patch"] = std::move(patch);
  step["text"] = "What changed, what is seen, and why.";
  step["look"] = lookJson(now);
  return step;
}

std::string cutTitle(const std::string& title, const std::string& otherwise) {
  if (title.empty()) return otherwise;
  std::size_t length = std::min(title.size(), kMaxLessonTitle);
  while (length < title.size() && length > 0 && (static_cast<unsigned char>(title[length]) & 0xC0) == 0x80)
    --length;
  // A title has no formulas; it is shown as written.
  return title.substr(0, length);
}

}  // namespace

Talk talkOf(const Lesson& lesson) {
  Talk talk;
  for (const LessonStep& step : lesson.steps)
    talk.views.push_back({step.title, step.notes, viewScene(step.scene)});
  return talk;
}

std::string newLesson(const Scene& now, const std::string& wanted) {
  const std::string title = cutTitle(wanted, "My lesson");
  Json lesson = Json::object();
  lesson["format"] = "headscope lesson";
  lesson["version"] = 1;
  lesson["id"] = idOf(title, "lesson");
  lesson["title"] = title;
  lesson["steps"] = Json::array({stepJson("first", title, patchJson(openingScene(), now, {}), now)});
  return lesson.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<std::string> appendStep(std::string_view json, const Scene& now, const std::string& wanted,
                               const std::filesystem::path& folder) {
  const auto lesson = parseLesson(json, "the lesson", {}, folder);
  if (!lesson) return lesson.error();
  const std::string title = cutTitle(wanted, "Step " + std::to_string((*lesson)->steps.size() + 1));
  const std::string base = idOf(title, "step");
  const auto step = [&](const std::string& id) {
    return stepJson(id, title, patchJson((*lesson)->steps.back().scene, now, folder), now);
  };
  // Inserts the step after the last one; nothing else changes.
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (json.starts_with(kByteOrderMark)) json.remove_prefix(kByteOrderMark.size());
  JsonFault none;
  const std::vector<JsonText> steps = *ObjectReader(JsonText(json), "", none).list("steps");
  const std::string_view last = steps.back().text();
  const auto end = static_cast<std::size_t>(last.data() + last.size() - json.data());
  std::string id = base;
  const auto taken = [&] {
    const std::string probe =
        std::string(json.substr(0, end)) + ",\n" + step(id).dump() + std::string(json.substr(end));
    return parseLesson(probe, "the lesson", {}, folder);
  };
  for (int number = 2; (*lesson)->stepAt(id) >= 0; ++number) id = base + "_" + std::to_string(number);
  auto grown = taken();
  if (!grown) {
    id = "step_" + std::to_string(steps.size() + 1);
    grown = taken();
  }
  if (!grown) return grown.error();
  Scene back = (*grown)->steps.back().scene;
  back.cursor.page = now.cursor.page;
  if (!sameDocument(back, now) && now.setup.subject.model.empty())
    return Error{"a lesson's step can't hold all of this scene"};
  return std::string(json.substr(0, end)) + ",\n  " + indented(step(id), 2) + std::string(json.substr(end));
}

bool isLessonFile(const std::filesystem::path& path) {
  constexpr std::streamsize kBeginning = 4096;
  std::error_code failed;
  // Opening a pipe could block.
  if (!std::filesystem::is_regular_file(path, failed)) return false;
  std::ifstream file(path, std::ios::binary);
  std::string text(kBeginning, '\0');
  file.read(text.data(), kBeginning);
  text.resize(static_cast<std::size_t>(file.gcount()));
  return text.find("\"headscope lesson\"") != std::string::npos;
}

}  // namespace headscope::app
