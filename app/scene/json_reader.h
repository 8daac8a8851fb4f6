#pragma once

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "app/scene/field.h"
#include "attention/formats/quote.h"

namespace headscope::app {

// Only .cpp files that read or write scenes include this: json stays private to them.

using Json = nlohmann::ordered_json;

/// Reads one JSON object field by field; remembers the first thing that is wrong with it.
class ObjectReader {
 public:
  ObjectReader(const Json& json, std::string path, std::string& error)
      : json_(json), path_(std::move(path)), error_(error) {
    if (!json_.is_object()) note((path_.empty() ? "the file" : path_) + " is not an object");
  }

  void read(const char* key, std::string& to) {
    if (const Json* field = find(key, "text", [](const Json& j) { return j.is_string(); })) to = *field;
  }
  void read(const char* key, bool& to) {
    if (const Json* field = find(key, "true or false", [](const Json& j) { return j.is_boolean(); }))
      to = *field;
  }
  void read(const char* key, float& to) {
    double value = to;
    read(key, value);
    to = static_cast<float>(value);
  }
  void read(const char* key, double& to) {
    if (const Json* field = find(key, "a number", [](const Json& j) { return j.is_number(); })) to = *field;
  }
  template <typename Integer>
  requires std::is_integral_v<Integer>
  void read(const char* key, Integer& to) {
    const auto whole = [](const Json& j) {
      if (std::is_unsigned_v<Integer> || j.is_number_unsigned())
        return j.is_number_unsigned() && (std::is_unsigned_v<Integer> || j.get<std::uint64_t>() <= INT32_MAX);
      return j.is_number_integer() && j.get<std::int64_t>() >= INT32_MIN;
    };
    if (const Json* field =
            find(key, std::is_unsigned_v<Integer> ? "a whole number from 0" : "a whole number", whole))
      to = field->get<Integer>();
  }
  /// One of `names`, as its number.
  void read(const char* key, std::span<const std::string_view> names, int& to) {
    const Json* field = find(key, "text", [](const Json& j) { return j.is_string(); });
    if (!field) return;
    const std::string word = *field;
    const auto found = std::find(names.begin(), names.end(), word);
    if (found == names.end())
      return note(at(key) + " is " + attention::quotedText(word) + ", expected " +
                  alternatives({names.begin(), names.end()}));
    to = static_cast<int>(found - names.begin());
  }
  template <typename Visit>
  void object(const char* key, Visit visit) {
    if (const Json* field = find(key, "an object", [](const Json& j) { return j.is_object(); })) {
      ObjectReader inner(*field, at(key), error_);
      visit(inner);
      inner.finish();
    }
  }
  const Json* array(const char* key) {
    return find(key, "a list", [](const Json& j) { return j.is_array(); });
  }
  std::string at(const std::string& key) const { return path_.empty() ? key : path_ + "." + key; }
  void note(const std::string& message) {
    if (error_.empty()) error_ = message;
  }
  std::string& error() { return error_; }

  /// Call last: a field that nothing asked for is a misspelling or belongs to another version.
  void finish() {
    if (!json_.is_object()) return;
    for (const auto& item : json_.items())
      if (!known_.contains(item.key()))
        note(attention::quotedText(at(item.key())) + " is not a field of a scene");
  }

 private:
  template <typename Fits>
  const Json* find(const char* key, const std::string& expected, Fits fits) {
    known_.insert(key);
    if (!json_.is_object()) return nullptr;
    const auto found = json_.find(key);
    if (found == json_.end()) return nullptr;
    if (fits(*found)) return &*found;
    // In ASCII, so that cutting it never cuts a character.
    std::string shown = found->dump(-1, ' ', true, Json::error_handler_t::replace);
    if (shown.size() > 40) shown = shown.substr(0, 40) + "…";
    note(at(key) + " is " + shown + ", expected " + expected);
    return nullptr;
  }

  const Json& json_;
  std::string path_;
  std::string& error_;
  std::set<std::string> known_;
};

}  // namespace headscope::app
