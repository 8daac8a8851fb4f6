#pragma once

#include <filesystem>
#include <vector>

#include "app/pages/common/page.h"
#include "app/pages/lessons/lessons_state.h"

namespace headscope::app::lessons_page {

/// The person's own lesson files: opened, written from scenes, and read again when edited elsewhere.
class LessonFiles {
 public:
  LessonFiles(PageServices& services, State& page) : services_(services), page_(page) {}

  /// The lessons to read: those of the program, the person's, and those opened here.
  const LibraryQuestion& question();
  /// Watches the file of an opened lesson, if it is the person's own.
  void watch(const LessonEntry& entry);
  /// Seconds until check() wants to be called; infinite without a watched file.
  double nextCheckIn() const;
  /// Requests a new reading when the watched file has changed, also while it is invalid.
  void check();
  void open(const std::filesystem::path& path, const Outcome& outcome);
  std::vector<Action> actions();

 private:
  /// The last opened lesson of the person's own, and when the version read was written.
  struct Watched {
    std::filesystem::path path;
    std::filesystem::file_time_type writtenAt;
  };

  void save(const Scene& scene);
  void addStep(const Scene& scene);

  PageServices& services_;
  State& page_;
  LibraryQuestion question_;
  std::filesystem::path writing_;  ///< the lesson file to which steps are added
  Watched watched_;
  double watchedAt_ = 0;  ///< time of the last check
};

}  // namespace headscope::app::lessons_page
