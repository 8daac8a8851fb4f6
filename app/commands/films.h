#pragma once

#include <array>
#include <functional>
#include <string>
#include <string_view>

#include "app/headless.h"

namespace headscope::app {

/// What a recording shows, step by step.
enum class FilmKind { decode, generation, lesson, pipeline, talk };
inline constexpr std::array<std::string_view, 5> kFilmNames{"decode", "generation", "lesson", "pipeline",
                                                            "talk"};

struct Film {
  Scene first;         ///< the scene at the start
  std::string lesson;  ///< file of the lesson opened on it; "" = none
  Index steps = 0;     ///< approximate number of steps; 0 = known once the first is computed
  double stepSeconds = 1;
  /// Shows the next step, fully computed. Returns false after the last.
  std::function<bool(HeadlessApp&)> next;
};

/// The film of a scene or lesson. Returns an Error if it can't be read, or isn't the lesson or the talk that
/// `kind` requires.
attention::Result<Film> filmOf(FilmKind kind, const std::string& file);
/// Shows the film's first step, fully computed. Returns an Error if the scene fails or has no such steps.
attention::Status beginFilm(Film& film, FilmKind kind, HeadlessApp& headless);

}  // namespace headscope::app
