#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "attention/core/result.h"

namespace headscope::attention {

// Include only in .cpp files, to keep the json library private to them.

/// Limits for files that are parsed into a tree. A value takes about 60 bytes besides its text; each list or
/// object that is never closed takes as much again.
struct JsonBounds {
  std::size_t depth = 32;          ///< levels of nested lists and objects
  std::size_t values = 1'000'000;  ///< numbers, texts, lists, objects and so on
};

/// Parses untrusted text into a nlohmann tree. Stops at the first value beyond the bounds, before allocating
/// it. Returns an Error, prefixed by `name`, for invalid JSON, a number too large, or exceeded bounds.
template <class Json = nlohmann::json>
Result<Json> parseJsonTree(std::string_view text, const std::string& name, const JsonBounds& bounds = {}) {
  struct BeyondBounds {
    std::string what;
  };
  using Event = typename Json::parse_event_t;
  std::size_t values = 0;
  const auto check = [&](int depth, Event event, Json&) {
    const bool opens = event == Event::object_start || event == Event::array_start;
    if (opens && static_cast<std::size_t>(depth) >= bounds.depth)
      throw BeyondBounds{"lists and objects are more than " + std::to_string(bounds.depth) + " deep"};
    if ((opens || event == Event::value) && ++values > bounds.values)
      throw BeyondBounds{"holds more than " + std::to_string(bounds.values) + " values"};
    return true;
  };
  try {
    return Json::parse(text, check);
  } catch (const typename Json::parse_error& error) {
    return Error{name + ": is not valid JSON at byte " + std::to_string(error.byte)};
  } catch (const typename Json::exception&) {
    return Error{name + ": holds a number that is too large"};
  } catch (const BeyondBounds& beyond) {
    return Error{name + ": " + beyond.what};
  }
}

}  // namespace headscope::attention
