#pragma once

#include <string>

namespace headscope::app {

/// The control that an error belongs to and is shown next to.
enum class Place { input, context, model, weights, mask, memory };
struct PlacedError {
  Place place = Place::input;
  std::string message;
  bool waits = false;  ///< not a mistake: something has yet to be typed or chosen
};

}  // namespace headscope::app
