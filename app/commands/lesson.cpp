#include "app/scene/lessons/lesson.h"

#include <fmt/core.h>
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "app/commands/commands.h"
#include "app/compute/lessons/lesson_study.h"
#include "app/pages/pages.h"
#include "attention/formats/files/file_io.h"
#include "attention/models/tokenizer/characters.h"
#include "attention/models/tokenizer/text_tokenizer.h"

namespace headscope::app {

namespace {

struct LessonOptions {
  std::vector<std::string> files;
  bool check = false, names = false;
  std::string show, step;
};

/// The result of a step's question: "B of 4 is right".
std::string answerText(const StepStudy& study) {
  for (std::size_t i = 0; i < study.options.size(); ++i)
    if (study.options[i].holds)
      return fmt::format("{} of {} is right", static_cast<char>('A' + i), study.options.size());
  return "";
}

struct Tally {
  std::size_t steps = 0, claims = 0, questions = 0, wrong = 0;
  std::string report;
};

/// Computes one step and adds what was found to the tally.
void checkStep(LessonRunner& runner, const Lesson& lesson, std::size_t at, Tally& tally) {
  const LessonStep& step = lesson.steps[at];
  ++tally.steps;
  if (const auto page = checkPage(step.scene, pageTable()); !page) {
    ++tally.wrong;
    tally.report += fmt::format("  {}: look.page: {}\n", step.id, page.error().message);
  }
  const auto study = runner.study(at);
  if (!study) {
    ++tally.wrong;
    tally.report += fmt::format("  {}\n", study.error().message);
    return;
  }
  const auto& failed = (*study)->failedClaims;
  tally.claims += step.claims.size();
  tally.questions += step.question.has_value();
  tally.wrong += failed.size();
  std::string found = step.claims.empty() ? "no claims" : countedText(std::ssize(step.claims), "claim");
  if (!failed.empty()) found += fmt::format(", {} wrong", failed.size());
  if (step.question) found += ", " + answerText(**study);
  tally.report += fmt::format("  {}: {}\n", step.id, found);
  for (const std::string& claim : failed) tally.report += "    " + claim + "\n";
}

/// Prints what was found in a lesson. Returns kExitDone if everything holds.
int checkLesson(const std::string& file, Resources& resources) {
  const auto lesson = readLesson(file);
  if (!lesson) return fail(lesson.error());
  LessonRunner runner(**lesson, resources);
  Tally tally;
  tally.report = fmt::format("{}: {}\n", (*lesson)->name, (*lesson)->title);
  for (std::size_t at = 0; at < (*lesson)->steps.size(); ++at) checkStep(runner, **lesson, at, tally);
  if (const auto cover = runner.cover(); !cover) {
    ++tally.wrong;
    tally.report += "  " + cover.error().message + "\n";
  }
  tally.report += fmt::format("  {}, {}, {}: {}\n", countedText(tally.steps, "step"),
                              countedText(tally.claims, "claim"), countedText(tally.questions, "question"),
                              tally.wrong == 0 ? "all hold" : fmt::format("{} wrong", tally.wrong));
  const int printed = print(tally.report);
  return tally.wrong == 0 ? printed : kExitFailed;
}

int check(const LessonOptions& options) {
  Resources resources(defaultLimits());
  int code = kExitDone;
  for (const std::string& file : options.files) code = std::max(code, checkLesson(file, resources));
  return code;
}

/// Prints the value of an expression in a step, for authors of lessons.
int show(const LessonOptions& options) {
  const auto lesson = orFail(readLesson(options.files.front()));
  const auto expression = attention::Expression::parse(options.show);
  if (!expression) refuse("--show: " + expression.error().message);
  const int at = options.step.empty() ? 0 : lesson->stepAt(options.step);
  if (at < 0) refuse("--step is " + attention::quotedText(options.step) + ", which is not a step's id");
  Resources resources(defaultLimits());
  return print(orFail(LessonRunner(*lesson, resources).shown(static_cast<std::size_t>(at), *expression)) +
               "\n");
}

int runLessonCommand(const LessonOptions& options) {
  if (options.names) return print(lessonNamesMarkdown());
  if (options.files.empty()) refuse("expected a lesson's file");
  if (options.check) return check(options);
  if (options.files.size() > 1) refuse("expected one file, or --check for several");
  if (!options.show.empty()) return show(options);
  orFail(readLesson(options.files.front()));
  return runLesson(options.files.front());
}

}  // namespace

Command lessonCommand() {
  const auto o = std::make_shared<LessonOptions>();
  Command command{"lesson", "Open a lesson, or check all its claims"};
  command.options = {
      Option("FILE", "Lessons: one to open, or any number to check", &o->files, kFileName),
      Option("--check", "Compute every step and print the results; exit code 1 if a claim fails", &o->check),
      Option("--show EXPR", "Print the value of an expression", &o->show),
      Option("--step ID", "For --show: the step; default: the first", &o->step),
      Option("--names", "Print the manual's tables of names and functions in expressions", &o->names)};
  command.run = [o] { return runLessonCommand(*o); };
  return command;
}

namespace {

using attention::EncodedText;
using attention::TextTokenizer;

struct TokenizeOptions {
  std::string tokenizer;
  std::optional<std::string> text, textB, textFile;
  bool json = false;
};

/// The ids and tokens of two texts that a model reads as a pair.
int tokenizePair(const TokenizeOptions& options, const TextTokenizer& tokenizer) {
  const auto pair = orFail(tokenizer.encodePair(*options.text, *options.textB), "--text-b: ");
  if (options.json)
    return print(nlohmann::json{{"ids", pair.ids}, {"second", pair.second}}.dump() + "\n", Printed::json);
  std::string table = fmt::format("{:>7} {:>5}  {}\n", "id", "type", "token");
  for (std::size_t i = 0; i < pair.ids.size(); ++i)
    table += fmt::format("{:>7} {:>5}  {}\n", pair.ids[i], i < pair.second ? 0 : 1,
                         tokenizer.readable(pair.ids[i]).value_or(""));
  return print(table);
}

/// A long text has millions of tokens, so the JSON is written piece by piece and never held as a tree.
std::string jsonOf(const TextTokenizer& tokenizer, const EncodedText& encoded) {
  fmt::memory_buffer out;
  const auto list = [&](std::string_view name, std::size_t count, auto item) {
    fmt::format_to(std::back_inserter(out), "\"{}\":[", name);
    for (std::size_t i = 0; i < count; ++i) {
      if (i > 0) out.push_back(',');
      item(i);
    }
    out.push_back(']');
  };
  const std::vector<std::string> spellings = tokenizer.spellings(encoded);
  out.push_back('{');
  list("ids", encoded.ids.size(),
       [&](std::size_t i) { fmt::format_to(std::back_inserter(out), "{}", encoded.ids[i]); });
  out.push_back(',');
  list("tokens", spellings.size(), [&](std::size_t i) {
    fmt::format_to(std::back_inserter(out), "{}", nlohmann::json(spellings[i]).dump());
  });
  out.push_back(',');
  list("spans", encoded.spans.size(), [&](std::size_t i) {
    fmt::format_to(std::back_inserter(out), "[{},{}]", encoded.spans[i].begin, encoded.spans[i].end);
  });
  return fmt::to_string(out) + "}\n";
}

/// One line per token: id, byte range and readable token.
std::string tableOf(const TextTokenizer& tokenizer, const EncodedText& encoded) {
  std::string table = fmt::format("{:>7} {:>17}  {}\n", "id", "bytes", "token");
  for (std::size_t i = 0; i < encoded.ids.size(); ++i) {
    const auto& span = encoded.spans[i];
    table += fmt::format("{:>7} {:>8}-{:<8}  {}\n", encoded.ids[i], span.begin, span.end,
                         tokenizer.readable(encoded.ids[i]).value_or(""));
  }
  return table;
}

bool hasTyped(const EncodedText& encoded) {
  return std::any_of(encoded.sources.begin(), encoded.sources.end(),
                     [](attention::TokenSource source) { return source != attention::TokenSource::around; });
}

int runTokenize(const TokenizeOptions& options) {
  if (options.text.has_value() == options.textFile.has_value())
    refuse("expected either --text T or --text-file F");
  if (options.textB && !options.text) refuse("--text-b is the second of two texts: --text is missing");
  const TextTokenizer tokenizer = orFail(TextTokenizer::open(options.tokenizer));
  if (options.textB) return tokenizePair(options, tokenizer);
  const std::string text = options.text
                               ? *options.text
                               : readTextFile(*options.textFile, attention::quotedText(*options.textFile));
  const EncodedText encoded = orFail(tokenizer.encode(text), options.textFile.value_or("--text") + ": ");
  if (!text.empty() && !hasTyped(encoded)) warn("the tokenizer drops the whole text and gives no tokens");
  return options.json ? print(jsonOf(tokenizer, encoded), Printed::json) : print(tableOf(tokenizer, encoded));
}

}  // namespace

std::string readTextFile(const std::string& path, const std::string& name) {
  const auto bytes = orFail(attention::readFile(path, attention::kMaxTyped));
  return std::string(
      orFail(attention::utf8Text({reinterpret_cast<const char*>(bytes.data()), bytes.size()}), name + " "));
}

Command tokenizeCommand() {
  const auto o = std::make_shared<TokenizeOptions>();
  Command command{"tokenize", "Print a text as the tokens of a tokenizer: ids, bytes and texts"};
  command.options = {
      Option("TOKENIZER",
             "A tokenizer.json, vocab.txt, vocab.json beside merges.txt, SentencePiece's .model, or a "
             "model's folder",
             &o->tokenizer, {.required = true}),
      Option("--text T", "The text", &o->text),
      Option("--text-b T", "A second text, for models that read pairs", &o->textB),
      Option("--text-file F", "A UTF-8 file with the text", &o->textFile),
      Option("--json", "Print ids, tokens as the vocabulary spells them, and spans", &o->json)};
  command.run = [o] { return runTokenize(*o); };
  return command;
}

}  // namespace headscope::app
