#include <fmt/core.h>

#include <type_traits>

#include "app/scene/fields.h"
#include "app/scene/json_text.h"
#include "app/scene/lessons/lesson.h"
#include "app/scene/text/rich_text.h"
#include "attention/formats/files/file_io.h"
#include "attention/text/ascii.h"

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

constexpr const char* kLessonFormat = "headscope lesson";

/// Reads one lesson; fault() has the first error.
class LessonReader {
 public:
  LessonReader(std::string_view text, std::filesystem::path folder, const std::stop_token& stop)
      : text_(text), folder_(std::move(folder)), stop_(stop) {}

  std::shared_ptr<Lesson> read() {
    auto lesson = std::make_shared<Lesson>();
    lesson_ = lesson.get();
    ObjectReader root(JsonText(text_), "", fault_, "a lesson");
    readHead(root);
    root.objects("steps", 1, kMaxLessonSteps, [&](ObjectReader& in) {
      if (stop_.stop_requested()) in.note("reading was stopped");
      readStep(in);
    });
    readCover(root);
    readText(root, "learned", lesson_->learned);
    root.finish();
    checkReferences();
    return lesson;
  }

  const JsonFault& fault() const { return fault_; }

 private:
  /// A name in an expression or a reference to a step, resolved once all steps are read.
  struct Reference {
    std::string_view at;
    std::string path;
    std::string step;
    std::optional<Expression> expression = {};
  };

  // Kinds of values. Each leaves `to` alone if the key is missing and not required.

  static void readWhole(ObjectReader& in, const char* key, Index low, Index high, auto& to) {
    Index value = to;
    in.read(key, value);
    if (value < low || value > high)
      return in.note(
          fmt::format("{} is {}, expected {} to {}", in.at(key), value, std::max<Index>(low, 0), high));
    to = static_cast<std::remove_reference_t<decltype(to)>>(value);
  }

  static void readString(ObjectReader& in, const char* key, std::size_t most, std::string& to) {
    in.read(key, to);
    if (to.size() > most)
      in.note(fmt::format("{} has {} bytes, expected at most {}", in.at(key), to.size(), most));
  }
  static void need(ObjectReader& in, const char* key, bool there) {
    if (!there) in.note(in.at(key) + " is missing");
  }
  static void readTitle(ObjectReader& in, std::string& to) {
    readString(in, "title", kMaxLessonTitle, to);
    need(in, "title", !to.empty());
  }

  void readText(ObjectReader& in, const char* key, LessonText& to) {
    std::string text;
    readString(in, key, kMaxLessonText, text);
    auto parsed = LessonText::parse(text);
    if (!parsed) return in.note(in.at(key) + ": " + parsed.error().message);
    to = *std::move(parsed);
    // Whatever the numbers are, bold type, formulas and colours have to be valid.
    const std::string word = "word";
    const auto filled =
        to.filled([](const Expression&) { return attention::Array(0.0); }, std::span(&word, 1));
    if (const auto rich = parseRichText(filled ? *filled : text); !rich)
      in.note(in.at(key) + ": " + rich.error().message);
    for (const LessonText::Piece& piece : to.pieces())
      if (piece.value) references_.push_back({fault_.at, in.at(key), "", piece.value});
  }

  std::optional<Expression> parseExpression(ObjectReader& in, const std::string& path,
                                            const std::string& text) {
    auto parsed = Expression::parse(text);
    if (!parsed) {
      in.note(path + ": " + parsed.error().message);
      return std::nullopt;
    }
    references_.push_back({fault_.at, path, "", *parsed});
    return *std::move(parsed);
  }
  std::optional<Expression> readExpression(ObjectReader& in, const char* key) {
    std::string text;
    in.read(key, text);
    return in.value(key) ? parseExpression(in, in.at(key), text) : std::nullopt;
  }

  /// Visits the texts of a list, each with its path.
  void eachText(ObjectReader& in, const char* key, std::size_t most, const char* expected, auto visit) {
    const std::vector<JsonText> list = in.list(key, 0, most);
    for (std::size_t i = 0; i < list.size() && fault_.empty(); ++i) {
      fault_.at = list[i].text();
      const Json value = list[i].scalar();
      if (!value.is_string())
        return in.note(fmt::format("{} is {}, expected {}", in.at(key, i), list[i].shown(), expected));
      visit(in.at(key, i), value.get<std::string>());
    }
  }

  static bool isId(const std::string& id) {
    constexpr std::size_t kLongest = 40;
    return !id.empty() && id.size() <= kLongest && id.front() >= 'a' && id.front() <= 'z' &&
           id.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") == std::string::npos;
  }
  static void readId(ObjectReader& in, std::string& id) {
    in.read("id", id);
    if (!isId(id))
      in.note(in.at("id") + " is " + attention::quotedText(id) +
              ", expected up to 40 lower-case letters, digits and _, a letter first");
  }
  /// Reads the id of any step.
  void readStepId(ObjectReader& in, const char* key, std::string& to) {
    in.read(key, to);
    if (!to.empty()) references_.push_back({fault_.at, in.at(key), to});
  }

  void readScene(ObjectReader& in, const char* key, Scene& scene, std::vector<std::string>& changed) {
    const auto value = in.value(key);
    if (!value || !fault_.empty()) return;
    ObjectReader patch(*value, in.at(key), fault_);
    readPatch(patch, folder_, models_, stop_, scene, changed);
  }

  // The objects of a lesson.

  void readHead(ObjectReader& root) {
    std::string format;
    int version = 0;
    root.read("format", format);
    root.read("version", version);
    if (format != kLessonFormat)
      root.note("this is not a lesson: \"format\" is " + attention::quotedText(format) +
                ", expected \"headscope lesson\"");
    if (version != 1)
      root.note(fmt::format("the lesson has version {}, this program reads version 1", version));
    readId(root, lesson_->id);
    readTitle(root, lesson_->title);
    readString(root, "summary", kMaxLessonTitle, lesson_->summary);
    readString(root, "part", kMaxLessonTitle, lesson_->part);
    readWhole(root, "number", 0, 999, lesson_->number);
    if (root.value("level")) root.note("level is no longer a field of a lesson; remove it");
    readWhole(root, "minutes", 0, 600, lesson_->minutes);
    lesson_->opening = openingScene();
    std::vector<std::string> changed;
    readScene(root, "scene", lesson_->opening, changed);
  }

  void readCover(ObjectReader& root) {
    lesson_->cover = *Expression::parse("W[0]");
    if (!lesson_->steps.empty()) lesson_->coverStep = lesson_->steps.front().id;
    root.object("cover", [&](ObjectReader& in) {
      readStepId(in, "step", lesson_->coverStep);
      if (auto picture = readExpression(in, "picture")) lesson_->cover = *std::move(picture);
    });
  }

  void readStep(ObjectReader& in) {
    LessonStep step;
    readId(in, step.id);
    if (splitLessonName(step.id, false).name || step.id == kOpeningStep || step.id == "wrong" ||
        step.id == "right" || step.id == "cost")
      in.note(in.at("id") + " is " + attention::quotedText(step.id) + ", which is a name in expressions");
    if (lesson_->stepAt(step.id) >= 0)
      in.note(in.at("id") + " is " + attention::quotedText(step.id) + ", which another step has");
    readTitle(in, step.title);
    step.scene = sceneFrom(in, step.from);
    readScene(in, "patch", step.scene, step.changed);
    readText(in, "text", step.text);
    need(in, "text", !step.text.empty());
    in.object("look", [&](ObjectReader& look) { readLook(look, step.look); });
    takeLook(step);
    readStepId(in, "compare", step.compare);
    eachText(in, "try", kMaxLessonTries, "the path of a field", [&](const std::string& at, std::string path) {
      checkTry(in, at, path);
      step.tries.push_back(std::move(path));
    });
    readString(in, "notes", kMaxLessonText, step.notes);
    in.object("question", [&](ObjectReader& question) { readQuestion(question, step.question.emplace()); });
    eachText(in, "claims", kMaxLessonClaims, "an expression",
             [&](const std::string& at, const std::string& text) {
               if (auto claim = parseExpression(in, at, text)) step.claims.push_back(*std::move(claim));
             });
    lesson_->steps.push_back(std::move(step));
  }

  /// The scene that a step starts from.
  Scene sceneFrom(ObjectReader& in, std::string& from) {
    from = lesson_->steps.empty() ? kOpeningStep : lesson_->steps.back().id;
    in.read("from", from);
    const int at = lesson_->stepAt(from);
    if (at < 0 && from != kOpeningStep)
      in.note(in.at("from") + " is " + attention::quotedText(from) +
              ", expected the id of an earlier step, or opening");
    return at < 0 ? lesson_->opening : lesson_->steps[static_cast<std::size_t>(at)].scene;
  }

  void readLook(ObjectReader& in, LessonLook& look) {
    readString(in, "page", kMaxLessonTitle, look.page);
    in.read("at", kLookPlaces, look.at);
    in.read("picture", kLookPictures, look.picture);
    readWhole(in, "head", -1, kMaxMapTokens, look.head);
    readWhole(in, "query", -1, kMaxMapTokens, look.query);
    readWhole(in, "key", -1, kMaxMapTokens, look.key);
    readString(in, "control", kMaxLessonTitle, look.control);
    look.control = currentControl(std::move(look.control));
    readWhole(in, "mark", 0, 9, look.mark);
    if (look.picture != LookPicture::arrays) return;
    in.objects("arrays", 1, kMaxLookArrays, [&](ObjectReader& each) {
      LookArray& array = look.arrays.emplace_back();
      readText(each, "label", array.label);
      auto values = readExpression(each, "values");
      if (!values) return need(each, "values", false);
      array.values = *std::move(values);
      each.read("words", array.words);
      each.read("result", array.result);
    });
  }

  /// Makes the place to look at part of the step's scene.
  static void takeLook(LessonStep& step) {
    Cursor& cursor = step.scene.cursor;
    cursor.page = step.look.page;
    replaceFormerTab(cursor);
    step.look.page = cursor.page;
    if (step.look.head >= 0) cursor.cell.head = step.look.head;
    // A row without a key follows its largest weight.
    if (step.look.query >= 0) {
      cursor.cell.query = step.look.query;
      cursor.keyChosen = false;
    }
    if (step.look.key < 0) return;
    cursor.cell.key = step.look.key;
    cursor.keyChosen = true;
  }

  void readQuestion(ObjectReader& in, LessonQuestion& question) {
    readText(in, "ask", question.ask);
    need(in, "ask", !question.ask.empty());
    in.objects("options", kMinLessonOptions, kMaxLessonOptions, [&](ObjectReader& each) {
      LessonOption& option = question.options.emplace_back();
      readText(each, "text", option.text);
      need(each, "text", !option.text.empty());
      readText(each, "why", option.why);
      auto trueIf = readExpression(each, "true_if");
      if (!trueIf) return each.note(each.at("true_if") + " is missing: what makes this option right");
      option.trueIf = *std::move(trueIf);
      option.row = readExpression(each, "row");
    });
  }

  static void checkTry(ObjectReader& in, const std::string& at, const std::string& path) {
    std::vector<std::string_view> known;
    for (const PlainMask& mask : kPlainMasks) known.push_back(mask.path);
    for (const Field& field : allFields()) known.push_back(field.path);
    if (std::ranges::find(known, path) == known.end())
      in.note(fmt::format("{} is {}, expected the path of a field{}", at, attention::quotedText(path),
                          attention::suggestion(path, known)));
  }

  void checkReferences() {
    for (const Reference& reference : references_) {
      if (!fault_.empty()) return;
      fault_.at = reference.at;
      if (reference.expression)
        checkNames(reference);
      else if (lesson_->stepAt(reference.step) < 0)
        fault_.message =
            reference.path + " is " + attention::quotedText(reference.step) + ", which is not a step's id";
    }
  }

  void checkNames(const Reference& reference) {
    for (const attention::UsedName& used : reference.expression->names()) {
      const SplitName split = splitLessonName(used.name, used.function);
      if (split.name && (split.step.empty() || lesson_->stepAt(split.step) >= 0)) continue;
      fault_.message =
          fmt::format("{}: column {}: {}", reference.path, used.column,
                      split.name ? attention::quotedText(std::string(split.step)) + " is not a step's id"
                                 : unknownLessonName(used.name, used.function));
      return;
    }
  }

  const std::string_view text_;
  const std::filesystem::path folder_;
  const std::stop_token stop_;
  JsonFault fault_;
  Lesson* lesson_ = nullptr;
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
  if (const JsonFault& fault = reader.fault(); !fault.empty())
    return Error{fmt::format("{}, line {}: {}", name,
                             lineOf(static_cast<std::size_t>(fault.at.data() - json.data())), fault.message)};
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
