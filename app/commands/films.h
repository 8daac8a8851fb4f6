#pragma once

#include <array>
#include <functional>
#include <string>
#include <string_view>

#include "app/headless.h"

namespace headscope::app {

/// What a recording shows, one step after the other.
enum class FilmKind { decode, generation, lesson, pipeline, talk };
inline constexpr std::array<std::string_view, 5> kFilmNames{"decode", "generation", "lesson", "pipeline",
                                                            "talk"};

struct Film {
  Scene first;         ///< what it begins with
  std::string lesson;  ///< the file of the lesson that is opened on it; empty: none
  Index steps = 0;     ///< about how many there are; 0: known once the first is computed
  double stepSeconds = 1;
  /// Shows the next step, all of it computed; false after the last.
  std::function<bool(HeadlessApp&)> next;
};

/// The film of a scene or lesson. Errors: what can't be read, a lesson that was not given or not asked for.
attention::Result<Film> filmOf(FilmKind kind, const std::string& file);
/// Shows the film's first step, all of it computed. Errors: a scene that has no such steps.
attention::Status beginFilm(Film& film, FilmKind kind, HeadlessApp& headless);

}  // namespace headscope::app
