#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "app/scene/fields.h"
#include "app/scene/lessons/lesson.h"
#include "app/scene/lessons/lesson_names.h"
#include "app/scene/patch_json.h"
#include "app/scene/text/rich_text.h"
#include "attention/formats/files/file_io.h"
#include "attention/formats/files/regular_file.h"
#include "attention/text/suggestion.h"

namespace headscope::app {

using attention::Error;
using attention::Expression;
using attention::Result;
using attention::Status;

int Lesson::stepAt(std::string_view wanted) const {
  const auto found =
      std::find_if(steps.begin(), steps.end(), [&](const LessonStep& step) { return step.id == wanted; });
  return found == steps.end() ? -1 : static_cast<int>(found - steps.begin());
}

namespace {

/// Reads one lesson and remembers the first thing that is wrong, with its place in the text.
class LessonReader {
 public:
  LessonReader(std::string_view text, std::filesystem::path folder, const std::stop_token& stop)
      : text_(text), at_(text), folder_(std::move(folder)), stop_(stop) {}

  std::shared_ptr<Lesson> read() {
    auto lesson = std::make_shared<Lesson>();
    lesson_ = lesson.get();
    ObjectReader root(JsonText(text_), "", error_);
    readHead(root);
    const auto steps = readList(root, "steps", 1, kMaxLessonSteps);
    for (std::size_t i = 0; i < steps.size() && error_.empty(); ++i) {
      if (stop_.stop_requested()) root.note("reading was stopped");
      readStep(steps[i], fmt::format("steps[{}]", i));
    }
    readCover(root);
    finish(root, text_);
    checkReferences();
    return lesson;
  }

  const std::string& error() const { return error_; }
  std::size_t line() const {
    const auto end = text_.begin() + (at_.data() - text_.data());
    return 1 + static_cast<std::size_t>(std::count(text_.begin(), end, '\n'));
  }

 private:
  /// A name in an expression or a reference to a step, which is looked up when all steps are read.
  struct Reference {
    std::string_view at;
    std::string path;
    std::string step;
    std::optional<Expression> expression = {};
  };

  /// What is read next, for the line of a message.
  void place(ObjectReader& in, const char* key) {
    if (!error_.empty()) return;
    if (const auto value = in.value(key)) at_ = value->text();
  }
  template <typename T>
  void read(ObjectReader& in, const char* key, T& to) {
    place(in, key);
    in.read(key, to);
  }
  void finish(ObjectReader& in, std::string_view at) {
    if (error_.empty()) at_ = at;
    in.finish("a lesson");
  }

  void readWhole(ObjectReader& in, const char* key, Index low, Index high, int& to) {
    Index value = to;
    read(in, key, value);
    if (value < low || value > high)
      return in.note(fmt::format("{} is {}, expected {} to {}", in.at(key), value, low, high));
    to = static_cast<int>(value);
  }

  std::vector<JsonText> readList(ObjectReader& in, const char* key, std::size_t least, std::size_t most) {
    place(in, key);
    auto list = in.list(key);
    if (!list && least == 0) return {};
    if (!list) in.note(in.at(key) + " is missing");
    if (list && (list->size() < least || list->size() > most)) {
      in.note(fmt::format("{} has {} entries, expected {} to {}", in.at(key), list->size(), least, most));
      return {};
    }
    return list ? *std::move(list) : std::vector<JsonText>{};
  }

  void readTitle(ObjectReader& in, const char* key, bool needed, std::string& to) {
    read(in, key, to);
    if (needed && to.empty()) in.note(in.at(key) + " is missing");
    if (to.size() > kMaxLessonTitle)
      in.note(fmt::format("{} has {} bytes, expected at most {}", in.at(key), to.size(), kMaxLessonTitle));
  }

  void readLong(ObjectReader& in, const char* key, std::string& to) {
    read(in, key, to);
    if (to.size() > kMaxLessonText)
      in.note(fmt::format("{} has {} bytes, expected at most {}", in.at(key), to.size(), kMaxLessonText));
  }

  void readText(ObjectReader& in, const char* key, bool needed, LessonText& to) {
    std::string text;
    readLong(in, key, text);
    if (needed && text.empty()) in.note(in.at(key) + " is missing");
    auto parsed = LessonText::parse(text);
    if (!parsed) return in.note(in.at(key) + ": " + parsed.error().message);
    to = *std::move(parsed);
    // Whatever numbers come, bold type, formulas and colours have to be as the page sets them.
    const auto filled = to.filled([](const Expression&) { return attention::Array(0.0); });
    if (const auto rich = parseRichText(filled ? *filled : text); !rich)
      in.note(in.at(key) + ": " + rich.error().message);
    for (const LessonText::Piece& piece : to.pieces())
      if (piece.value) references_.push_back({at_, in.at(key), "", piece.value});
  }

  std::optional<Expression> parseExpression(ObjectReader& in, const std::string& path,
                                            const std::string& text) {
    auto parsed = Expression::parse(text);
    if (!parsed) {
      in.note(path + ": " + parsed.error().message);
      return std::nullopt;
    }
    references_.push_back({at_, path, "", *parsed});
    return *std::move(parsed);
  }

  std::optional<Expression> readExpression(ObjectReader& in, const char* key) {
    std::string text;
    read(in, key, text);
    if (!in.value(key)) return std::nullopt;
    return parseExpression(in, in.at(key), text);
  }

  static bool isId(const std::string& id) {
    constexpr std::size_t kLongest = 40;
    return !id.empty() && id.size() <= kLongest && id.front() >= 'a' && id.front() <= 'z' &&
           id.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") == std::string::npos;
  }
  void readId(ObjectReader& in, std::string& id) {
    read(in, "id", id);
    if (!isId(id))
      in.note(in.at("id") + " is " + attention::quotedText(id) +
              ", expected up to 40 lower-case letters, digits and _, a letter first");
  }

  void readHead(ObjectReader& root) {
    std::string format;
    int version = 0;
    read(root, "format", format);
    read(root, "version", version);
    if (format != "headscope lesson")
      root.note("this is not a lesson: \"format\" is " + attention::quotedText(format) +
                ", expected \"headscope lesson\"");
    if (version != 1)
      root.note(fmt::format("the lesson has version {}, this program reads version 1", version));
    readId(root, lesson_->id);
    readTitle(root, "title", true, lesson_->title);
    readTitle(root, "summary", false, lesson_->summary);
    readWhole(root, "number", 0, 999, lesson_->number);
    readWhole(root, "level", 1, 3, lesson_->level);
    readWhole(root, "minutes", 0, 600, lesson_->minutes);
    lesson_->opening = openingScene();
    std::vector<std::string> changed;
    readScene(root, "scene", lesson_->opening, changed);
  }

  void readScene(ObjectReader& in, const char* key, Scene& scene, std::vector<std::string>& changed) {
    place(in, key);
    const auto value = in.value(key);
    if (!value || !error_.empty()) return;
    ObjectReader patch(*value, in.at(key), error_);
    std::string_view at = at_;
    readPatch(patch, folder_, models_, stop_, scene, changed, at);
    at_ = at;
  }

  void readCover(ObjectReader& root) {
    lesson_->cover = *Expression::parse("W[0]");
    if (!lesson_->steps.empty()) lesson_->coverStep = lesson_->steps.front().id;
    place(root, "cover");
    root.object("cover", [&](ObjectReader& in) {
      read(in, "step", lesson_->coverStep);
      references_.push_back({at_, in.at("step"), lesson_->coverStep});
      if (auto picture = readExpression(in, "picture")) lesson_->cover = *std::move(picture);
      finish(in, at_);
    });
  }

  void readLook(ObjectReader& step, LessonLook& look) {
    place(step, "look");
    step.object("look", [&](ObjectReader& in) {
      readTitle(in, "page", false, look.page);
      readTitle(in, "at", false, look.at);
      read(in, "head", look.head);
      read(in, "query", look.query);
      read(in, "key", look.key);
      readTitle(in, "control", false, look.control);
      readWhole(in, "mark", 0, 9, look.mark);
      for (const auto& [key, value] :
           {std::pair("head", look.head), {"query", look.query}, {"key", look.key}})
        if (value < -1 || value > kMaxMapTokens)
          in.note(fmt::format("{} is {}, expected 0 to {}", in.at(key), value, kMaxMapTokens));
      finish(in, at_);
    });
  }

  LessonOption readOption(const JsonText& json, const std::string& path) {
    LessonOption option;
    if (error_.empty()) at_ = json.text();
    ObjectReader in(json, path, error_);
    readText(in, "text", true, option.text);
    readText(in, "why", false, option.why);
    auto trueIf = readExpression(in, "true_if");
    if (!trueIf)
      in.note(in.at("true_if") + " is missing: what makes this option right");
    else
      option.trueIf = *std::move(trueIf);
    option.row = readExpression(in, "row");
    finish(in, json.text());
    return option;
  }

  void readQuestion(ObjectReader& step, std::optional<LessonQuestion>& question) {
    place(step, "question");
    step.object("question", [&](ObjectReader& in) {
      question.emplace();
      readText(in, "ask", true, question->ask);
      const auto options = readList(in, "options", kMinLessonOptions, kMaxLessonOptions);
      for (std::size_t i = 0; i < options.size() && error_.empty(); ++i)
        question->options.push_back(readOption(options[i], in.at(fmt::format("options[{}]", i))));
      finish(in, at_);
    });
  }

  void readTries(ObjectReader& in, std::vector<std::string>& tries) {
    const auto list = readList(in, "try", 0, kMaxLessonTries);
    for (std::size_t i = 0; i < list.size() && error_.empty(); ++i) {
      at_ = list[i].text();
      const Json value = list[i].scalar();
      const std::string path = value.is_string() ? value.get<std::string>() : "";
      std::vector<std::string_view> known(std::begin(kPlainMasks), std::end(kPlainMasks));
      for (const Field& field : allFields()) known.push_back(field.path);
      if (std::find(known.begin(), known.end(), path) == known.end())
        in.note(fmt::format("{}[{}] is {}, expected the path of a field{}", in.at("try"), i, list[i].shown(),
                            attention::suggestion(path, known)));
      tries.push_back(path);
    }
  }

  void readClaims(ObjectReader& in, std::vector<Expression>& claims) {
    const auto list = readList(in, "claims", 0, kMaxLessonClaims);
    for (std::size_t i = 0; i < list.size() && error_.empty(); ++i) {
      at_ = list[i].text();
      const std::string path = fmt::format("{}[{}]", in.at("claims"), i);
      const Json value = list[i].scalar();
      if (!value.is_string()) return in.note(path + " is " + list[i].shown() + ", expected an expression");
      if (auto claim = parseExpression(in, path, value.get<std::string>()))
        claims.push_back(*std::move(claim));
    }
  }

  /// The scene that a step begins from.
  Scene sceneFrom(ObjectReader& in, std::string& from) {
    const bool first = lesson_->steps.empty();
    from = first ? kOpeningStep : lesson_->steps.back().id;
    read(in, "from", from);
    if (from == kOpeningStep) return lesson_->opening;
    const auto found = ids_.find(from);
    if (found != ids_.end()) return lesson_->steps[found->second].scene;
    in.note(in.at("from") + " is " + attention::quotedText(from) +
            ", expected the id of an earlier step, or opening");
    return lesson_->opening;
  }

  void readStep(const JsonText& json, const std::string& path) {
    at_ = json.text();
    ObjectReader in(json, path, error_);
    LessonStep step;
    readId(in, step.id);
    if (splitLessonName(step.id, false).name || step.id == kOpeningStep || step.id == "wrong" ||
        step.id == "right" || step.id == "cost")
      in.note(in.at("id") + " is " + attention::quotedText(step.id) + ", which is a name in expressions");
    if (ids_.contains(step.id))
      in.note(in.at("id") + " is " + attention::quotedText(step.id) + ", which another step has");
    readTitle(in, "title", true, step.title);
    step.scene = sceneFrom(in, step.from);
    readScene(in, "patch", step.scene, step.changed);
    readText(in, "text", true, step.text);
    readLook(in, step.look);
    takeLook(step);
    read(in, "compare", step.compare);
    if (!step.compare.empty()) references_.push_back({at_, in.at("compare"), step.compare});
    readTries(in, step.tries);
    readLong(in, "notes", step.notes);
    readQuestion(in, step.question);
    readClaims(in, step.claims);
    finish(in, json.text());
    ids_.emplace(step.id, lesson_->steps.size());
    lesson_->steps.push_back(std::move(step));
  }

  /// Where one looks is a part of the scene.
  static void takeLook(LessonStep& step) {
    Cursor& cursor = step.scene.cursor;
    cursor.page = step.look.page;
    if (step.look.head >= 0) cursor.cell.head = step.look.head;
    if (step.look.query >= 0) cursor.cell.query = step.look.query;
    if (step.look.key >= 0) cursor.cell.key = step.look.key;
  }

  void checkReferences() {
    for (const Reference& reference : references_) {
      if (!error_.empty()) return;
      at_ = reference.at;
      if (!reference.expression && !ids_.contains(reference.step))
        error_ =
            reference.path + " is " + attention::quotedText(reference.step) + ", which is not a step's id";
      if (reference.expression) checkNames(reference);
    }
  }

  void checkNames(const Reference& reference) {
    for (const attention::UsedName& used : reference.expression->names()) {
      const SplitName split = splitLessonName(used.name, used.function);
      const std::string step(split.step);
      if (split.name && (step.empty() || ids_.contains(step))) continue;
      error_ = fmt::format("{}: column {}: {}", reference.path, used.column,
                           split.name ? attention::quotedText(step) + " is not a step's id"
                                      : unknownLessonName(used.name, used.function));
      return;
    }
  }

  const std::string_view text_;
  std::string_view at_;  ///< what is being read
  const std::filesystem::path folder_;
  const std::stop_token stop_;
  std::string error_;
  Lesson* lesson_ = nullptr;
  std::map<std::string, std::size_t> ids_;
  OpenModels models_;
  std::vector<Reference> references_;
};

}  // namespace

Result<std::shared_ptr<const Lesson>> parseLesson(std::string_view json, const std::string& name,
                                                  const std::stop_token& stop,
                                                  const std::filesystem::path& folder) {
  const auto lineOf = [&](std::size_t byte) {
    return 1 + std::count(json.begin(),
                          json.begin() + static_cast<std::ptrdiff_t>(std::min(byte, json.size())), '\n');
  };
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (json.starts_with(kByteOrderMark)) json.remove_prefix(kByteOrderMark.size());
  if (json.size() > kMaxLessonBytes)
    return Error{
        fmt::format("{}: the lesson has {} bytes, expected at most {}", name, json.size(), kMaxLessonBytes)};
  std::optional<std::size_t> brokenAt;
  if (const Status read = checkJson(json, stop, &brokenAt); !read)
    return Error{brokenAt ? fmt::format("{}, line {}: {}", name, lineOf(*brokenAt), read.error().message)
                          : name + ": " + read.error().message};
  std::error_code ignored;
  const std::filesystem::path from =
      folder.empty() ? std::filesystem::current_path(ignored) : std::filesystem::absolute(folder, ignored);
  LessonReader reader(json, from, stop);
  std::shared_ptr<Lesson> lesson = reader.read();
  if (!reader.error().empty())
    return Error{fmt::format("{}, line {}: {}", name, reader.line(), reader.error())};
  lesson->name = name;
  return std::shared_ptr<const Lesson>(std::move(lesson));
}

Result<std::shared_ptr<const Lesson>> readLesson(const std::filesystem::path& path,
                                                 const std::stop_token& stop) {
  const auto bytes = attention::readFile(path, kMaxLessonBytes);
  if (!bytes) return bytes.error();
  std::filesystem::path folder = path.parent_path();
  return parseLesson({reinterpret_cast<const char*>(bytes->data()), bytes->size()},
                     attention::shownPath(path.filename()), stop, folder.empty() ? "." : folder);
}

}  // namespace headscope::app
