#pragma once

#include <filesystem>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "app/scene/lessons/lesson.h"

namespace headscope::app {

/// A lesson and the file it came from.
struct LessonEntry {
  std::shared_ptr<const Lesson> lesson;
  std::filesystem::path path;
  bool own = false;  ///< the person's, not one that comes with the program
  std::filesystem::file_time_type writtenAt;
};

/// Every lesson there is, those that come with the program first, by number and title.
struct LessonLibrary {
  std::vector<LessonEntry> lessons;
  std::vector<std::string> problems;  ///< of files that are no lessons, a sentence for each
  /// By its id, or one that comes with the program by its number: "06". Null where there is none.
  const LessonEntry* find(const std::string& word) const;
  /// How many come with the program.
  int shippedCount() const;
};

/// Which files are lessons beside those in `shipped`: all of the folder `own`, and `opened`.
struct LibraryQuestion {
  std::filesystem::path shipped, own;
  std::vector<std::filesystem::path> opened;
  std::filesystem::path progress;  ///< the folder where what was done is kept
  int reading = 0;                 ///< another number asks for reading everything again
  bool operator==(const LibraryQuestion&) const = default;
};

/// Lessons that can't be read are left out, and named. An id that is taken by an earlier lesson is a problem
/// of the later one, but the person's own takes the place of one that comes with the program.
LessonLibrary readLessons(const LibraryQuestion& question, std::stop_token stop);

}  // namespace headscope::app
