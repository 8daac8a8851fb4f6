#include "attention/models/tokenizer/pattern.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <fmt/core.h>
#include <pcre2.h>

#include <algorithm>
#include <array>
#include <optional>

#include "attention/core/result.h"
#include "attention/formats/quote.h"

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
  Owned<pcre2_code> counted;  // the same, calling back before each of its items
};

namespace {

constexpr std::uint32_t kCompileOptions = PCRE2_UTF | PCRE2_UCP | PCRE2_NEVER_BACKSLASH_C;

Result<Owned<pcre2_code>> compilePattern(std::string_view expression, const std::string& translated,
                                         std::uint32_t options) {
  const auto context = owned(pcre2_compile_context_create(nullptr));
  pcre2_set_newline(context.get(), PCRE2_NEWLINE_LF);
  int code = 0;
  PCRE2_SIZE at = 0;
  Owned<pcre2_code> compiled(
      pcre2_compile(codeUnits(translated), translated.size(), options, &code, &at, context.get()));
  if (compiled) return compiled;
  return Error{
      fmt::format("the expression {} can't be read: {}", quotedText(expression), pcre2Message(code))};
}

}  // namespace

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
  auto compiled = compilePattern(expression, *translated, kCompileOptions);
  if (!compiled) return compiled.error();
  auto counted =
      compilePattern(expression, *translated, kCompileOptions | PCRE2_AUTO_CALLOUT | PCRE2_NO_START_OPTIMIZE);
  if (!counted) return counted.error();
  // If the system denies executable memory, the interpreter runs the expression.
  (void)pcre2_jit_compile(compiled->get(), PCRE2_JIT_COMPLETE | PCRE2_JIT_PARTIAL_HARD);
  TextPattern pattern;
  pattern.text_ = expression;
  pattern.compiled_ = std::make_shared<const Compiled>(Compiled{*std::move(compiled), *std::move(counted)});
  return pattern;
}

std::optional<TextPattern> TextPattern::read(FieldReader& component) {
  FieldReader pattern = component.inside("pattern");
  if (!component.status()) return std::nullopt;
  if (const JsonValue* text = pattern.object().find("String"); text && text->kind == JsonValue::Kind::text) {
    if (!text->text.empty()) return exactly(text->text);
    component.fail("searches for an empty string");
    return std::nullopt;
  }
  const std::string expression = pattern.text("Regex");
  component.take(pattern.status());
  if (!component.status()) return std::nullopt;
  auto made = TextPattern::expression(expression);
  if (made) return *std::move(made);
  component.fail(made.error().message);
  return std::nullopt;
}

namespace {

/// Searches look at so many bytes at a time, and may take so many steps in them. A match that needs more is
/// tried where it begins, with its steps counted; all of these together may take kAllowance steps and
/// kAllowancePerByte for each byte searched.
constexpr std::size_t kSearchWindow = 256, kStepsInWindow = 16 * kSearchWindow, kAllowancePerByte = 16,
                      kAllowance = std::size_t{1} << 24;
/// The cost of a search that ran out of steps: each step may pass over the window.
constexpr std::size_t kCostOfWindow = std::size_t{1} << 16;
constexpr std::size_t kStepsBetweenStops = 4096;

/// The steps of a match: the items of the expression that are tried, and the bytes that they pass over.
struct StepCounter {
  std::size_t allowance = kAllowance, used = 0, asked = 0, last = 0;
  const std::stop_token* stop = nullptr;
  bool halted = false;

  bool spend(std::size_t steps) {
    used += steps;
    const bool enough = steps <= allowance;
    allowance -= enough ? steps : allowance;
    return enough;
  }

  /// Called by PCRE2 before each item.
  static int count(pcre2_callout_block* block, void* data) {
    StepCounter& counter = *static_cast<StepCounter*>(data);
    const std::size_t at = block->current_position;
    const std::size_t passed = at > counter.last ? at - counter.last : counter.last - at;
    counter.last = at;
    if (!counter.spend(1 + passed)) return PCRE2_ERROR_CALLOUT;
    if (counter.used - counter.asked > kStepsBetweenStops) {
      counter.asked = counter.used;
      counter.halted = counter.stop->stop_requested();
    }
    return counter.halted ? PCRE2_ERROR_CALLOUT : 0;
  }
};

std::size_t nextCharacter(std::string_view text, std::size_t at) {
  do ++at;
  while (at < text.size() && continuesCharacter(text[at]));
  return at;
}

}  // namespace

struct PatternFinder::Search {
  Owned<pcre2_match_data> data;
  Owned<pcre2_match_context> context;
  StepCounter counter;

  /// Tries the expression at `at` only, looking at the rest of the text as far as it needs to.
  int matchAt(const pcre2_code* code, std::string_view text, std::size_t at) {
    counter.last = at;
    pcre2_set_match_limit(context.get(), 0xFFFF'FFFF);
    return pcre2_match(code, codeUnits(text), text.size(), at, PCRE2_NO_UTF_CHECK | PCRE2_ANCHORED,
                       data.get(), context.get());
  }
};

PatternFinder::PatternFinder(const TextPattern& pattern) : pattern_(pattern) {
  if (!pattern.compiled_) return;
  search_ = std::make_unique<Search>();
  search_->data = owned(pcre2_match_data_create(1, nullptr));
  search_->context = owned(pcre2_match_context_create(nullptr));
  constexpr std::uint32_t kHeapKibibytes = 64 << 10;
  pcre2_set_heap_limit(search_->context.get(), kHeapKibibytes);
  pcre2_set_callout(search_->context.get(), &StepCounter::count, &search_->counter);
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
  StepCounter& counter = search_->counter;
  counter.allowance += kAllowancePerByte * text.size();
  counter.stop = &stop;
  std::size_t at = 0;
  std::optional<std::size_t> lastEnd;
  for (std::size_t round = 1; at <= text.size(); ++round) {
    if (round % 64 == 0 && stop.stop_requested()) return stopped();
    // Don't cut through a character.
    std::size_t end = text.size() - at <= kSearchWindow ? text.size() : at + kSearchWindow;
    while (end < text.size() && continuesCharacter(text[end])) ++end;
    steps_ += end - at;
    pcre2_set_match_limit(search_->context.get(), kStepsInWindow);
    // The text is known to be UTF-8.
    std::uint32_t options = PCRE2_NO_UTF_CHECK;
    if (end < text.size()) options |= PCRE2_PARTIAL_HARD;
    int code = pcre2_match(pattern_.compiled_->code.get(), codeUnits(text), end, at, options,
                           search_->data.get(), search_->context.get());
    const PCRE2_SIZE* const found = pcre2_get_ovector_pointer(search_->data.get());
    if (code == PCRE2_ERROR_NOMATCH) {
      // No match begins before the end of the window: it would have been a partial one.
      if (end == text.size()) return success();
      at = end;
      continue;
    }
    if (code == PCRE2_ERROR_PARTIAL || code == PCRE2_ERROR_MATCHLIMIT || code == PCRE2_ERROR_JIT_STACKLIMIT) {
      // Nothing matches before the partial match.
      if (code == PCRE2_ERROR_PARTIAL) at = found[0];
      if (code != PCRE2_ERROR_PARTIAL && !counter.spend(kCostOfWindow)) return exploded();
      const std::size_t before = counter.used;
      code = search_->matchAt(pattern_.compiled_->counted.get(), text, at);
      steps_ += counter.used - before;
      if (code == PCRE2_ERROR_NOMATCH) {
        at = nextCharacter(text, at);
        continue;
      }
    }
    if (counter.halted) return stopped();
    if (code == PCRE2_ERROR_CALLOUT || code == PCRE2_ERROR_HEAPLIMIT) return exploded();
    if (code < 0)
      return Error{fmt::format("the expression {} fails on this text: {}", quotedText(pattern_.text_),
                               pcre2Message(code))};
    const ByteRange match{found[0], found[1]};
    at = match.end;
    if (match.begin >= match.end && lastEnd == match.end) {
      // An empty match right after another match doesn't count.
      at = nextCharacter(text, at);
      continue;
    }
    lastEnd = match.end;
    if (const auto status = take(match); !status) return status;
  }
  return success();
}

}  // namespace headscope::attention
