#include <fmt/core.h>

#include <atomic>
#include <cstdlib>
#include <iostream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <thread>

#include "app/commands/attend.h"
#include "app/commands/commands.h"
#include "app/commands/study/output.h"
#include "app/platform/process.h"

namespace headscope::app {
namespace {

using attention::Error;
using attention::Piece;
using attention::Result;
using attention::Status;

/// The pieces that --patch can name.
struct PieceName {
  const char* name;
  Piece piece;
};
constexpr PieceName kPieces[] = {{"heads", Piece::head},      {"patterns", Piece::pattern},
                                 {"queries", Piece::queries}, {"keys", Piece::keys},
                                 {"values", Piece::values},   {"mlps", Piece::mlp},
                                 {"stream", Piece::stream},   {"middle", Piece::middle}};
constexpr const char* kMeasures[] = {"detectors", "loss", "attribution", "patch"};

struct StudyOptions {
  std::string folder, texts, output, piece = "heads", biases = "folded";
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
  if (options.biases != "folded") measures.biases = attention::ValueBiases::withHeads;
  return measures;
}

/// The texts of the file. Those that name no answers get the command line's.
Result<std::optional<StudiedText>> nextText(TextReader& reader, const StudyOptions& options) {
  auto text = reader.next();
  if (!text || !*text) return text;
  if ((*text)->answer.empty() && !options.answers.empty()) (*text)->answer = options.answers[0];
  if ((*text)->otherAnswer.empty() && options.answers.size() > 1) (*text)->otherAnswer = options.answers[1];
  return text;
}

/// The texts of a file, or, for "-", of standard input, which is kept as it can be read only once.
class Texts {
 public:
  explicit Texts(const std::string& path) : path_(path) {
    if (path == "-") piped_.assign(std::istreambuf_iterator<char>(std::cin), {});
  }
  TextReader read() const {
    return path_ == "-" ? TextReader::of(piped_, "standard input") : orFail(TextReader::open(path_));
  }
  /// Reads all once, so that a bad line is found before the work. Returns the number of texts.
  Index count() const {
    TextReader reader = read();
    Index count = 0;
    while (orFail(reader.next())) ++count;
    if (count == 0) failWith(reader.name() + " has no text, expected one per line");
    return count;
  }

 private:
  const std::string path_;
  std::string piped_;
};

/// Studies texts on several threads and passes them on in order. Holds only as many as the threads are ahead.
class TextQueue {
 public:
  using Next = std::function<Result<std::optional<StudiedText>>()>;
  using Study = std::function<StudiedHeads(const StudiedText&, std::stop_token)>;
  TextQueue(Next next, Study study, std::stop_source& stop)
      : nextText_(std::move(next)), study_(std::move(study)), stop_(stop) {}

  /// Calls `take` with each text until it returns an Error, there are no more, or `stop` is requested, as it
  /// is at the end. Returns the Error. Texts that aren't finished are dropped.
  Status run(Index jobs, const std::function<Status(StudiedHeads)>& take) {
    most_ = 4 * jobs;
    const std::stop_callback wake(stop_.get_token(), [this] {
      const std::lock_guard lock(mutex_);
      moved_.notify_all();
    });
    std::vector<std::jthread> threads;
    for (Index job = 0; job < jobs; ++job) threads.emplace_back([this] { work(); });
    Status status = attention::success();
    while (auto text = wait())
      if (status = take(*std::move(text)); !status) break;
    stop_.request_stop();
    threads.clear();
    return status ? problem_ : status;
  }

 private:
  /// Waits for the next text; nothing at the end.
  std::optional<StudiedHeads> wait() {
    std::unique_lock lock(mutex_);
    moved_.wait(lock, [&] {
      return done_.contains(taken_) || stop_.stop_requested() || (ended_ && taken_ == begun_);
    });
    const auto found = done_.find(taken_);
    if (found == done_.end()) return std::nullopt;
    StudiedHeads text = std::move(found->second);
    done_.erase(found);
    ++taken_;
    moved_.notify_all();
    return text;
  }

  std::optional<std::pair<Index, StudiedText>> begin() {
    std::unique_lock lock(mutex_);
    moved_.wait(lock, [&] { return stop_.stop_requested() || ended_ || begun_ < taken_ + most_; });
    if (stop_.stop_requested() || ended_) return std::nullopt;
    auto text = nextText_();
    if (text && *text) return std::pair(begun_++, **std::move(text));
    if (!text) problem_ = text.error();
    ended_ = true;
    moved_.notify_all();
    return std::nullopt;
  }

  void work() {
    while (auto asked = begin()) {
      StudiedHeads text;
      try {
        text = study_(asked->second, stop_.get_token());
      } catch (const std::exception& error) {
        text.asked = asked->second;
        text.problem = error.what();
      }
      const std::lock_guard lock(mutex_);
      if (stop_.stop_requested()) return;
      done_[asked->first] = std::move(text);
      moved_.notify_all();
    }
  }

  const Next nextText_;
  const Study study_;
  std::stop_source& stop_;
  std::mutex mutex_;
  std::condition_variable moved_;
  std::map<Index, StudiedHeads> done_;  // by place
  Index most_ = 0, begun_ = 0, taken_ = 0;
  bool ended_ = false;
  Status problem_ = attention::success();
};

/// What determines the results, so that a study goes on only from results of the same question.
std::string questionOf(const StudyOptions& options, const StudyReport& report) {
  std::error_code none;
  const nlohmann::ordered_json question{{"study", 2},
                                        {"model", report.model},
                                        {"folder", std::filesystem::absolute(options.folder, none).string()},
                                        {"layers", report.layers},
                                        {"heads", report.heads},
                                        {"measures", options.measures},
                                        {"piece", options.piece},
                                        {"value_biases", options.biases},
                                        {"answers", options.answers},
                                        {"off", options.off}};
  return question.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

/// A study of all texts of a file.
class StudyRun {
 public:
  StudyRun(const StudyOptions& options, Setup setup, StudyReport report)
      : options_(options), setup_(std::move(setup)), report_(std::move(report)) {}

  /// `signal` is the one that requested `stop`, or 0.
  int run(std::stop_source& stop, const std::atomic<int>& signal) {
    const Texts texts(options_.texts);
    count_ = texts.count();
    TextReader reader = texts.read();
    openProgress(reader);
    const TextMeasures measures = measuresOf(options_);
    Resources resources(defaultLimits());
    MapScores ofMaps;
    TextQueue queue([&] { return nextText(reader, options_); },
                    [&](const StudiedText& text, std::stop_token token) {
                      return studyText(setup_, text, measures, resources, std::move(token), ofMaps);
                    },
                    stop);
    if (measures.detectors) ofMaps = mapScores(setup_.subject.opened, stop.get_token());
    const Status status = queue.run(options_.jobs, [&](const StudiedHeads& text) { return take(text); });
    return finish(status, signal);
  }

 private:
  /// Opens the results so far, and skips their texts.
  void openProgress(TextReader& reader) {
    if (options_.output.empty()) return;
    progress_.emplace(orFail(StudyProgress::open(options_.output, questionOf(options_, report_))));
    done_ = progress_->done();
    orFail(progress_->check([&] { return nextText(reader, options_); }));
    if (done_ > 0) warn(fmt::format("{} of {} texts are already done", done_, count_));
  }

  Status take(const StudiedHeads& text) {
    if (!text.problem.empty()) warn(fmt::format("line {}: {}", text.asked.line, text.problem));
    if (progress_) {
      if (const Status status = progress_->add(text, report_.piece); !status) return status;
    } else if (print(textJson(text, report_.piece) + "\n", Printed::json) != kExitDone) {
      return Error{"the results can't be written to standard output any more"};
    }
    studied_ += text.problem.empty();
    warn(fmt::format("text {} of {}", ++done_, count_));
    return attention::success();
  }

  /// Writes what is done, also if the work ended early.
  int finish(const Status& status, int signal) {
    if (!status) warn(status.error().message);
    const bool early = !status || done_ < count_;
    // What is done doesn't replace an earlier study.
    if (progress_ && done_ > 0 && !(early && attention::fileExists(options_.output)))
      if (const Status written = writeStudy(options_.output, report_, *progress_); !written) {
        warn(written.error().message);
        return keep(kExitFailed);
      }
    if (early) return keep(signal > 0 ? 128 + signal : kExitFailed);
    const bool any = studied_ > 0 || anyStudied();
    if (progress_) progress_->remove();
    return any ? kExitDone : fail({"none of the texts could be studied"});
  }

  int keep(int exitCode) {
    if (progress_ && done_ == 0)
      progress_->remove();
    else if (progress_)
      warn(fmt::format("{} of {} texts are done and kept in {}; run the same command to continue", done_,
                       count_, attention::quotedText(progress_->name())));
    return exitCode;
  }

  /// Whether a text was studied before this run.
  bool anyStudied() const {
    bool any = false;
    if (progress_)
      (void)progress_->each([&](const StudiedHeads& text) {
        any |= text.problem.empty();
        return attention::success();
      });
    return any;
  }

  const StudyOptions& options_;
  const Setup setup_;
  const StudyReport report_;
  std::optional<StudyProgress> progress_;
  Index count_ = 0, done_ = 0, studied_ = 0;
};

int runStudy(const StudyOptions& options) {
  checkRange("--jobs", options.jobs, 1, 256);
  if (!options.output.empty()) orRefuse(checkStudyFile(options.output));
  std::stop_source stop;
  std::atomic<int> signal = 0;
  // Before any other thread. The first signal finishes with what is done, the second ends at once; timeout
  // sends each signal twice.
  constexpr std::chrono::milliseconds kSame(200);
  const QuitSignals quits([&, first = std::chrono::steady_clock::time_point()](int which) mutable {
    const auto now = std::chrono::steady_clock::now();
    if (signal.exchange(which) == 0) {
      first = now;
      stop.request_stop();
    } else if (now - first > kSame) {
      attention::removeTemporaryFiles();
      std::_Exit(128 + which);
    }
  });
  const auto opened = orFail(openModel(options.folder));
  if (!opened->model) failWith(opened->name + " is recorded attention, expected a model's folder");
  const attention::ModelConfig& config = opened->config();
  Setup setup;
  setup.mask = {};
  setup.model.position = PositionKind::none;
  setup.subject.model = options.folder;
  setup.subject.opened = opened;
  setup.subject.switchedOff = orRefuse(switchedHeads(options.off, config));
  return StudyRun(options, std::move(setup),
                  {opened->name, options.piece, options.biases, config.layerCount(), config.heads})
      .run(stop, signal);
}

}  // namespace

Command studyCommand() {
  const auto o = std::make_shared<StudyOptions>();
  std::vector<std::string> pieces;
  for (const PieceName& one : kPieces) pieces.emplace_back(one.name);
  Command command{"study",
                  "Measure every head of a model on many texts: detectors, ablation, attribution, patching"};
  command.options = {
      Option("FOLDER", "A Hugging Face folder or a GGUF file, or learned for the bundled model", &o->folder,
             {.required = true}),
      Option("--texts FILE",
             "A file with one text per line, or JSON lines with text or input_ids, other, answer and "
             "other_answer; - reads standard input",
             &o->texts, {.required = true}),
      Option("--measure", "Any of detectors, loss, attribution and patch; default all", &o->measures,
             {.words = wordsOf(kMeasures), .commas = true}),
      Option("--patch",
             "The piece of one text to put into the other: heads, patterns, queries, keys, values, mlps, "
             "stream (before a layer) or middle (between its attention and MLP)",
             &o->piece, {.words = pieces, .shown = true}),
      Option("--value-biases",
             "Count the biases of values with the attention's bias, as TransformerLens does (folded), or "
             "with the "
             "heads",
             &o->biases, {.words = {"folded", "heads"}, .shown = true}),
      Option("--off", "Heads to switch off, as 1.2,3.4: layer 1's head 2, layer 3's head 4", &o->off,
             {.commas = true}),
      Option("--answers",
             "One or two answers whose logits to compare, for texts that name none; default: the most likely",
             &o->answers, {.most = 2}),
      Option("--jobs", "Number of texts to process at once", &o->jobs, kShown),
      Option("-o,--output",
             "The JSON, CSV or NPZ to write; default: print a line of JSON for each text as it finishes",
             &o->output, kFileName)};
  command.run = [o] { return runStudy(*o); };
  return command;
}

}  // namespace headscope::app
