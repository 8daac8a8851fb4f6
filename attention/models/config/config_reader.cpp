#include "attention/models/config/config_reader.h"

#include <fmt/core.h>

#include <cmath>
#include <iterator>
#include <set>

#include "attention/formats/json_tree.h"
#include "attention/formats/quote.h"

namespace headscope::attention {

using Json = nlohmann::json;

struct ConfigReader::Document {
  Json root;
  std::string name;
  std::optional<Error> error;
  std::set<std::string, std::less<>> asked = {};  ///< paths of fields
};

namespace {

const Json& jsonOf(const void* value) {
  return *static_cast<const Json*>(value);
}

/// Python's json module writes these numbers, which JSON lacks, as bare words: "time_step_limit": [0.0,
/// Infinity].
constexpr std::pair<std::string_view, double> kPythonNumbers[] = {
    {"-Infinity", -std::numeric_limits<double>::infinity()},
    {"Infinity", std::numeric_limits<double>::infinity()},
    {"NaN", std::numeric_limits<double>::quiet_NaN()}};

/// The text that stands for such a word until the file is parsed. It takes as many bytes, with its quotes, so
/// that the positions in messages are the file's, and holds only the control character DEL.
std::string standIn(std::string_view word) {
  return std::string(word.size() - 2, '\x7f');
}

/// Replaces such words, except in texts and as names.
std::string withStandIns(std::string_view text) {
  std::string json(text);
  bool inText = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '"') inText = !inText;
    if (inText) {
      i += text[i] == '\\';
      continue;
    }
    for (const auto& [word, number] : kPythonNumbers) {
      if (!text.substr(i).starts_with(word)) continue;
      const auto next = text.find_first_not_of(" \t\r\n", i + word.size());
      if (next != text.npos && text[next] == ':') break;
      json.replace(i, word.size(), '"' + standIn(word) + '"');
      i += word.size() - 1;
      break;
    }
  }
  return json;
}

void takeStandIns(Json& value) {
  if (value.is_structured())
    for (Json& each : value) takeStandIns(each);
  for (const auto& [word, number] : kPythonNumbers)
    if (value.is_string() && value == standIn(word)) value = number;
}

/// A value as shown in messages.
std::string shown(const Json& value) {
  if (value.is_number_float() && !std::isfinite(value.get<double>()))
    return std::isnan(value.get<double>()) ? "NaN" : value.get<double>() < 0 ? "-Infinity" : "Infinity";
  if (value.is_object()) return "an object";
  if (value.is_array()) return fmt::format("a list of {}", value.size());
  if (value.is_string()) return quotedText(value.get_ref<const std::string&>());
  return value.dump();
}

/// Whether a value switches something off, or says nothing.
bool isOff(const Json& value) {
  return value.is_null() || value == Json(false) || (value.is_number() && value == Json(0)) ||
         value == Json("") || (value.is_structured() && value.empty());
}

/// A whole number within range, whichever number type the parser chose.
std::optional<Index> wholeNumber(const Json& value, Index low, Index high) {
  if (value.is_number_unsigned()) {
    const auto number = value.get<std::uint64_t>();
    if (number > static_cast<std::uint64_t>(high) || static_cast<Index>(number) < low) return std::nullopt;
    return static_cast<Index>(number);
  }
  if (!value.is_number_integer()) return std::nullopt;
  const auto number = value.get<std::int64_t>();
  return number >= low && number <= high ? std::optional<Index>(number) : std::nullopt;
}

std::optional<double> positiveNumber(const Json& value) {
  if (!value.is_number()) return std::nullopt;
  const auto number = value.get<double>();
  return std::isfinite(number) && number > 0 ? std::optional(number) : std::nullopt;
}

}  // namespace

Result<ConfigReader> ConfigReader::parse(std::string_view text, const std::string& name) {
  auto document = std::make_shared<Document>();
  document->name = name;
  const bool python = text.find("Infinity") != text.npos || text.find("NaN") != text.npos;
  auto root = python ? parseJsonTree(withStandIns(text), name) : parseJsonTree(text, name);
  if (!root) return root.error();
  document->root = *std::move(root);
  if (python) takeStandIns(document->root);
  if (!document->root.is_object())
    return Error{name + ": is " + shown(document->root) + ", expected an object"};
  const void* const top = &document->root;
  return ConfigReader(std::move(document), top, "");
}

const void* ConfigReader::find(std::string_view key) const {
  if (!object_) return nullptr;
  const Json& object = jsonOf(object_);
  const auto at = object.find(key);
  if (at == object.end() || at->is_null()) return nullptr;
  document_->asked.insert(path(key));
  return &*at;
}

bool ConfigReader::has(std::string_view key) const {
  return find(key) != nullptr;
}

bool ConfigReader::isNull(std::string_view key) const {
  return object_ && jsonOf(object_).contains(key) && !has(key);
}

std::optional<Index> ConfigReader::optionalSize(std::string_view key, Index low, Index high) const {
  const void* const found = find(key);
  if (!found) return std::nullopt;
  const auto number = wholeNumber(jsonOf(found), low, high);
  if (!number) unexpected(key, found, fmt::format("a whole number from {} to {}", low, high));
  return number.value_or(low);
}

Index ConfigReader::size(std::string_view key, std::optional<Index> defaultValue, Index low,
                         Index high) const {
  if (!has(key) && !defaultValue)
    refuse(key, "absent", fmt::format("a whole number from {} to {}", low, high));
  return optionalSize(key, low, high).value_or(defaultValue.value_or(low));
}

std::optional<double> ConfigReader::optionalPositive(std::string_view key) const {
  const void* const found = find(key);
  if (!found) return std::nullopt;
  const auto number = positiveNumber(jsonOf(found));
  if (!number) unexpected(key, found, "a finite number above 0");
  return number.value_or(1);
}

double ConfigReader::positive(std::string_view key, std::optional<double> defaultValue) const {
  if (!has(key) && !defaultValue) refuse(key, "absent", "a finite number above 0");
  return optionalPositive(key).value_or(defaultValue.value_or(1));
}

bool ConfigReader::flag(std::string_view key, bool defaultValue) const {
  const void* const found = find(key);
  if (!found) return defaultValue;
  if (!jsonOf(found).is_boolean()) unexpected(key, found, "true or false");
  return jsonOf(found).is_boolean() ? jsonOf(found).get<bool>() : defaultValue;
}

std::string ConfigReader::text(std::string_view key, std::string_view defaultValue) const {
  const void* const found = find(key);
  if (!found) return std::string(defaultValue);
  if (!jsonOf(found).is_string()) unexpected(key, found, "a text");
  return jsonOf(found).is_string() ? jsonOf(found).get<std::string>() : std::string(defaultValue);
}

std::vector<double> ConfigReader::list(std::string_view key, Index count, bool positive) const {
  std::vector<double> numbers(static_cast<std::size_t>(count), 1);
  const std::string expected =
      fmt::format("a list of {} finite numbers{}", count, positive ? " above 0" : "");
  const void* const found = find(key);
  if (!found) {
    refuse(key, "absent", expected);
    return numbers;
  }
  const Json& list = jsonOf(found);
  bool fits = list.is_array() && list.size() == numbers.size();
  for (std::size_t i = 0; fits && i < numbers.size(); ++i) {
    const double number = list[i].is_number() ? list[i].get<double>() : 0;
    fits = list[i].is_number() && std::isfinite(number) && (number > 0 || !positive);
    numbers[i] = fits ? number : 1;
  }
  if (!fits) unexpected(key, found, expected);
  return numbers;
}

std::vector<double> ConfigReader::positives(std::string_view key, Index count) const {
  return list(key, count, true);
}

std::vector<double> ConfigReader::numbers(std::string_view key, Index count) const {
  return list(key, count, false);
}

std::vector<std::string> ConfigReader::texts(std::string_view key) const {
  const void* const found = find(key);
  if (!found) return {};
  const Json& list = jsonOf(found);
  std::vector<std::string> all;
  bool fits = list.is_array();
  for (std::size_t i = 0; fits && i < list.size(); ++i) {
    fits = list[i].is_string();
    if (fits) all.push_back(list[i].get<std::string>());
  }
  if (!fits) unexpected(key, found, "a list of texts");
  return all;
}

std::vector<std::string> ConfigReader::repeatedTexts(std::string_view key, Index most) const {
  const void* const found = find(key);
  if (!found) return {};
  const Json& groups = jsonOf(found);
  std::vector<std::string> all;
  bool fits = groups.is_array();
  for (std::size_t i = 0; fits && i < groups.size(); ++i) {
    const Json& group = groups[i];
    fits = group.is_array() && group.size() == 2 && group[0].is_array() &&
           std::ranges::all_of(group[0], [](const Json& each) { return each.is_string(); });
    const auto times = fits ? wholeNumber(group[1], 0, kMaxLayers) : std::nullopt;
    fits = times.has_value();
    for (Index n = 0; fits && n < *times && std::ssize(all) <= most; ++n)
      for (const Json& each : group[0]) all.push_back(each.get<std::string>());
  }
  if (!fits) unexpected(key, found, "a list of lists, each with texts and how often they repeat");
  return all;
}

std::vector<Index> ConfigReader::tokens(std::string_view key) const {
  const void* const found = find(key);
  if (!found) return {};
  const Json& value = jsonOf(found);
  std::vector<Index> all;
  bool fits = true;
  const auto add = [&](const Json& each) {
    const auto number = wholeNumber(each, -1, Index{1} << 31);
    fits = fits && number.has_value();
    if (number.value_or(-1) >= 0) all.push_back(*number);
  };
  if (value.is_array())
    for (const Json& each : value) add(each);
  else
    add(value);
  if (!fits) unexpected(key, found, "a whole number or a list of them");
  return fits ? all : std::vector<Index>();
}

std::vector<std::vector<Index>> ConfigReader::tokenLists(std::string_view key) const {
  const void* const found = find(key);
  if (!found) return {};
  const Json& lists = jsonOf(found);
  std::vector<std::vector<Index>> all;
  bool fits = lists.is_array();
  for (std::size_t i = 0; fits && i < lists.size(); ++i) {
    fits = lists[i].is_array();
    std::vector<Index>& ids = all.emplace_back();
    for (std::size_t j = 0; fits && j < lists[i].size(); ++j) {
      const auto id = lists[i][j].is_null() ? -1 : wholeNumber(lists[i][j], 0, Index{1} << 31);
      fits = id.has_value();
      ids.push_back(id.value_or(-1));
    }
  }
  if (!fits) unexpected(key, found, "a list of lists of whole numbers");
  return fits ? all : std::vector<std::vector<Index>>();
}

ConfigReader ConfigReader::object(std::string_view key) const {
  const void* const found = find(key);
  if (found && !jsonOf(found).is_object()) unexpected(key, found, "an object");
  const bool isObject = found && jsonOf(found).is_object();
  return ConfigReader(document_, isObject ? found : nullptr, path_ + std::string(key) + ".");
}

std::vector<ConfigReader> ConfigReader::objects(std::string_view key) const {
  const void* const found = find(key);
  std::vector<ConfigReader> all;
  if (!found) return all;
  const Json& list = jsonOf(found);
  for (std::size_t i = 0; list.is_array() && i < list.size() && list[i].is_object(); ++i)
    all.push_back(ConfigReader(document_, &list[i], fmt::format("{}.{}.", path(key), i)));
  if (!list.is_array() || all.size() != list.size()) unexpected(key, found, "a list of objects");
  return all;
}

std::vector<std::string> ConfigReader::unread() const {
  std::vector<std::string> all;
  const auto add = [&](const std::vector<std::string>& more) {
    all.insert(all.end(), more.begin(), more.end());
  };
  if (!object_) return all;
  for (const auto& [name, value] : jsonOf(object_).items()) {
    if (isOff(value)) continue;
    if (!document_->asked.contains(path(name)))
      all.push_back(path(name));
    else if (value.is_object())
      add(object(name).unread());
    else if (value.is_array() && value[0].is_object())
      for (const ConfigReader& each : objects(name)) add(each.unread());
  }
  return all;
}

std::vector<std::string> ConfigReader::names() const {
  std::vector<std::string> all;
  if (!object_) return all;
  for (const auto& [name, value] : jsonOf(object_).items())
    if (!value.is_null()) all.push_back(name);
  return all;
}

bool ConfigReader::isObject(std::string_view key) const {
  // Looking for an object isn't reading it: object() is.
  if (!object_) return false;
  const auto found = jsonOf(object_).find(std::string(key));
  return found != jsonOf(object_).end() && found->is_object();
}

bool ConfigReader::isText(std::string_view key) const {
  const void* const found = find(key);
  return found && jsonOf(found).is_string();
}

bool ConfigReader::isList(std::string_view key) const {
  const void* const found = find(key);
  return found && jsonOf(found).is_array();
}

void ConfigReader::addDefaults(std::string_view json) {
  if (!object_) return;
  // This reader owns the document, and no other thread uses it.
  Json& object = *const_cast<Json*>(static_cast<const Json*>(object_));
  const Json defaults = Json::parse(json);
  for (const auto& [name, value] : defaults.items())
    if (!object.contains(name)) {
      object[name] = value;
      document_->asked.insert(path(name));
    }
}

void ConfigReader::expect(std::string_view key, std::string_view value) const {
  const void* const found = find(key);
  if (found && jsonOf(found) != Json::parse(value)) unexpected(key, found, std::string(value));
}

bool ConfigReader::differs(std::string_view key, std::string_view value) const {
  const void* const found = find(key);
  return found && jsonOf(found) != Json::parse(value);
}

void ConfigReader::expectSame(std::string_view key, std::string_view other) const {
  const void *const found = find(key), *const same = find(other);
  if (found && same && jsonOf(found) != jsonOf(same))
    unexpected(key, found, fmt::format("{}, as {} says", shown(jsonOf(same)), other));
}

std::string ConfigReader::at(std::string_view key) const {
  return document_->name + ": " + path(key);
}

void ConfigReader::fail(const std::string& message) const {
  if (!document_->error) document_->error = Error{message};
}

void ConfigReader::refuse(std::string_view key, const std::string& found, const std::string& expected) const {
  fail(at(key) + " is " + found + ", expected " + expected);
}

void ConfigReader::unexpected(std::string_view key, const void* found, const std::string& expected) const {
  refuse(key, shown(jsonOf(found)), expected);
}

Status ConfigReader::status() const {
  return document_->error ? Status(*document_->error) : success();
}

}  // namespace headscope::attention
