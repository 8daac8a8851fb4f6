#include "app/compute/jobs/file_queue.h"

#include <exception>

namespace headscope::app {

FileQueue::FileQueue(std::function<void()> wake, bool threads) : wake_(std::move(wake)) {
  if (threads) threads_.emplace_back([this](std::stop_token quit) { serve(quit); });
}

FileQueue::~FileQueue() {
  stop();
  while (work()) {
  }
}

void FileQueue::push(Job job) {
  const std::lock_guard lock(mutex_);
  if (stopping_) return;
  waiting_.push_back(std::move(job));
  changed_.notify_all();
}

void FileQueue::keep(const std::filesystem::path& file, std::function<attention::Status()> job) {
  Job kept{true, file, answering<std::monostate>(file, std::move(job), [](const attention::Status&) {})};
  {
    const std::lock_guard lock(mutex_);
    for (Job& waiting : waiting_)
      if (!waiting.kept.empty() && waiting.kept == file) {
        waiting.run = std::move(kept.run);
        return;
      }
  }
  push(std::move(kept));
}

bool FileQueue::take() {
  std::deque<Answer> answers;
  {
    const std::lock_guard lock(mutex_);
    answers.swap(answers_);
  }
  for (const Answer& answer : answers) answer();
  return !answers.empty();
}

bool FileQueue::busy() const {
  const std::lock_guard lock(mutex_);
  return !idle() || !answers_.empty();
}

bool FileQueue::writesPending() const {
  const std::lock_guard lock(mutex_);
  return writing_ > 0 ||
         std::any_of(waiting_.begin(), waiting_.end(), [](const Job& job) { return job.writes; });
}

void FileQueue::finish() {
  while (work()) {
  }
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return idle(); });
}

void FileQueue::stop() {
  const std::lock_guard lock(mutex_);
  if (std::exchange(stopping_, true)) return;
  stopReads_.request_stop();
  std::erase_if(waiting_, [](const Job& job) { return !job.writes; });
  // A read from a slow disk may take long, and pending writes must not wait for it.
  if (reading_ > 0 && !waiting_.empty() && !threads_.empty())
    threads_.emplace_back([this](std::stop_token quit) { serve(quit); });
  changed_.notify_all();
}

bool FileQueue::stopped(std::chrono::milliseconds within) {
  while (work()) {
  }
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, within, [this] { return idle(); });
}

void FileQueue::serve(std::stop_token quit) {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, quit, [this] { return !waiting_.empty(); });
    if (waiting_.empty()) return;
    runNext(lock);
  }
}

/// Releases the lock while the job runs.
void FileQueue::runNext(std::unique_lock<std::mutex>& lock) {
  const Job job = std::move(waiting_.front());
  waiting_.pop_front();
  int& underWay = job.writes ? writing_ : reading_;
  ++underWay;
  lock.unlock();
  Answer answer = job.run();
  lock.lock();
  answers_.push_back(std::move(answer));
  lock.unlock();
  wake_();
  lock.lock();
  --underWay;
  changed_.notify_all();
}

bool FileQueue::working() const {
  const std::lock_guard lock(mutex_);
  return reading_ + writing_ > 0;
}

bool FileQueue::work() {
  if (!threads_.empty()) return false;
  std::unique_lock lock(mutex_);
  if (waiting_.empty() || reading_ + writing_ > 0) return false;
  runNext(lock);
  return true;
}

namespace fs = std::filesystem;

namespace {

/// Hanging threads can't be reclaimed. Beyond this many, a look fails with an error.
constexpr int kMaxThreads = 32;

bool byKindAndName(const FolderEntry& a, const FolderEntry& b) {
  return a.folder != b.folder ? a.folder : a.name < b.name;
}

void listFolder(const PathQuestion& question, std::stop_token stop, std::atomic<std::size_t>& seen,
                FoundPath& found) {
  std::error_code error;
  fs::directory_iterator at(question.path, error);
  for (; !error && at != fs::directory_iterator() && !stop.stop_requested(); at.increment(error)) {
    ++seen;
    const std::string name = at->path().filename().string();
    if (name.empty() || name.front() == '.') continue;
    std::error_code ignored;
    const bool folder = at->is_directory(ignored);
    const std::string ending = at->path().extension().string();
    const auto& endings = question.endings;
    if (folder || std::find(endings.begin(), endings.end(), ending) != endings.end())
      found.entries.push_back({name, folder});
  }
  if (error) found.problem = attention::shownPath(question.path) + " can't be read: " + error.message() + ".";
  std::sort(found.entries.begin(), found.entries.end(), byKindAndName);
  if (found.entries.size() > kMaxFolderEntries) {
    found.omitted = found.entries.size() - kMaxFolderEntries;
    found.entries.resize(kMaxFolderEntries);
  }
}

FoundPath failed(const PathQuestion& question, const std::string& why) {
  FoundPath found;
  found.path = question.path;
  found.kind = FoundPath::Kind::folder;
  found.problem = attention::shownPath(question.path) + " can't be read: " + why + ".";
  return found;
}

}  // namespace

FoundPath findPath(const PathQuestion& question, std::stop_token stop, std::atomic<std::size_t>& seen) {
  using Kind = FoundPath::Kind;
  FoundPath found;
  std::error_code ignored;
  found.path = question.path;
  fs::file_status status = fs::status(found.path, ignored);
  if (!fs::is_directory(status) && !question.added.empty() && !found.path.has_extension()) {
    found.path += question.added;
    status = fs::status(found.path, ignored);
  }
  if (fs::is_directory(status)) {
    found.kind = Kind::folder;
    listFolder(question, stop, seen, found);
  } else if (fs::exists(status)) {
    found.kind = Kind::file;
  } else if (const fs::path folder = found.path.parent_path();
             folder.empty() || fs::is_directory(folder, ignored)) {
    found.kind = Kind::free;
  }
  return found;
}

struct FolderReads::Shared {
  explicit Shared(std::function<void()> wake) : wake(std::move(wake)) {}

  std::mutex mutex;  ///< guards everything below and the looks' answers
  std::condition_variable changed;
  std::function<void()> wake;  ///< empty once the FolderReads is destroyed
  int threads = 0, awaited = 0;
};

struct FolderReads::Look::State {
  PathQuestion question;
  std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
  std::stop_source stop;
  std::atomic<std::size_t> seen = 0;
  std::optional<FoundPath> found;
  bool awaited = true;  ///< not completed and not abandoned
};

FolderReads::FolderReads(std::function<void()> wake) : shared_(std::make_shared<Shared>(std::move(wake))) {}

FolderReads::~FolderReads() {
  const std::lock_guard lock(shared_->mutex);
  shared_->wake = {};
}

std::unique_ptr<FolderReads::Look> FolderReads::look(PathQuestion question) {
  auto state = std::make_shared<Look::State>();
  state->question = std::move(question);
  std::unique_ptr<Look> look(new Look(shared_, state));
  const auto work = [shared = shared_, state, find = find_] {
    FoundPath found;
    try {
      found = find(state->question, state->stop.get_token(), state->seen);
    } catch (const std::exception& error) {
      found = failed(state->question, error.what());
    }
    const std::lock_guard lock(shared->mutex);
    --shared->threads;
    if (!std::exchange(state->awaited, false)) return;
    --shared->awaited;
    state->found = std::move(found);
    shared->changed.notify_all();
    if (shared->wake) shared->wake();
  };
  std::unique_lock lock(shared_->mutex);
  ++shared_->awaited;
  if (!attention::kHasThreads) {
    ++shared_->threads;
    lock.unlock();
    work();
    return look;
  }
  try {
    if (shared_->threads >= kMaxThreads)
      throw std::runtime_error(std::to_string(kMaxThreads) + " folders requested earlier don't respond");
    std::thread(work).detach();
    ++shared_->threads;
  } catch (const std::exception& error) {
    state->found = failed(state->question, error.what());
    state->awaited = false;
    --shared_->awaited;
  }
  return look;
}

void FolderReads::finish() {
  std::unique_lock lock(shared_->mutex);
  shared_->changed.wait(lock, [this] { return shared_->awaited == 0; });
}

FolderReads::Look::Look(std::shared_ptr<Shared> shared, std::shared_ptr<State> state)
    : shared_(std::move(shared)), state_(std::move(state)) {}

FolderReads::Look::~Look() {
  state_->stop.request_stop();
  const std::lock_guard lock(shared_->mutex);
  if (!std::exchange(state_->awaited, false)) return;
  --shared_->awaited;
  shared_->changed.notify_all();
}

const PathQuestion& FolderReads::Look::question() const {
  return state_->question;
}

std::optional<FoundPath> FolderReads::Look::take() {
  const std::lock_guard lock(shared_->mutex);
  return std::exchange(state_->found, std::nullopt);
}

std::size_t FolderReads::Look::seen() const {
  return state_->seen;
}

double FolderReads::Look::seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - state_->start).count();
}

}  // namespace headscope::app
