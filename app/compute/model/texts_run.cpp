#include <fmt/core.h>

#include "app/compute/model/passes.h"
#include "app/compute/model/text_study.h"

namespace headscope::app {

using attention::asSize;

namespace {

/// Returns the bytes of the numbers of all texts, counted twice: as they come, and as they are shown.
std::uint64_t bytesOf(const TextsQuestion& question) {
  const attention::ModelConfig& config = question.setup.subject.opened->config();
  const auto cells = static_cast<std::uint64_t>(config.layerCount() * config.heads);
  const std::uint64_t columns = attention::allDetectors().size() + 8;
  return 2 * question.file->texts.size() * columns * cells * sizeof(float);
}

}  // namespace

TextsQuestion textsQuestion(const Setup& setup, std::shared_ptr<const TextFile> file) {
  TextsQuestion question{modelQuestion(setup).setup, std::move(file)};
  question.setup.input.text = std::string();
  question.setup.subject.written.clear();
  return question;
}

const HeadColumn* TextsStudy::column(const std::string& name) const {
  const auto found = std::ranges::find(columns, name, &HeadColumn::name);
  return found == columns.end() ? nullptr : &*found;
}

std::vector<TextOfHead> textsOfHead(const TextsStudy& study, const std::string& column, Index layer,
                                    Index head, std::size_t most) {
  std::vector<TextOfHead> found;
  for (std::size_t i = 0; i < study.texts.size(); ++i)
    for (const auto& [name, values] : columnsOf(study.texts[i]))
      if (name == column && layer < values->rows() && head < values->cols() &&
          std::isfinite((*values)(layer, head)))
        found.push_back({i, (*values)(layer, head)});
  std::ranges::stable_sort(found, std::greater(), &TextOfHead::value);
  if (found.size() > most) found.resize(most);
  return found;
}

TextsRun::TextsRun(Workers& workers, Resources& resources)
    : resources_(resources),
      job_(
          workers, [this](std::stop_token stop) { work(stop); }, std::nullopt) {}

void TextsRun::start(TextsQuestion question) {
  const std::lock_guard lock(mutex_);
  if (!question_ || !(*question_ == question)) {
    job_.stop();
    question_ = std::move(question);
    texts_.clear();
    study_.reset();
    ofMaps_.reset();
    memory_ = {};
  }
  problem_.clear();
  runs_ = std::ssize(texts_) < std::ssize(question_->file->texts);
  if (runs_) job_.start(Lane::back);
}

void TextsRun::stop() {
  const std::lock_guard lock(mutex_);
  runs_ = false;
  job_.drop();
  job_.stop();
}

void TextsRun::forget() {
  stop();
  const std::lock_guard lock(mutex_);
  question_.reset();
  texts_.clear();
  study_.reset();
  ofMaps_.reset();
  problem_.clear();
  memory_ = {};
}

TextsRun::Progress TextsRun::progress() const {
  const std::lock_guard lock(mutex_);
  return {study_, std::ssize(texts_), question_ ? std::ssize(question_->file->texts) : 0, runs_, problem_};
}

bool TextsRun::take(StudiedHeads text) {
  texts_.push_back(std::move(text));
  const Index done = std::ssize(texts_), of = std::ssize(question_->file->texts);
  runs_ = done < of;
  // Summarising all texts after each one would take longer than studying them.
  const Index shown = study_ ? std::ssize(study_->texts) : 0;
  if (runs_ && done < shown + std::max<Index>(1, shown / 8)) return true;
  auto study = std::make_shared<TextsStudy>();
  study->question = *question_;
  study->texts = texts_;
  const attention::ModelConfig& config = question_->setup.subject.opened->config();
  study->columns = summariseTexts(texts_, config.layerCount(), config.heads);
  std::erase_if(study->columns, [](const HeadColumn& column) { return (column.texts.array() == 0).all(); });
  for (const StudiedHeads& one : texts_)
    if (!one.problem.empty() && study->problems++ == 0)
      study->problem = "line " + std::to_string(one.asked.line) + ": " + one.problem;
  study_ = std::move(study);
  return runs_;
}

void TextsRun::work(std::stop_token stop) {
  TextsQuestion question;
  std::size_t next = 0;
  MemoryShare memory;
  std::shared_ptr<const MapScores> ofMaps;
  {
    const std::lock_guard lock(mutex_);
    if (!runs_ || !question_) return;
    question = *question_;
    next = texts_.size();
    memory = memory_;
    ofMaps = ofMaps_;
  }
  // The lock isn't held while waiting for memory or studying a text.
  if (!memory) memory = resources_.memory.reserve(bytesOf(question), stop);
  StudiedHeads text;
  text.asked = question.file->texts[next];
  try {
    if (memory && !ofMaps)
      ofMaps = std::make_shared<const MapScores>(mapScores(question.setup.subject.opened, stop));
    if (memory) text = studyText(question.setup, text.asked, question.measures, resources_, stop, *ofMaps);
  } catch (...) {
    text.problem = caughtError("This text can't be studied").message;
  }
  const std::lock_guard lock(mutex_);
  if (!runs_ || !question_) return;
  if (!stop.stop_requested() && *question_ == question && texts_.size() == next) {
    memory_ = memory;
    ofMaps_ = ofMaps;
    if (!memory) {
      runs_ = false;
      problem_ = overBudget(fmt::format("The numbers of {} texts need", question.file->texts.size()),
                            bytesOf(question), resources_.memory)
                     .message;
    }
    if (!memory || !take(std::move(text))) return;
  }
  job_.start(Lane::back);
}

}  // namespace headscope::app
