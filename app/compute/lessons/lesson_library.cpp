#include <fmt/core.h>

#include "app/compute/lessons/lesson_study.h"
#include "attention/formats/files/file_io.h"

namespace headscope::app {

namespace fs = std::filesystem;

namespace {

std::vector<fs::path> lessonFiles(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code failed;
  if (folder.empty()) return files;
  for (fs::directory_iterator at(folder, failed), end; !failed && at != end; at.increment(failed))
    if (at->path().extension() == ".json") files.push_back(at->path());
  std::sort(files.begin(), files.end());
  return files;
}

class LibraryReader {
 public:
  explicit LibraryReader(std::stop_token stop) : stop_(std::move(stop)) {}

  void read(const fs::path& path, bool own) {
    if (stop_.stop_requested()) return;
    auto lesson = readLesson(path, stop_);
    if (!lesson) return library_.problems.push_back(lesson.error().message);
    std::error_code ignored;
    LessonEntry entry{*std::move(lesson), path, own, fs::last_write_time(path, ignored)};
    for (LessonEntry& other : library_.lessons) {
      if (other.lesson->id != entry.lesson->id) continue;
      if (own && !other.own) {
        other = std::move(entry);
        return;
      }
      if (fs::equivalent(other.path, path, ignored)) return;
      return library_.problems.push_back(
          fmt::format("{}: its id {} is also that of {}; each lesson needs its own id",
                      attention::shownPath(path.filename()), attention::quotedText(entry.lesson->id),
                      attention::shownPath(other.path.filename())));
    }
    library_.lessons.push_back(std::move(entry));
  }

  LessonLibrary finish() {
    std::stable_sort(library_.lessons.begin(), library_.lessons.end(),
                     [](const LessonEntry& a, const LessonEntry& b) {
                       if (a.own != b.own) return !a.own;
                       return a.lesson->number < b.lesson->number;
                     });
    return std::move(library_);
  }

 private:
  std::stop_token stop_;
  LessonLibrary library_;
};

}  // namespace

const LessonEntry* LessonLibrary::find(const std::string& word) const {
  const auto found = std::find_if(lessons.begin(), lessons.end(), [&](const LessonEntry& entry) {
    const Lesson& lesson = *entry.lesson;  // ids start with a letter, so they can't be numbers
    return lesson.id == word || (!entry.own && fmt::format("{:02}", lesson.number) == word) ||
           (!entry.own && std::to_string(lesson.number) == word);
  });
  return found == lessons.end() ? nullptr : &*found;
}

int LessonLibrary::shippedCount() const {
  return static_cast<int>(
      std::count_if(lessons.begin(), lessons.end(), [](const LessonEntry& entry) { return !entry.own; }));
}

LessonLibrary readLessons(const LibraryQuestion& question, std::stop_token stop) {
  LibraryReader reader(stop);
  for (const fs::path& path : lessonFiles(question.shipped)) reader.read(path, false);
  for (const fs::path& path : lessonFiles(question.own)) reader.read(path, true);
  for (const fs::path& path : question.opened) reader.read(path, true);
  return reader.finish();
}

}  // namespace headscope::app
