#include "app/scene/json_text.h"

#include <fmt/core.h>

#include <charconv>

#include "app/scene/scene.h"
#include "attention/formats/json_cursor.h"

namespace headscope::app {

using attention::Error;
using attention::Status;

namespace {

/// Whether the text at the start of `json` is longer than a scene allows. No escape stands for less than a
/// byte.
bool isTooLong(std::string_view json) {
  std::size_t at = 1;
  for (std::size_t bytes = 0; at < json.size() && json[at] != '"'; ++bytes) {
    if (bytes == kMaxTextBytes) return true;
    at += json[at] != '\\' ? 1 : at + 1 < json.size() && json[at + 1] == 'u' ? 6 : 2;
  }
  return false;
}

/// Checks a document in one pass. Every step returns false after an error.
class JsonChecker {
 public:
  JsonChecker(std::string_view text, const std::stop_token& stop, std::size_t maxDepth)
      : text_(text), cursor_(text), stop_(stop), maxDepth_(maxDepth) {}

  Status check(std::optional<std::size_t>* brokenAt) {
    if (readValue(0) && cursor_.finish()) return attention::success();
    if (!cursor_.failed()) return Error{problem_};
    if (brokenAt) *brokenAt = text_.size() - cursor_.rest().size();
    return Error{"this is not JSON: " + cursor_.fault()};
  }

 private:
  bool readValue(std::size_t depth) {
    if (stop_.stop_requested()) return fail("reading was stopped");
    const char first = cursor_.peek();
    const bool list = first == '[', object = first == '{';
    if ((list || object) && depth == maxDepth_) return fail("the JSON is nested deeper than a scene can be");
    std::string_view value;
    return list           ? readList(depth + 1)
           : object       ? readObject(depth + 1)
           : first == '"' ? isShort() && cursor_.string(value, buffer_)
                          : readWord();
  }

  bool readList(std::size_t depth) {
    if (!cursor_.enter('[')) return false;
    for (std::size_t count = 0; cursor_.next(); ++count) {
      if (count == kMaxJsonEntries)
        return fail(fmt::format("a list is longer than {} entries, the longest in a scene", kMaxJsonEntries));
      if (!readValue(depth)) return false;
    }
    return !cursor_.failed();
  }

  bool readObject(std::size_t depth) {
    if (!cursor_.enter('{')) return false;
    std::vector<std::string> names;
    while (cursor_.next()) {
      std::string_view name;
      if (!isShort() || !cursor_.key(name, buffer_)) return false;
      if (std::find(names.begin(), names.end(), name) != names.end())
        return fail(attention::quotedText(name) + " appears twice in one object");
      if (names.size() == kMaxJsonNames)
        return fail(fmt::format("an object has more than {} names, the limit of a scene", kMaxJsonNames));
      names.emplace_back(name);
      if (!readValue(depth)) return false;
    }
    return !cursor_.failed();
  }

  bool readWord() {
    constexpr std::size_t kMaxDigits = 1000;
    const std::size_t left = cursor_.rest().size();
    std::string_view word;
    if (!cursor_.word(word)) return false;
    if (word.size() > kMaxDigits)
      return fail(
          fmt::format("the number at byte {} has more than {} digits", text_.size() - left + 1, kMaxDigits));
    double value = 0;
    const auto [end, code] = std::from_chars(word.data(), word.data() + word.size(), value);
    // Numbers too small to differ from 0 are out of range as well, but fine.
    if (code != std::errc::result_out_of_range || Json::accept(word)) return true;
    return fail("this can't be read: a number is too large");
  }

  bool isShort() {
    if (cursor_.peek() != '"' || !isTooLong(cursor_.rest())) return true;
    return fail(fmt::format("the text at byte {} is longer than {} bytes, the longest in a scene",
                            text_.size() - cursor_.rest().size() + 1, kMaxTextBytes));
  }

  bool fail(std::string message) {
    problem_ = std::move(message);
    return false;
  }

  std::string_view text_;
  attention::JsonCursor cursor_;
  const std::stop_token& stop_;
  const std::size_t maxDepth_;
  std::string buffer_, problem_;
};

}  // namespace

Status checkJson(std::string_view text, const std::stop_token& stop, std::optional<std::size_t>* brokenAt,
                 std::size_t depth) {
  return JsonChecker(text, stop, depth).check(brokenAt);
}

JsonText::JsonText(std::string_view text) : text_(attention::JsonCursor(text).rest()) {}

std::vector<JsonText> JsonText::entries() const {
  std::vector<JsonText> list;
  attention::JsonCursor cursor(text_);
  cursor.enter('[');
  std::string_view entry;
  while (cursor.next() && cursor.skip(entry)) list.emplace_back(entry);
  return list;
}

std::vector<JsonText::Member> JsonText::members() const {
  std::vector<Member> found;
  attention::JsonCursor cursor(text_);
  cursor.enter('{');
  std::string_view name, value;
  std::string buffer;
  while (cursor.next() && cursor.key(name, buffer) && cursor.skip(value))
    found.push_back({std::string(name), JsonText(value)});
  return found;
}

Json JsonText::scalar() const {
  if (isObject()) return Json::object();
  if (isList()) return Json::array();
  return Json::parse(text_);
}

std::optional<std::int64_t> JsonText::wholeNumber() const {
  std::int64_t value = 0;
  const char* const end = text_.data() + text_.size();
  const auto [at, code] = std::from_chars(text_.data(), end, value);
  if (code != std::errc() || at != end) return std::nullopt;
  return value;
}

std::optional<double> JsonText::number() const {
  double value = 0;
  const char* const end = text_.data() + text_.size();
  const auto [at, code] = std::from_chars(text_.data(), end, value);
  if (code == std::errc() && at == end) return value;
  // from_chars refuses numbers too small to differ from 0.
  const Json other = scalar();
  if (!other.is_number()) return std::nullopt;
  return other.get<double>();
}

std::string JsonText::shown() const {
  constexpr std::size_t kParsed = 4096, kShown = 40;
  if (text_.size() > kParsed) return isObject() ? "a long object" : isList() ? "a long list" : "a long text";
  // In ASCII, so that shortening never splits a character.
  const std::string all = Json::parse(text_).dump(-1, ' ', true, Json::error_handler_t::replace);
  return all.size() > kShown ? all.substr(0, kShown) + "…" : all;
}

}  // namespace headscope::app
