#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "attention/core/result.h"

namespace headscope::attention {

// Only .cpp files include this: json stays private to them.

/// What a file that is read as a tree may hold at most. A value takes some 60 bytes beside its text, and a
/// list or an object that is never closed as much again for each bracket.
struct JsonBounds {
  std::size_t depth = 32;          ///< lists and objects within each other
  std::size_t values = 1'000'000;  ///< numbers, texts, lists, objects and so on
};

/// Untrusted text as a tree of nlohmann's. Reading ends at the first value beyond the bounds, before there is
/// memory for it. Errors, with `name` in front: no JSON, a number too large, more than the bounds allow.
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
