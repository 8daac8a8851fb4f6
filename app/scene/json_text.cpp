#include "app/scene/json_text.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "app/scene/scene.h"
#include "attention/formats/quote.h"

namespace headscope::app {

using attention::Error;
using attention::Status;

namespace {

bool isSpace(char c) {
  return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

std::size_t skipSpaces(std::string_view text, std::size_t at) {
  while (at < text.size() && isSpace(text[at])) ++at;
  return at;
}

/// Behind the text that begins at `at`.
std::size_t endOfText(std::string_view text, std::size_t at) {
  for (++at; at < text.size() && text[at] != '"'; ++at)
    if (text[at] == '\\') ++at;
  return std::min(at + 1, text.size());
}

/// Behind the value that begins at `at`.
std::size_t endOfValue(std::string_view text, std::size_t at) {
  std::size_t depth = 0;
  while (at < text.size()) {
    const char c = text[at];
    if (c == '"') {
      at = endOfText(text, at);
      if (depth == 0) break;
      continue;
    }
    if (c == '[' || c == '{') ++depth;
    const bool closes = c == ']' || c == '}';
    if (depth == 0 && (closes || c == ',' || isSpace(c))) break;
    ++at;
    if (closes && --depth == 0) break;
  }
  return at;
}

/// What is wrong with a text, a number or a gap that is too long for a scene, if there is one: the parser
/// would hold all of it.
std::optional<std::string> findLongToken(std::string_view json) {
  constexpr std::size_t kMaxDigits = 1000, kMaxSpaces = std::size_t{1} << 16;
  constexpr std::string_view kOfNumbers = "0123456789+-.eE";
  for (std::size_t at = 0; at < json.size(); ++at) {
    const std::size_t begin = at;
    if (json[at] == '"') {
      // No escape stands for less than a byte.
      ++at;
      for (std::size_t bytes = 0; at < json.size() && json[at] != '"'; ++bytes) {
        if (bytes == kMaxTextBytes)
          return fmt::format("the text at byte {} is longer than {} bytes, the longest in a scene", begin + 1,
                             kMaxTextBytes);
        at += json[at] != '\\' ? 1 : at + 1 < json.size() && json[at + 1] == 'u' ? 6 : 2;
      }
    } else if (json[at] >= '0' && json[at] <= '9') {
      while (at + 1 < json.size() && kOfNumbers.find(json[at + 1]) != std::string_view::npos) ++at;
      if (at - begin >= kMaxDigits)
        return fmt::format("the number at byte {} has more than {} digits", begin + 1, kMaxDigits);
    } else if (isSpace(json[at])) {
      while (at + 1 < json.size() && isSpace(json[at + 1])) ++at;
      if (at - begin >= kMaxSpaces)
        return fmt::format("there are more than {} spaces at byte {}", kMaxSpaces, begin + 1);
    }
  }
  return std::nullopt;
}

/// Receives the parser's events and ends at the first that breaks a limit.
class JsonChecker : public nlohmann::json_sax<Json> {
 public:
  explicit JsonChecker(const std::stop_token& stop) : stop_(stop) {}
  std::string problem;
  std::optional<std::size_t> brokenAt;

  bool null() override { return entry(); }
  bool boolean(bool) override { return entry(); }
  bool number_integer(number_integer_t) override { return entry(); }
  bool number_unsigned(number_unsigned_t) override { return entry(); }
  bool number_float(number_float_t, const string_t&) override { return entry(); }
  bool string(string_t&) override { return entry(); }
  bool binary(binary_t&) override { return entry(); }
  bool start_object(std::size_t) override { return entry() && open(false); }
  bool start_array(std::size_t) override { return entry() && open(true); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }

  bool key(string_t& name) override {
    Level& object = levels_[depth_ - 1];
    const auto end = object.names.begin() + static_cast<std::ptrdiff_t>(object.count);
    if (std::find(object.names.begin(), end, name) != end)
      return fail(attention::quotedText(name) + " appears twice in one object");
    if (object.count == kMaxJsonNames)
      return fail(fmt::format("an object has more names than {}, and a scene's have fewer", kMaxJsonNames));
    if (object.count == object.names.size()) object.names.emplace_back();
    object.names[object.count++] = name;
    return true;
  }

  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::detail::exception& broken) override {
    constexpr int kNumberOverflow = 406;
    if (broken.id == kNumberOverflow) return fail("this can't be read: a number is too large");
    brokenAt = std::max<std::size_t>(position, 1) - 1;
    return fail(fmt::format("this is not JSON: unexpected text at byte {}", position));
  }

 private:
  /// A list or an object that is open.
  struct Level {
    bool list = false;
    std::size_t count = 0;           ///< entries, or names
    std::vector<std::string> names;  ///< the first `count` of them: their memory is used again
  };

  bool open(bool list) {
    if (depth_ == kMaxJsonDepth) return fail("the JSON is nested deeper than a scene can be");
    Level& level = levels_[depth_++];
    level.list = list;
    level.count = 0;
    return true;
  }
  bool close() {
    --depth_;
    return true;
  }
  bool entry() {
    if (stop_.stop_requested()) return fail("reading was stopped");
    if (depth_ == 0 || !levels_[depth_ - 1].list) return true;
    if (++levels_[depth_ - 1].count <= kMaxJsonEntries) return true;
    return fail(fmt::format("a list is longer than {} entries, the longest in a scene", kMaxJsonEntries));
  }
  bool fail(std::string message) {
    problem = std::move(message);
    return false;
  }

  const std::stop_token& stop_;
  std::array<Level, kMaxJsonDepth> levels_;
  std::size_t depth_ = 0;
};

}  // namespace

Status checkJson(std::string_view text, const std::stop_token& stop, std::optional<std::size_t>* brokenAt) {
  // The parser takes a null byte for the end.
  if (const std::size_t null = text.find('\0'); null != std::string_view::npos)
    return Error{fmt::format("this is not JSON: unexpected text at byte {}", null + 1)};
  if (auto tooLong = findLongToken(text)) return Error{*std::move(tooLong)};
  JsonChecker checker(stop);
  if (Json::sax_parse(text, &checker)) return attention::success();
  if (brokenAt) *brokenAt = checker.brokenAt;
  return Error{std::move(checker.problem)};
}

JsonText::JsonText(std::string_view text) : text_(text.substr(skipSpaces(text, 0))) {}

std::vector<JsonText> JsonText::entries() const {
  std::vector<JsonText> list;
  for (std::size_t at = skipSpaces(text_, 1); at < text_.size() && text_[at] != ']';) {
    const std::size_t end = endOfValue(text_, at);
    list.emplace_back(text_.substr(at, end - at));
    at = skipSpaces(text_, end);
    if (at < text_.size() && text_[at] == ',') at = skipSpaces(text_, at + 1);
  }
  return list;
}

std::vector<JsonText::Member> JsonText::members() const {
  std::vector<Member> found;
  for (std::size_t at = skipSpaces(text_, 1); at < text_.size() && text_[at] != '}';) {
    const std::size_t nameEnd = endOfText(text_, at);
    const std::size_t value = skipSpaces(text_, skipSpaces(text_, nameEnd) + 1);  // behind the colon
    const std::size_t end = endOfValue(text_, value);
    found.push_back({JsonText(text_.substr(at, nameEnd - at)).scalar().get<std::string>(),
                     JsonText(text_.substr(value, end - value))});
    at = skipSpaces(text_, end);
    if (at < text_.size() && text_[at] == ',') at = skipSpaces(text_, at + 1);
  }
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
  // Numbers too small to be told from 0 are none for from_chars.
  const Json other = scalar();
  if (!other.is_number()) return std::nullopt;
  return other.get<double>();
}

std::string JsonText::shown() const {
  constexpr std::size_t kParsed = 4096, kShown = 40;
  if (text_.size() > kParsed) return isObject() ? "a long object" : isList() ? "a long list" : "a long text";
  // In ASCII, so that cutting it never cuts a character.
  const std::string all = Json::parse(text_).dump(-1, ' ', true, Json::error_handler_t::replace);
  return all.size() > kShown ? all.substr(0, kShown) + "…" : all;
}

}  // namespace headscope::app
