#include "app/scene/recovery_store.h"

#include <fmt/core.h>

#include <cstdio>

#include "app/scene/models/open_model.h"
#include "app/scene/models/scene_model.h"
#include "app/scene/recovery_json.h"
#include "app/scene/scene_json.h"
#include "attention/formats/files/system_files.h"

namespace headscope::app {

namespace {

using attention::Creation;
using attention::Error;
using attention::Result;
using attention::Status;

constexpr const char* kLockEnding = ".lock";
constexpr std::uint64_t kMaxRecoveryBytes = std::uint64_t{1} << 30;

std::filesystem::path lockOf(const std::filesystem::path& file) {
  std::filesystem::path lock = file;
  return lock += kLockEnding;
}

/// Locks that file. Returns null if somebody else has the lock, or if it can't be made.
std::unique_ptr<RecoveryClaim> claim(const std::filesystem::path& file,
                                     Creation creation = Creation::ifMissing) {
  attention::Descriptor lock = attention::openToWrite(lockOf(file), creation, true);
  if (lock.get() < 0 || attention::lockFile(lock.get()) != 0) return nullptr;
  return std::make_unique<RecoveryClaim>(RecoveryClaim{file, std::move(lock)});
}

/// Claims a name that no other window has.
std::unique_ptr<RecoveryClaim> claimNew(const std::filesystem::path& folder) {
  std::error_code ignored;
  std::filesystem::create_directories(folder, ignored);
  // What the user typed is private. A link's target keeps the mode that its owner chose.
  using Options = std::filesystem::perm_options;
  std::filesystem::permissions(folder, std::filesystem::perms::owner_all,
                               Options::replace | Options::nofollow, ignored);
  constexpr int kAttempts = 100;
  for (int i = 0; i < kAttempts; ++i)
    if (auto own = claim(folder / fmt::format("{}-{}.json", attention::processId(), i), Creation::always))
      return own;
  return nullptr;
}

/// Exists while the scenes of that file are opened and drawn for a preview.
std::filesystem::path previewOf(const std::filesystem::path& file) {
  std::filesystem::path preview = file;
  return preview += ".preview";
}

/// Removes the file before its lock, so that nobody finds the file without its lock.
void removeClaimed(const RecoveryClaim& claimed) {
  std::error_code ignored;
  std::filesystem::remove(previewOf(claimed.file), ignored);
  std::filesystem::remove(claimed.file, ignored);
  std::filesystem::remove(lockOf(claimed.file), ignored);
}

/// Whether a process that ended while writing left the file: ".headscope-PID-N.tmp".
bool isAbandonedPart(const std::filesystem::path& file) {
  int process = 0;
  return std::sscanf(file.filename().string().c_str(), ".headscope-%d-", &process) == 1 && process > 0 &&
         !attention::processRuns(process);
}

std::shared_ptr<Recovery> readRecovery(RecoveryClaim claimed) {
  auto recovery = std::make_shared<Recovery>(Recovery{std::move(claimed), {}, {}, ""});
  const auto bytes = attention::readFile(recovery->claim.file, kMaxRecoveryBytes);
  const Status read =
      bytes ? parseRecovery({reinterpret_cast<const char*>(bytes->data()), bytes->size()}, *recovery)
            : Status(bytes.error());
  if (!read) {
    recovery->entries.clear();
    recovery->problem = read.error().message;
  }
  return recovery;
}

}  // namespace

Result<Scene> recoveredScene(const Recovery::Entry& entry, const std::stop_token& stop) {
  const std::string name = entry.path.empty() ? "the recovered scene" : entry.path.filename().string();
  Result<Scene> scene = parseScene(entry.text, name, stop);
  if (!scene) return scene;
  if (const Status fits = openSubject(*scene, stop); !fits) return Error{name + ": " + fits.error().message};
  return scene;
}

RecoveryStore::~RecoveryStore() {
  (void)write();
}

void RecoveryStore::writeAside(std::chrono::milliseconds delay) {
  aside_ = std::jthread([this, delay](const std::stop_token& stop) { serve(stop, delay); });
}

/// Sleeps until something is noted; retries failed writes.
void RecoveryStore::serve(const std::stop_token& stop, std::chrono::milliseconds delay) {
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    noticed_.wait(lock, stop, [this] { return changed_; });
    noticed_.wait_for(lock, stop, delay, [] { return false; });
    if (stop.stop_requested()) return;
    lock.unlock();
    const bool written = write().ok();
    lock.lock();
    changed_ = changed_ || !written;
  }
}

void RecoveryStore::note(std::vector<KeptScene> unsaved) {
  const std::lock_guard lock(mutex_);
  if (noted_ == unsaved) return;
  noted_ = std::move(unsaved);
  changed_ = true;
  noticed_.notify_all();
}

std::string RecoveryStore::problem() const {
  const std::lock_guard lock(mutex_);
  return problem_;
}

bool RecoveryStore::holdsWork() const {
  const std::lock_guard lock(mutex_);
  return !written_.empty();
}

bool RecoveryStore::outdated() const {
  const std::lock_guard lock(mutex_);
  return noted_.empty() && (!written_.empty() || !adopted_.empty());
}

Status RecoveryStore::write(Clock::time_point now) {
  const std::lock_guard writing(writing_);
  Status written = writeNoted(now);
  const std::lock_guard lock(mutex_);
  problem_ = written ? "" : written.error().message;
  return written;
}

/// Call with writing_ locked.
Status RecoveryStore::writeNoted(Clock::time_point now) {
  std::vector<KeptScene> scenes;
  std::vector<std::shared_ptr<Recovery>> adopted;
  {
    const std::lock_guard lock(mutex_);
    changed_ = false;
    if (folder_.empty() || (noted_ == written_ && adopted_.empty())) return attention::success();
    scenes = noted_;
    adopted = adopted_;
  }
  if (Status written = writeScenes(scenes, now); !written) return written;
  for (const auto& each : adopted) discard(*each);
  const std::lock_guard lock(mutex_);
  written_ = std::move(scenes);
  std::erase_if(adopted_, [&](const auto& each) {
    return std::find(adopted.begin(), adopted.end(), each) != adopted.end();
  });
  return attention::success();
}

/// Call with writing_ locked.
Status RecoveryStore::writeScenes(const std::vector<KeptScene>& scenes, Clock::time_point now) {
  if (scenes.empty()) {
    if (claim_) removeClaimed(*claim_);
    claim_.reset();
    return attention::success();
  }
  if (!claim_) claim_ = claimNew(folder_);
  if (!claim_) return Error{"no recovery file can be made in " + folder_.string()};
  return attention::writeFile(claim_->file, formatRecovery(scenes, now));
}

std::vector<std::shared_ptr<Recovery>> RecoveryStore::abandoned() const {
  std::vector<std::shared_ptr<Recovery>> found;
  using Time = std::filesystem::file_time_type;
  std::map<std::filesystem::path, Time> times;
  std::vector<std::filesystem::path> parts;
  std::error_code failed;
  for (std::filesystem::directory_iterator entry(folder_, failed), end; !failed && entry != end;
       entry.increment(failed)) {
    const std::filesystem::path& path = entry->path();
    const bool lock = path.extension() == kLockEnding;
    if (lock || path.extension() == ".json")
      times[lock ? path.parent_path() / path.stem() : path] = Time::min();
    if (isAbandonedPart(path)) parts.push_back(path);
  }
  for (const std::filesystem::path& part : parts) std::filesystem::remove(part, failed);
  for (auto& [file, time] : times)
    if (const Time written = std::filesystem::last_write_time(file, failed); !failed) time = written;
  std::vector<std::pair<std::filesystem::path, Time>> files(times.begin(), times.end());
  std::ranges::stable_sort(files, std::greater(), [](const auto& file) { return file.second; });
  for (const auto& [file, time] : files) {
    if (found.size() == kMaxOffered) break;
    const auto claimed = claim(file);
    if (!claimed) continue;
    if (attention::fileExists(file))
      found.push_back(readRecovery(std::move(*claimed)));
    else
      removeClaimed(*claimed);  // a stale lock, or one made while looking for a file just removed
  }
  std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a->at > b->at; });
  return found;
}

void RecoveryStore::adopt(std::shared_ptr<Recovery> recovery) {
  const std::lock_guard lock(mutex_);
  adopted_.push_back(std::move(recovery));
}

bool RecoveryStore::beginPreview(const Recovery& recovery) {
  const std::filesystem::path mark = previewOf(recovery.claim.file);
  return !attention::fileExists(mark) && attention::writeFile(mark, std::string()).ok();
}

void RecoveryStore::endPreview(const Recovery& recovery) {
  std::error_code ignored;
  std::filesystem::remove(previewOf(recovery.claim.file), ignored);
}

void RecoveryStore::discard(const Recovery& recovery) {
  removeClaimed(recovery.claim);
}

}  // namespace headscope::app
