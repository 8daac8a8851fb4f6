#include "app/scene/lessons/lesson.h"
#include "attention/formats/files/file_io.h"
#include "attention/formats/json_tree.h"

namespace headscope::app {

namespace {

using ProgressJson = nlohmann::json;

constexpr std::uint64_t kMaxBytes = std::uint64_t{1} << 20;

std::string textOf(const ProgressJson& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

/// The chosen option, if a question can have it.
std::optional<int> optionOf(const ProgressJson& guess) {
  constexpr std::uint64_t kMax = 1000;
  const auto option = guess.is_object() ? guess.find("option") : guess.end();
  if (option == guess.end() || !option->is_number_unsigned() || option->get<std::uint64_t>() > kMax)
    return std::nullopt;
  return option->get<int>();
}

LessonProgress lessonFrom(const ProgressJson& json) {
  LessonProgress progress;
  progress.last = textOf(json, "last");
  if (const auto seen = json.find("seen"); seen != json.end() && seen->is_array())
    for (const ProgressJson& id : *seen)
      if (id.is_string()) progress.seen.insert(id.get<std::string>());
  if (const auto guesses = json.find("guesses"); guesses != json.end() && guesses->is_object())
    for (const auto& [id, guess] : guesses->items())
      if (const auto option = optionOf(guess))
        progress.guesses[id] = {*option, guess.contains("right") && guess["right"] == true};
  return progress;
}

}  // namespace

Progress parseProgress(std::string_view text) {
  Progress progress;
  const auto parsed = attention::parseJsonTree(text, "lessons.json");
  if (!parsed || !parsed->is_object()) return progress;
  const ProgressJson& json = *parsed;
  progress.last = textOf(json, "last");
  if (const auto lessons = json.find("lessons"); lessons != json.end() && lessons->is_object())
    for (const auto& [id, lesson] : lessons->items())
      if (lesson.is_object()) progress.lessons[id] = lessonFrom(lesson);
  return progress;
}

std::string formatProgress(const Progress& progress) {
  ProgressJson json{{"last", progress.last}, {"lessons", ProgressJson::object()}};
  for (const auto& [id, lesson] : progress.lessons) {
    ProgressJson guesses = ProgressJson::object();
    for (const auto& [step, guess] : lesson.guesses)
      guesses[step] = {{"option", guess.option}, {"right", guess.right}};
    json["lessons"][id] = {{"last", lesson.last}, {"seen", lesson.seen}, {"guesses", guesses}};
  }
  return json.dump(2, ' ', false, ProgressJson::error_handler_t::replace) + "\n";
}

std::filesystem::path progressPath(const std::filesystem::path& folder) {
  return folder / "lessons.json";
}

Progress readProgress(const std::filesystem::path& folder) {
  if (folder.empty()) return {};
  const auto bytes = attention::readFile(progressPath(folder), kMaxBytes);
  return bytes ? parseProgress(std::string_view(reinterpret_cast<const char*>(bytes->data()), bytes->size()))
               : Progress{};
}

}  // namespace headscope::app
