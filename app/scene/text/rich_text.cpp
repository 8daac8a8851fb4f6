#include "app/scene/text/rich_text.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <optional>

#include "attention/formats/quote.h"

namespace headscope::app {

using attention::Error;
using attention::Result;
using SpanKind = RichSpan::Kind;

namespace {

std::optional<SpanKind> kindNamed(std::string_view name) {
  constexpr std::array<std::pair<std::string_view, SpanKind>, 4> kKinds{{{"query", SpanKind::query},
                                                                         {"key", SpanKind::key},
                                                                         {"value", SpanKind::value},
                                                                         {"mark", SpanKind::mark}}};
  for (const auto& [word, kind] : kKinds)
    if (word == name) return kind;
  return std::nullopt;
}

class RichParser {
 public:
  explicit RichParser(std::string_view text) : text_(text) {}

  Result<RichText> parse() {
    while (at_ < text_.size() && error_.empty()) step();
    flush();
    endParagraph();
    if (boldFrom_) fail(fmt::format("** at {} doesn't close", here(*boldFrom_)));
    if (!error_.empty()) return Error{error_};
    return std::move(all_);
  }

 private:
  void fail(std::string what) {
    if (error_.empty()) error_ = std::move(what);
  }
  /// Quotes the beginning of the wrong part, so that people can find it.
  std::string here(std::size_t from) const {
    return attention::quotedText(text_.substr(from, std::min<std::size_t>(24, text_.size() - from)));
  }

  void flush() {
    if (words_.empty()) return;
    paragraph_.push_back({boldFrom_ ? SpanKind::bold : SpanKind::plain, std::exchange(words_, {}), nullptr});
  }
  void endParagraph() {
    if (!paragraph_.empty()) all_.push_back(std::exchange(paragraph_, {}));
  }

  void step() {
    const char c = text_[at_];
    if (c == '\\' && at_ + 1 < text_.size()) {
      words_ += text_[at_ + 1];
      at_ += 2;
    } else if (c == '\n') {
      newLine();
    } else if (c == '`') {
      between("`", SpanKind::code);
    } else if (text_.substr(at_, 2) == "**") {
      flush();
      boldFrom_ = boldFrom_ ? std::nullopt : std::optional(at_);
      at_ += 2;
    } else if (c == '$') {
      between("$", SpanKind::formula);
    } else if (c == '[') {
      coloured();
    } else {
      words_ += c;
      ++at_;
    }
  }

  void newLine() {
    std::size_t lines = 0;
    while (at_ < text_.size() && (text_[at_] == '\n' || text_[at_] == ' ')) lines += text_[at_++] == '\n';
    if (lines == 1) {
      words_ += ' ';
      return;
    }
    flush();
    endParagraph();
  }

  void between(std::string_view sign, SpanKind kind) {
    const std::size_t start = at_ + sign.size(), end = text_.find(sign, start);
    if (end == std::string_view::npos) return fail(fmt::format("{} at {} doesn't close", sign, here(at_)));
    flush();
    RichSpan span{kind, std::string(text_.substr(start, end - start)), nullptr};
    at_ = end + sign.size();
    if (kind == SpanKind::formula) {
      Result<FormulaNode> formula = parseFormula(span.text);
      if (!formula) return fail(formula.error().message);
      span.formula = std::make_shared<const FormulaNode>(*std::move(formula));
    }
    paragraph_.push_back(std::move(span));
  }

  /// Reads [words](query). A bracket without a word in parentheses after it is a literal bracket.
  void coloured() {
    if (lastClose_ != std::string_view::npos && lastClose_ <= at_) lastClose_ = text_.find(']', at_);
    const std::size_t close = lastClose_;
    if (close == std::string_view::npos || close + 1 >= text_.size() || text_[close + 1] != '(') {
      words_ += text_[at_++];
      return;
    }
    const std::size_t end = text_.find(')', close);
    if (end == std::string_view::npos) return fail(fmt::format("( at {} doesn't close", here(at_)));
    const std::string_view name = text_.substr(close + 2, end - close - 2);
    const auto kind = kindNamed(name);
    if (!kind)
      return fail(
          fmt::format("{} follows […], expected query, key, value or mark", attention::quotedText(name)));
    flush();
    paragraph_.push_back({*kind, std::string(text_.substr(at_ + 1, close - at_ - 1)), nullptr});
    at_ = end + 1;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::optional<std::size_t> boldFrom_;  ///< where the bold type began
  std::size_t lastClose_ = 0;  ///< the next closing bracket, as far as searched; npos = there is none
  std::string words_, error_;
  std::vector<RichSpan> paragraph_;
  RichText all_;
};

}  // namespace

Result<RichText> parseRichText(std::string_view text) {
  return RichParser(text).parse();
}

using Kind = FormulaNode::Kind;

namespace {

constexpr int kMaxDepth = 16;

FormulaNode symbol(std::string text) {
  return {Kind::symbol, std::move(text), {}};
}

std::size_t characterBytes(unsigned char first) {
  return first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
}

/// Adds spaces around the last sign of a row if it joins the nodes on both sides; a sign before a number, as
/// in "−2", gets none.
void spaceOut(std::vector<FormulaNode>& row) {
  constexpr std::string_view kRelations = "=<>≤≥≠≈→∈", kOperators = "+−±·×÷", kOpening = "([⌊,";
  FormulaNode& sign = row.back();
  const bool relation = kRelations.find(sign.text) != std::string_view::npos;
  if (sign.kind != Kind::symbol || sign.text.empty() ||
      (!relation && kOperators.find(sign.text) == std::string_view::npos))
    return;
  const auto opens = [&](const FormulaNode& before) {
    return before.kind == Kind::symbol && !before.text.empty() &&
           (before.text.back() == ' ' || kOpening.find(before.text) != std::string_view::npos);
  };
  const bool joins = row.size() > 1 && !opens(row[row.size() - 2]);
  if (joins) sign.text.insert(0, " ");
  if (joins || relation) sign.text += ' ';
}

/// Reads one formula. After an error, the returned nodes are meaningless.
class FormulaParser {
 public:
  explicit FormulaParser(std::string_view text) : text_(text) {}

  Result<FormulaNode> parse() {
    FormulaNode all = row(0);
    if (error_.empty() && at_ < text_.size()) fail("has a } that nothing opens");
    if (!error_.empty()) return Error{error_};
    return all;
  }

 private:
  void fail(const std::string& what) {
    if (error_.empty())
      error_ =
          fmt::format("the formula ${}$ {} at character {}", attention::quotedText(text_), what, at_ + 1);
  }
  bool done() const { return at_ >= text_.size() || !error_.empty(); }
  bool takes(char wanted) {
    if (done() || text_[at_] != wanted) return false;
    ++at_;
    return true;
  }

  /// Reads up to a closing brace or the end.
  FormulaNode row(int depth) {
    FormulaNode all;
    if (depth > kMaxDepth) fail(fmt::format("is nested more than {} deep", kMaxDepth));
    while (!done() && text_[at_] != '}') {
      if (text_[at_] == ' ') {
        ++at_;
        continue;
      }
      if (text_[at_] == '^' || text_[at_] == '_') {
        scripts(all, depth);
        continue;
      }
      all.children.push_back(atom(depth));
      spaceOut(all.children);
    }
    return all;
  }

  /// Reads the subscript or superscript of the last node.
  void scripts(FormulaNode& all, int depth) {
    const bool up = text_[at_++] == '^';
    if (all.children.empty()) return fail("has nothing in front of ^ or _");
    FormulaNode& last = all.children.back();
    if (last.kind != Kind::scripts && last.kind != Kind::sum) {
      FormulaNode base = std::move(last);
      last = {Kind::scripts, "", {std::move(base), {}, {}}};
    }
    const std::size_t first = last.kind == Kind::scripts ? 1 : 0;
    FormulaNode& place = last.children[first + (up ? 1 : 0)];
    if (!place.empty()) return fail("has two of ^ or _");
    place = argument(depth);
  }

  /// Reads a group in braces, or one sign.
  FormulaNode argument(int depth) {
    if (depth > kMaxDepth) fail(fmt::format("is nested more than {} deep", kMaxDepth));
    while (takes(' ')) {
    }
    if (done()) {
      fail("ends where something is expected");
      return {};
    }
    FormulaNode only;
    if (text_[at_] != '{') {
      only.children.push_back(atom(depth));
      return only;
    }
    return group(depth);
  }

  FormulaNode group(int depth) {
    if (!takes('{')) {
      fail("lacks a {");
      return {};
    }
    FormulaNode inside = row(depth + 1);
    if (!takes('}')) fail("has a { that doesn't close");
    return inside;
  }

  FormulaNode atom(int depth) {
    const char c = text_[at_];
    if (c == '{') return group(depth);
    if (c == '\\') return command(depth);
    if (c >= '0' && c <= '9') {
      const std::size_t start = at_;
      while (at_ < text_.size() && ((text_[at_] >= '0' && text_[at_] <= '9') || text_[at_] == '.' ||
                                    (text_[at_] == ',' && at_ + 1 < text_.size() && text_[at_ + 1] >= '0' &&
                                     text_[at_ + 1] <= '9')))
        ++at_;
      return symbol(std::string(text_.substr(start, at_ - start)));
    }
    const std::size_t bytes = characterBytes(static_cast<unsigned char>(c));
    std::string sign(text_.substr(at_, bytes));
    at_ += bytes;
    if (sign == "-") sign = "−";
    if (sign == "*") sign = "·";
    return symbol(std::move(sign));
  }

  FormulaNode command(int depth) {
    const std::size_t start = at_++;
    while (at_ < text_.size() &&
           ((text_[at_] >= 'a' && text_[at_] <= 'z') || (text_[at_] >= 'A' && text_[at_] <= 'Z')))
      ++at_;
    const std::string_view name = text_.substr(start, at_ - start);
    if (name == "\\frac") {
      FormulaNode above = argument(depth + 1), below = argument(depth + 1);
      return {Kind::fraction, "", {std::move(above), std::move(below)}};
    }
    if (name == "\\sqrt") return {Kind::root, "", {argument(depth + 1)}};
    if (name == "\\sum") return {Kind::sum, "Σ", {{}, {}}};
    if (name == "\\text") return words();
    for (const FormulaSign& sign : formulaSigns())
      if (sign.name == name) return symbol(std::string(sign.text));
    at_ = start;
    fail(fmt::format("has {}, which isn't known,", name.size() > 1 ? std::string(name) : "a lone \\"));
    return {};
  }

  /// Reads the text in the braces of \text, including spaces.
  FormulaNode words() {
    const std::size_t end = takes('{') ? text_.find('}', at_) : std::string_view::npos;
    if (end == std::string_view::npos) {
      fail("has \\text without {…}");
      return {};
    }
    FormulaNode all = symbol(std::string(text_.substr(at_, end - at_)));
    at_ = end + 1;
    return all;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::string error_;
};

}  // namespace

const std::vector<FormulaSign>& formulaSigns() {
  static const std::vector<FormulaSign> kSigns{
      {"\\cdot", " · "},   {"\\times", " × "},       {"\\div", " ÷ "},
      {"\\le", " ≤ "},     {"\\ge", " ≥ "},          {"\\ne", " ≠ "},
      {"\\approx", " ≈ "}, {"\\to", " → "},          {"\\infty", "∞"},
      {"\\in", " ∈ "},     {"\\ln", "ln "},          {"\\log", "log "},
      {"\\exp", "exp "},   {"\\max", "max "},        {"\\min", "min "},
      {"\\alpha", "α"},    {"\\beta", "β"},          {"\\gamma", "γ"},
      {"\\delta", "δ"},    {"\\Delta", "Δ"},         {"\\sigma", "σ"},
      {"\\theta", "θ"},    {"\\lambda", "λ"},        {"\\mu", "μ"},
      {"\\pi", "π"},       {"\\epsilon", "ε"},       {"\\top", "ᵀ"},
      {"\\dots", "…"},     {"\\softmax", "softmax"}, {"\\quad", "   "},
      {"\\lfloor", "⌊"},   {"\\rfloor", "⌋"},        {"\\Vert", "‖"},
      {"\\leq", " ≤ "},    {"\\geq", " ≥ "},         {"\\neq", " ≠ "},
      {"\\pm", " ± "},     {"\\mod", " mod "},       {"\\left", ""},
      {"\\right", ""},
  };
  return kSigns;
}

Result<FormulaNode> parseFormula(std::string_view text) {
  return FormulaParser(text).parse();
}

}  // namespace headscope::app
