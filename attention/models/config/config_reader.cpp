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

/// Also takes {"__float__": "Infinity"}, as transformers 5 writes it.
void takeStandIns(Json& value) {
  for (const auto& [word, number] : kPythonNumbers)
    if (value == standIn(word) || (value.is_object() && value == Json{{"__float__", word}})) value = number;
  if (value.is_structured())
    for (Json& each : value) takeStandIns(each);
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

constexpr Index kMaxToken = Index{1} << 31;

std::optional<std::string> textOf(const Json& value) {
  return value.is_string() ? std::optional(value.get<std::string>()) : std::nullopt;
}

std::optional<double> finiteNumber(const Json& value) {
  const double number = value.is_number() ? value.get<double>() : std::numeric_limits<double>::quiet_NaN();
  return std::isfinite(number) ? std::optional(number) : std::nullopt;
}

std::optional<double> positiveNumber(const Json& value) {
  const auto number = finiteNumber(value);
  return number.value_or(0) > 0 ? number : std::nullopt;
}

/// A list's items by `read`; nothing if it isn't a list or `read` returns nothing for one.
template <class Item, class Read>
std::optional<std::vector<Item>> listOf(const Json& list, const Read& read) {
  std::vector<Item> items;
  if (!list.is_array()) return std::nullopt;
  for (const Json& each : list) {
    std::optional<Item> item = read(each);
    if (!item) return std::nullopt;
    items.push_back(*std::move(item));
  }
  return items;
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
  document_->asked.insert(path(key));
  if (!object_) return nullptr;
  const auto at = jsonOf(object_).find(key);
  return at == jsonOf(object_).end() || at->is_null() ? nullptr : &*at;
}

bool ConfigReader::asked(std::string_view key) const {
  return document_->asked.contains(path(key));
}

const std::set<std::string, std::less<>>& ConfigReader::asked() const {
  return document_->asked;
}

ConfigReader ConfigReader::fresh() const {
  auto document = std::make_shared<Document>();
  document->root = document_->root;
  document->name = document_->name;
  const void* const top = &document->root;
  return ConfigReader(std::move(document), top, "");
}

bool ConfigReader::has(std::string_view key) const {
  return find(key) != nullptr;
}

bool ConfigReader::isNull(std::string_view key) const {
  return object_ && jsonOf(object_).contains(key) && !has(key);
}

/// Reads a value with `convert`, which returns nothing if it isn't as expected.
template <class Convert>
auto ConfigReader::read(std::string_view key, const std::string& expected, const Convert& convert) const {
  const void* const found = find(key);
  decltype(convert(jsonOf(found))) value;
  if (found) value = convert(jsonOf(found));
  if (found && !value) refuse(key, shown(jsonOf(found)), expected);
  return value;
}

std::optional<Index> ConfigReader::optionalSize(std::string_view key, Index low, Index high) const {
  return read(key, fmt::format("a whole number from {} to {}", low, high),
              [&](const Json& value) { return wholeNumber(value, low, high); });
}

Index ConfigReader::size(std::string_view key, std::optional<Index> defaultValue, Index low,
                         Index high) const {
  if (!has(key) && !defaultValue)
    refuse(key, "absent", fmt::format("a whole number from {} to {}", low, high));
  return optionalSize(key, low, high).value_or(defaultValue.value_or(low));
}

std::optional<double> ConfigReader::optionalPositive(std::string_view key) const {
  return read(key, "a finite number above 0", positiveNumber);
}

double ConfigReader::positive(std::string_view key, std::optional<double> defaultValue) const {
  if (!has(key) && !defaultValue) refuse(key, "absent", "a finite number above 0");
  return optionalPositive(key).value_or(defaultValue.value_or(1));
}

bool ConfigReader::flag(std::string_view key, bool defaultValue) const {
  const auto flagOf = [](const Json& value) {
    return value.is_boolean() ? std::optional(value.get<bool>()) : std::nullopt;
  };
  return read(key, "true or false", flagOf).value_or(defaultValue);
}

std::string ConfigReader::text(std::string_view key, std::string_view defaultValue) const {
  return read(key, "a text", textOf).value_or(std::string(defaultValue));
}

std::vector<double> ConfigReader::numbers(std::string_view key, Index count, bool positive) const {
  const std::string expected =
      fmt::format("a list of {} finite numbers{}", count, positive ? " above 0" : "");
  const auto size = asSize(count);
  if (!has(key)) refuse(key, "absent", expected);
  const auto numbers = read(key, expected, [&](const Json& value) {
    return value.size() == size ? listOf<double>(value, positive ? positiveNumber : finiteNumber)
                                : std::nullopt;
  });
  return numbers.value_or(std::vector<double>(size, 1));
}

std::vector<std::string> ConfigReader::texts(std::string_view key) const {
  const auto textsOf = [](const Json& value) { return listOf<std::string>(value, textOf); };
  return read(key, "a list of texts", textsOf).value_or(std::vector<std::string>());
}

std::vector<std::string> ConfigReader::repeatedTexts(std::string_view key, Index most) const {
  std::vector<std::string> all;
  const auto add = [&](const Json& group) -> std::optional<bool> {
    if (!group.is_array() || group.size() != 2) return std::nullopt;
    const auto texts = listOf<std::string>(group[0], textOf);
    const auto times = wholeNumber(group[1], 0, kMaxLayers);
    if (!texts || !times) return std::nullopt;
    for (Index n = 0; n < *times && std::ssize(all) <= most; ++n)
      all.insert(all.end(), texts->begin(), texts->end());
    return true;
  };
  read(key, "a list of lists, each with texts and how often they repeat",
       [&](const Json& groups) { return listOf<bool>(groups, add); });
  return all;
}

std::vector<Index> ConfigReader::tokens(std::string_view key) const {
  using Ids = std::vector<Index>;
  const auto idOf = [](const Json& value) { return wholeNumber(value, -1, kMaxToken); };
  auto ids = read(key, "a whole number or a list of them", [&](const Json& value) {
               return listOf<Index>(value.is_array() ? value : Json::array({value}), idOf);
             }).value_or(Ids());
  std::erase(ids, -1);
  return ids;
}

std::vector<std::vector<Index>> ConfigReader::tokenLists(std::string_view key) const {
  using Ids = std::vector<Index>;
  const auto idOf = [](const Json& value) {
    return value.is_null() ? std::optional<Index>(-1) : wholeNumber(value, 0, kMaxToken);
  };
  const auto idsOf = [&](const Json& list) { return listOf<Index>(list, idOf); };
  return read(key, "a list of lists of whole numbers",
              [&](const Json& lists) { return listOf<Ids>(lists, idsOf); })
      .value_or(std::vector<Ids>());
}

ConfigReader ConfigReader::object(std::string_view key) const {
  const void* const found = find(key);
  if (found && !jsonOf(found).is_object()) refuse(key, shown(jsonOf(found)), "an object");
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
  if (!list.is_array() || all.size() != list.size()) refuse(key, shown(list), "a list of objects");
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
    if (!asked(name))
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
  if (differs(key, value)) refuse(key, shown(jsonOf(found)), std::string(value));
}

bool ConfigReader::differs(std::string_view key, std::string_view value) const {
  const void* const found = find(key);
  Json other = Json::parse(withStandIns(value));
  takeStandIns(other);
  return found && jsonOf(found) != other;
}

void ConfigReader::expectSame(std::string_view key, std::string_view other) const {
  const void *const found = find(key), *const same = find(other);
  if (found && same && jsonOf(found) != jsonOf(same))
    refuse(key, shown(jsonOf(found)), fmt::format("{}, as {} says", shown(jsonOf(same)), other));
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

Status ConfigReader::status() const {
  return document_->error ? Status(*document_->error) : success();
}

std::string classOf(const ConfigReader& json) {
  const std::vector<std::string> names = json.texts("architectures");
  return names.empty() ? "" : names[0];
}

}  // namespace headscope::attention
