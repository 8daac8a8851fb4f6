#include "attention/formats/merged_file.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <thread>

#include "attention/formats/files/system_files.h"
#include "attention/formats/json_tree.h"

namespace headscope::attention {

namespace {

using MergedJson = nlohmann::json;

/// The value of that name; null if there is none.
MergedJson valueOf(const MergedJson& object, const std::string& name) {
  const auto found = object.find(name);
  return found == object.end() ? MergedJson() : *found;
}

MergedJson merged(const MergedJson& base, const MergedJson& mine, const MergedJson& theirs);

MergedJson mergedObjects(const MergedJson& base, const MergedJson& mine, const MergedJson& theirs) {
  MergedJson all = theirs;
  for (const auto& [name, value] : mine.items())
    if (!base.contains(name) || base[name] != value)
      all[name] = merged(valueOf(base, name), value, valueOf(theirs, name));
  for (const auto& [name, value] : base.items())
    if (!mine.contains(name)) all.erase(name);
  return all;
}

MergedJson mergedLists(const MergedJson& base, const MergedJson& mine, const MergedJson& theirs) {
  const auto holds = [](const MergedJson& list, const MergedJson& item) {
    return std::find(list.begin(), list.end(), item) != list.end();
  };
  MergedJson all = MergedJson::array();
  for (const MergedJson& item : theirs)
    if (holds(mine, item) || !holds(base, item)) all.push_back(item);
  for (const MergedJson& item : mine)
    if (!holds(base, item) && !holds(theirs, item)) all.push_back(item);
  return all;
}

MergedJson merged(const MergedJson& base, const MergedJson& mine, const MergedJson& theirs) {
  if (mine == base) return theirs;
  if (mine.is_object() && theirs.is_object())
    return mergedObjects(base.is_object() ? base : MergedJson::object(), mine, theirs);
  if (mine.is_array() && theirs.is_array())
    return mergedLists(base.is_array() ? base : MergedJson::array(), mine, theirs);
  return mine;
}

}  // namespace

std::string mergedJson(std::string_view base, std::string_view mine, std::string_view theirs) {
  const auto before = parseJsonTree(base, "base"), own = parseJsonTree(mine, "mine"),
             other = parseJsonTree(theirs, "theirs");
  if (!own || !other) return std::string(mine);
  const MergedJson all = merged(before ? *before : MergedJson(), *own, *other);
  return all.dump(2, ' ', false, MergedJson::error_handler_t::replace) + "\n";
}

ChangeLock::ChangeLock(const std::filesystem::path& path) : file_(-1) {
  using std::chrono::steady_clock;
  constexpr std::chrono::seconds kLongest(10);
  constexpr std::chrono::milliseconds kPause(1);
  std::error_code ignored;
  std::filesystem::create_directories(path.parent_path(), ignored);
  const std::filesystem::path lock = path.parent_path() / ("." + path.filename().string() + ".lock");
  file_ = openToWrite(lock, Creation::ifMissing, true);
  const auto end = steady_clock::now() + kLongest;
  int code = 0;
  while (file_.get() >= 0 && (code = lockFile(file_.get())) != 0 && (code == EWOULDBLOCK || code == EINTR) &&
         steady_clock::now() < end)
    std::this_thread::sleep_for(kPause);
}

void MergedFile::begin(std::string text) {
  const std::lock_guard lock(mutex_);
  base_ = std::move(text);
}

Status MergedFile::write(const std::filesystem::path& path, const std::string& text) {
  constexpr std::uint64_t kMaxBytes = std::uint64_t{1} << 20;
  const std::lock_guard lock(mutex_);
  const ChangeLock change(path);
  const auto theirs = readFile(path, kMaxBytes);
  Status written = writeFile(
      path, theirs ? mergedJson(base_, text, {reinterpret_cast<const char*>(theirs->data()), theirs->size()})
                   : text);
  if (written) base_ = text;
  return written;
}

}  // namespace headscope::attention
