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
  bool own = false;  ///< the user's, not included in the program
  std::filesystem::file_time_type writtenAt;
};

/// All lessons, those included in the program first, sorted by number.
struct LessonLibrary {
  std::vector<LessonEntry> lessons;
  std::vector<std::string> problems;  ///< a sentence for each file that is not a valid lesson
  /// Finds a lesson by its id, or an included one by its number: "06". Null if there is none.
  const LessonEntry* find(const std::string& word) const;
  /// Returns the number of lessons included in the program.
  int shippedCount() const;
};

/// The files to read lessons from: all in the folders `shipped` and `own`, and those in `opened`.
struct LibraryQuestion {
  std::filesystem::path shipped, own;
  std::vector<std::filesystem::path> opened;
  std::filesystem::path progress;  ///< the folder where progress is stored
  int reading = 0;                 ///< changing the number makes everything be read again
  bool operator==(const LibraryQuestion&) const = default;
};

/// Reads the lessons. Invalid ones are left out and listed as problems. An id that an earlier lesson has is a
/// problem of the later one, except that the user's lesson replaces an included one.
LessonLibrary readLessons(const LibraryQuestion& question, std::stop_token stop);

}  // namespace headscope::app
