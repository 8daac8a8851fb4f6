#include "attention/models/tokenizer/pattern.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <fmt/core.h>
#include <pcre2.h>

#include <algorithm>
#include <array>
#include <optional>

#include "attention/core/stopped.h"
#include "attention/formats/quote.h"
#include "attention/models/tokenizer/regex_syntax.h"

namespace headscope::attention {
namespace {

constexpr std::size_t kLongestExpression = 10'000;

struct Free {
  void operator()(pcre2_code* code) const { pcre2_code_free(code); }
  void operator()(pcre2_compile_context* context) const { pcre2_compile_context_free(context); }
  void operator()(pcre2_match_context* context) const { pcre2_match_context_free(context); }
  void operator()(pcre2_match_data* data) const { pcre2_match_data_free(data); }
  void operator()(pcre2_jit_stack* stack) const { pcre2_jit_stack_free(stack); }
};
template <class T>
using Owned = std::unique_ptr<T, Free>;

template <class T>
Owned<T> owned(T* made) {
  if (!made) throw std::bad_alloc();
  return Owned<T>(made);
}

std::string pcre2Message(int code) {
  std::array<PCRE2_UCHAR, 256> text{};
  pcre2_get_error_message(code, text.data(), text.size());
  return reinterpret_cast<const char*>(text.data());
}

PCRE2_SPTR codeUnits(std::string_view text) {
  return reinterpret_cast<PCRE2_SPTR>(text.data());
}

}  // namespace

struct TextPattern::Compiled {
  Owned<pcre2_code> code;
};

TextPattern TextPattern::exactly(std::string text) {
  require(!text.empty(), "the string to search for is empty");
  TextPattern pattern;
  pattern.text_ = std::move(text);
  return pattern;
}

Result<TextPattern> TextPattern::expression(std::string_view expression) {
  if (expression.size() > kLongestExpression)
    return Error{fmt::format("the expression has {} bytes, expected at most {}", expression.size(),
                             kLongestExpression)};
  const auto translated = pcre2Expression(expression);
  if (!translated) return translated.error();
  const auto context = owned(pcre2_compile_context_create(nullptr));
  pcre2_set_newline(context.get(), PCRE2_NEWLINE_LF);
  int code = 0;
  PCRE2_SIZE at = 0;
  Owned<pcre2_code> compiled(pcre2_compile(codeUnits(*translated), translated->size(),
                                           PCRE2_UTF | PCRE2_UCP | PCRE2_NEVER_BACKSLASH_C, &code, &at,
                                           context.get()));
  if (!compiled)
    return Error{
        fmt::format("the expression {} can't be read: {}", quotedText(expression), pcre2Message(code))};
  // If the system denies executable memory, the interpreter runs the expression.
  (void)pcre2_jit_compile(compiled.get(), PCRE2_JIT_COMPLETE | PCRE2_JIT_PARTIAL_HARD);
  TextPattern pattern;
  pattern.text_ = expression;
  pattern.compiled_ = std::make_shared<const Compiled>(Compiled{std::move(compiled)});
  return pattern;
}

Result<TextPattern> TextPattern::read(const JsonValue& component, const std::string& where) {
  FieldReader fields(component, where);
  const JsonValue& pattern = fields.object("pattern");
  if (fields.error()) return *fields.error();
  FieldReader kind(pattern, where + ".pattern");
  if (const JsonValue* text = pattern.find("String"); text && text->kind == JsonValue::Kind::text) {
    if (text->text.empty()) return Error{where + ": searches for an empty string"};
    return exactly(text->text);
  }
  const std::string expression = kind.text("Regex");
  if (kind.error()) return *kind.error();
  auto made = TextPattern::expression(expression);
  if (!made) return Error{where + ": " + made.error().message};
  return made;
}

namespace {

/// A search begins with few bytes and few steps, and gets eight times as many whenever these are too few. The
/// first attempt is free; the total for later ones is proportional to the text.
constexpr std::size_t kFirstWindow = 256, kGrowth = 8, kAllowancePerByte = 64,
                      kAllowance = std::size_t{1} << 26;
constexpr std::size_t kStepsPerByte = 16;  // steps that a match may take per byte it may look at
constexpr std::size_t kJitStack = std::size_t{8} << 20;

}  // namespace

struct PatternFinder::Search {
  Owned<pcre2_match_data> data;
  Owned<pcre2_match_context> context;
  Owned<pcre2_jit_stack> stack;  // made once the default one is too small
};

PatternFinder::PatternFinder(const TextPattern& pattern) : pattern_(pattern) {
  if (!pattern.compiled_) return;
  search_ = std::make_unique<Search>();
  search_->data = owned(pcre2_match_data_create(1, nullptr));
  search_->context = owned(pcre2_match_context_create(nullptr));
  constexpr std::uint32_t kHeapKibibytes = 64 << 10;
  pcre2_set_heap_limit(search_->context.get(), kHeapKibibytes);
}

PatternFinder::~PatternFinder() = default;

Error PatternFinder::exploded() const {
  return {fmt::format("the expression {} takes too many steps on this text", quotedText(pattern_.text_))};
}

Status PatternFinder::find(std::string_view text, std::vector<ByteRange>& matches,
                           const std::stop_token& stop) {
  matches.clear();
  const auto keep = [&](ByteRange match) {
    matches.push_back(match);
    return success();
  };
  return find(text, keep, stop);
}

Status PatternFinder::find(std::string_view text, const Take& take, const std::stop_token& stop) {
  if (pattern_.compiled_) return findExpression(text, take, stop);
  const std::string& wanted = pattern_.text_;
  std::size_t count = 0;
  for (std::size_t at = 0; (at = text.find(wanted, at)) != std::string_view::npos; at += wanted.size()) {
    if (++count % 4096 == 0 && stop.stop_requested()) return stopped();
    if (const auto status = take({at, at + wanted.size()}); !status) return status;
  }
  return success();
}

Status PatternFinder::findExpression(std::string_view text, const Take& take, const std::stop_token& stop) {
  std::size_t allowance = kAllowance + kAllowancePerByte * text.size();
  std::size_t at = 0, window = kFirstWindow;
  std::optional<std::size_t> lastEnd;
  for (std::size_t round = 0; at <= text.size(); ++round) {
    if (round % 256 == 255 && stop.stop_requested()) return stopped();
    // Don't cut through a character.
    std::size_t end = text.size() - at <= window ? text.size() : at + window;
    while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) ++end;
    steps_ += end - at;
    const std::size_t steps = std::min<std::size_t>(kStepsPerByte * window, 0xFFFF'FFFF);
    pcre2_set_match_limit(search_->context.get(), static_cast<std::uint32_t>(steps));
    // The text is known to be UTF-8.
    std::uint32_t options = PCRE2_NO_UTF_CHECK;
    if (end < text.size()) options |= PCRE2_PARTIAL_HARD;
    const int code = pcre2_match(pattern_.compiled_->code.get(), codeUnits(text), end, at, options,
                                 search_->data.get(), search_->context.get());
    if (code == PCRE2_ERROR_NOMATCH) {
      // No match begins before the end of the window: it would have been a partial one.
      if (end == text.size()) return success();
      at = end;
      continue;
    }
    if (code == PCRE2_ERROR_PARTIAL || code == PCRE2_ERROR_MATCHLIMIT) {
      // Once the window exceeds the text, only the steps can be too few.
      if (window > kGrowth * std::max(text.size(), kFirstWindow * kGrowth * kGrowth)) return exploded();
      window *= kGrowth;
      const std::size_t cost = code == PCRE2_ERROR_MATCHLIMIT ? window : std::min(window, text.size() - at);
      if (cost > allowance) return exploded();
      allowance -= cost;
      continue;
    }
    if (code == PCRE2_ERROR_JIT_STACKLIMIT && !search_->stack) {
      search_->stack = owned(pcre2_jit_stack_create(kJitStack / 8, kJitStack, nullptr));
      pcre2_jit_stack_assign(search_->context.get(), nullptr, search_->stack.get());
      continue;
    }
    if (code < 0)
      return Error{fmt::format("the expression {} fails on this text: {}", quotedText(pattern_.text_),
                               pcre2Message(code))};
    window = kFirstWindow;
    const PCRE2_SIZE* found = pcre2_get_ovector_pointer(search_->data.get());
    const ByteRange match{found[0], found[1]};
    at = match.end;
    if (match.begin >= match.end && lastEnd == match.end) {
      // An empty match right after another match doesn't count.
      do ++at;
      while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80);
      continue;
    }
    lastEnd = match.end;
    if (const auto status = take(match); !status) return status;
  }
  return success();
}

}  // namespace headscope::attention
