#pragma once

#include <string>

namespace headscope::app {

/// Which control an error belongs to, so that it is shown beside it.
enum class Place { input, context, model, weights, mask, memory };
struct PlacedError {
  Place place = Place::input;
  std::string message;
  bool waits = false;  ///< for something to be typed or chosen: no mistake
};

}  // namespace headscope::app
