#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <filesystem>
#include <mutex>
#include <thread>

#include "app/commands/commands.h"
#include "app/commands/report.h"
#include "app/commands/study/output.h"
#include "app/commands/switched_heads.h"
#include "app/scene/models/open_model.h"
#include "attention/formats/files/file_io.h"

namespace headscope::app {
namespace {

using attention::Error;
using attention::Piece;
using attention::Result;
using attention::Status;

constexpr std::uint64_t kMaxTexts = std::uint64_t{256} << 20;  ///< maximum bytes of the file

/// The pieces that --patch can name.
struct PieceName {
  const char* name;
  Piece piece;
};
constexpr PieceName kPieces[] = {{"heads", Piece::head},      {"patterns", Piece::pattern},
                                 {"queries", Piece::queries}, {"keys", Piece::keys},
                                 {"values", Piece::values},   {"mlps", Piece::mlp},
                                 {"stream", Piece::stream}};
constexpr const char* kMeasures[] = {"detectors", "loss", "attribution", "patch"};

struct StudyOptions {
  std::string folder, texts, output, piece = "heads";
  std::vector<std::string> measures{std::begin(kMeasures), std::end(kMeasures)}, answers, off;
  Index jobs = 1;
};

TextMeasures measuresOf(const StudyOptions& options) {
  const auto wants = [&](const char* name) {
    return std::find(options.measures.begin(), options.measures.end(), name) != options.measures.end();
  };
  TextMeasures measures{wants("detectors"), wants("loss"), wants("attribution"), wants("patch")};
  for (const PieceName& one : kPieces)
    if (options.piece == one.name) measures.piece = one.piece;
  return measures;
}

/// Reads the texts of the file. Those that name no answers get the command line's.
Result<std::vector<StudiedText>> readTexts(const StudyOptions& options) {
  const auto bytes = attention::readFile(options.texts, kMaxTexts);
  if (!bytes) return bytes.error();
  auto texts =
      parseStudiedTexts({reinterpret_cast<const char*>(bytes->data()), bytes->size()}, options.texts);
  if (!texts) return texts.error();
  for (StudiedText& text : *texts) {
    if (text.answer.empty() && !options.answers.empty()) text.answer = options.answers[0];
    if (text.otherAnswer.empty() && options.answers.size() > 1) text.otherAnswer = options.answers[1];
  }
  return texts;
}

/// Studies the texts on several threads, and passes them on in order as they finish.
class TextQueue {
 public:
  TextQueue(const Setup& setup, const std::vector<StudiedText>& texts, const TextMeasures& measures)
      : setup_(setup), texts_(texts), measures_(measures), done_(texts.size()) {}

  template <typename Take>
  void run(Index jobs, const Take& take) {
    std::vector<std::jthread> threads;
    for (Index job = 0; job < std::min<Index>(jobs, std::ssize(texts_)); ++job)
      threads.emplace_back([this] { work(); });
    for (std::size_t i = 0; i < texts_.size(); ++i) {
      std::unique_lock lock(mutex_);
      came_.wait(lock, [&] { return done_[i].has_value(); });
      StudiedHeads text = *std::exchange(done_[i], std::nullopt);
      lock.unlock();
      take(std::move(text));
    }
  }

 private:
  void work() {
    for (std::size_t i = next_++; i < texts_.size(); i = next_++) {
      StudiedHeads text;
      try {
        text = studyText(setup_, texts_[i], measures_, resources_, {});
      } catch (const std::exception& error) {
        text.asked = texts_[i];
        text.problem = error.what();
      }
      const std::lock_guard lock(mutex_);
      done_[i] = std::move(text);
      came_.notify_all();
    }
  }

  const Setup& setup_;
  const std::vector<StudiedText>& texts_;
  const TextMeasures measures_;
  Resources resources_{defaultLimits()};
  std::atomic<std::size_t> next_ = 0;
  std::mutex mutex_;
  std::condition_variable came_;
  std::vector<std::optional<StudiedHeads>> done_;
};

int runStudy(const StudyOptions& options) {
  if (options.jobs < 1 || options.jobs > 256)
    return usage({fmt::format("--jobs is {}, expected 1 to 256", options.jobs)});
  if (options.answers.size() > 2)
    return usage({fmt::format("--answers has {} words, expected one or two", options.answers.size())});
  if (!options.output.empty())
    if (const Status status = checkStudyFile(options.output); !status) return usage(status.error());
  const auto opened = openModel(options.folder);
  if (!opened) return fail(opened.error());
  if (!(*opened)->model) return fail({(*opened)->name + " is recorded attention, expected a model's folder"});
  const attention::ModelConfig& config = (*opened)->config();
  Setup setup;
  setup.mask = {};
  setup.model.position = PositionKind::none;
  setup.subject.model = options.folder;
  setup.subject.opened = *opened;
  auto off = switchedHeads(options.off, config);
  if (!off) return usage(off.error());
  setup.subject.switchedOff = *std::move(off);
  const auto texts = readTexts(options);
  if (!texts) return fail(texts.error());
  StudyReport report{(*opened)->name, options.piece, config.layerCount(), config.heads, {}};
  int exitCode = kExitDone;
  Index problems = 0;
  TextQueue queue(setup, *texts, measuresOf(options));
  queue.run(options.jobs, [&](StudiedHeads text) {
    if (!text.problem.empty()) {
      warn(fmt::format("line {}: {}", text.asked.line, text.problem));
      ++problems;
    }
    if (options.output.empty())
      exitCode = std::max(exitCode, print(textLine(report, text) + "\n", Printed::json));
    report.texts.push_back(std::move(text));
    warn(fmt::format("text {} of {}", report.texts.size(), texts->size()));
  });
  if (!options.output.empty())
    if (const Status status = writeStudy(options.output, report); !status) return fail(status.error());
  if (problems == std::ssize(*texts)) return fail({"none of the texts could be studied"});
  return exitCode;
}

}  // namespace

void addStudyCommand(CLI::App& app, int& exitCode) {
  CLI::App* command = app.add_subcommand(
      "study", "Measure every head of a model on many texts: detectors, ablation, attribution, patching");
  auto options = std::make_shared<StudyOptions>();
  command
      ->add_option("FOLDER", options->folder,
                   "A Hugging Face folder or a GGUF file, or learned for the bundled model")
      ->required();
  command
      ->add_option("--texts", options->texts,
                   "A file with one text per line, or JSON lines with text, other, answer and other_answer")
      ->required()
      ->type_name("FILE");
  command
      ->add_option("--measure", options->measures,
                   "Any of detectors, loss, attribution and patch; default all")
      ->delimiter(',')
      ->check(CLI::IsMember(std::vector<std::string>(std::begin(kMeasures), std::end(kMeasures))));
  std::vector<std::string> pieces;
  for (const PieceName& one : kPieces) pieces.emplace_back(one.name);
  command
      ->add_option(
          "--patch", options->piece,
          "The piece of one text to put into the other: heads, patterns, queries, keys, values, mlps or "
          "stream")
      ->capture_default_str()
      ->check(CLI::IsMember(pieces));
  command
      ->add_option("--off", options->off,
                   "Heads to switch off, as 1.2,3.4: layer 1's head 2, layer 3's head 4")
      ->delimiter(',');
  command
      ->add_option(
          "--answers", options->answers,
          "One or two words whose logits to compare, for texts that name none; default: the most likely")
      ->expected(1, 2);
  command->add_option("--jobs", options->jobs, "Number of texts to process at once")->capture_default_str();
  command->add_option(
      "-o,--output", options->output,
      "The JSON, CSV or NPZ to write; default: print a line of JSON for each text as it finishes");
  command->callback([options, &exitCode] { exitCode = guarded([&] { return runStudy(*options); }); });
}

}  // namespace headscope::app
