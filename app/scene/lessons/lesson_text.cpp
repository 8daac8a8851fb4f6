#include <fmt/core.h>

#include <cmath>

#include "app/scene/lessons/lesson.h"
#include "app/scene/text/number_text.h"
#include "attention/formats/quote.h"
#include "attention/text/ascii.h"

namespace headscope::app {

using attention::Array;
using attention::Error;
using attention::Expression;
using attention::Index;
using attention::Result;

namespace {

constexpr Index kMaxListed = 16;

Result<NumberFormatText> parseFormat(std::string_view text) {
  using Kind = NumberFormatText::Kind;
  NumberFormatText format;
  const std::string whole(text);
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    if (text.empty() || text.front() < '0' || text.front() > '9')
      return Error{"the format " + attention::quotedText(whole) + " has no digit after the point"};
    format.digits = text.front() - '0';
    format.kind = Kind::decimals;
    text.remove_prefix(1);
  }
  if (text.empty() && format.digits >= 0) return format;
  if (text == "word" && format.digits < 0)
    format.kind = Kind::word;
  else if (text == "%")
    format.kind = Kind::percent;
  else if (text == "," && format.digits < 0)
    format.kind = Kind::thousands;
  else if (text == "B" && format.digits < 0)
    format.kind = Kind::bytes;
  else
    return Error{"the format is " + attention::quotedText(whole) +
                 ", expected .2 (digits), a comma, %, B or word"};
  return format;
}

/// The position of the colon before the format, or the end. A colon of a slice or in quotes is followed by a
/// closing character, which no format has.
std::size_t formatBegin(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  const bool inside =
      colon != std::string_view::npos && text.find_first_of("])\"'", colon) != std::string_view::npos;
  return inside ? text.size() : std::min(colon, text.size());
}

Result<LessonText::Piece> parseValue(std::string_view text) {
  const std::size_t colon = formatBegin(text);
  const auto named = [&](const Error& error) {
    return Error{attention::quotedText("{" + std::string(text) + "}") + ": " + error.message};
  };
  auto value = Expression::parse(text.substr(0, colon));
  if (!value) return named(value.error());
  LessonText::Piece piece;
  piece.value = *std::move(value);
  if (colon == text.size()) return piece;
  const auto format = parseFormat(text.substr(colon + 1));
  if (!format) return named(format.error());
  piece.format = *format;
  return piece;
}

}  // namespace

Result<LessonText> LessonText::parse(std::string_view text) {
  LessonText parsed;
  std::string literal;
  bool formula = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '\\' && at + 1 < text.size()) {
      const char next = text[at + 1];
      const bool brace = !formula && (next == '{' || next == '}');
      if (!brace) literal += c;
      literal += next;
      ++at;
    } else if (c == '$') {
      formula = !formula;
      literal += c;
    } else if (formula) {
      literal += c;
    } else if (c == '{') {
      const std::size_t end = text.find('}', at);
      if (end == std::string_view::npos)
        return Error{
            fmt::format("the brace at byte {} isn't closed; a brace itself is written \\{{", at + 1)};
      auto piece = parseValue(text.substr(at + 1, end - at - 1));
      if (!piece) return piece.error();
      piece->literal = std::move(literal);
      literal.clear();
      parsed.pieces_.push_back(*std::move(piece));
      at = end;
    } else if (c == '}') {
      return Error{
          fmt::format("the brace at byte {} closes nothing; a brace itself is written \\}}", at + 1)};
    } else {
      literal += c;
    }
  }
  if (!literal.empty()) parsed.pieces_.push_back({std::move(literal), std::nullopt, {}});
  return parsed;
}

namespace {

/// "1,048,576": a whole number with the style's marks.
std::string withThousands(double value) {
  const double whole = std::trunc(std::abs(value));
  if (whole >= 1e15) return numberText(value);
  std::string text = countText(static_cast<std::uint64_t>(whole));
  const double rest = std::abs(value) - whole;
  if (rest > 1e-9 && whole < 1000) return numberText(value);
  return (value < 0 && whole > 0 ? "−" : "") + text;
}

}  // namespace

std::string formatNumber(double value, const NumberFormatText& format) {
  using Kind = NumberFormatText::Kind;
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "∞" : "−∞";
  switch (format.kind) {
    case Kind::decimals:
      return fixedText(value, format.digits);
    case Kind::thousands:
      return withThousands(std::round(value));
    case Kind::percent:
      return format.digits < 0 ? percentText(value) : fixedText(100 * value, format.digits) + " %";
    case Kind::bytes:
      return value < 0 ? "−" + fourDigitBytes(-value) : fourDigitBytes(value);
    case Kind::plain:
    case Kind::word:
      break;
  }
  const bool whole = std::abs(value - std::round(value)) < 1e-9 && std::abs(value) < 1e15;
  return whole ? fixedText(std::round(value), 0) : numberText(value);
}

Result<std::string> LessonText::filled(const Evaluate& evaluate, std::span<const std::string> words) const {
  std::string text;
  for (const Piece& piece : pieces_) {
    text += shownProse(piece.literal);
    if (!piece.value) continue;
    const auto named = [&](const std::string& what) {
      return Error{attention::quotedText("{" + piece.value->text() + "}") + ": " + what};
    };
    const auto value = evaluate(*piece.value);
    if (!value) return named(value.error().message);
    if (value->rank() > 1 || value->size() > kMaxListed || value->size() == 0)
      return named(fmt::format("this has the shape {}, expected a number, or a list of up to {}",
                               attention::shapeText(value->shape()), kMaxListed));
    std::string list;
    for (const double each : value->values()) {
      const bool word = piece.format.kind == NumberFormatText::Kind::word;
      if (word && !(each >= 0 && each < static_cast<double>(words.size())))
        return named(fmt::format("{} is not the position of a word, expected 0 to {}", formatNumber(each, {}),
                                 std::ssize(words) - 1));
      list += list.empty() ? "" : ", ";
      list += word ? fmt::format("“{}” ({:.0f})", words[static_cast<std::size_t>(each)], each)
                   : formatNumber(each, piece.format);
    }
    text += list;
  }
  return text;
}

namespace {

constexpr LessonName kNames[] = {
    {"W", "[heads, n, m]", "The weights, as softmax makes them."},
    {"S", "[heads, n, m]", "The scores before the softmax; −inf where the mask hides a key."},
    {"L", "[heads, n]", "Log-sum-exp of each row's scores; −inf if the row sees no key."},
    {"O", "[heads, n, head_dim]", "The heads' outputs, Σ weight · value."},
    {"Y", "[n, model_dim]", "The layer's output."},
    {"X", "[n, model_dim]", "Input of the query projection."},
    {"ids", "[n]", "The tokens' ids in the opened model's vocabulary."},
    {"E", "[n, model_dim]", "The vectors before the opened model's first layer, before its norm."},
    {"q", "[heads, n, head_dim]", "Queries by head, rotated under RoPE."},
    {"k", "[kv_heads, m, head_dim]", "Keys by kv head, rotated under RoPE."},
    {"v", "[kv_heads, m, head_dim]", "Values by kv head."},
    {"W_Q", "[heads, model_dim, head_dim]",
     "Each head's query projection, q = X·W_Q; synthetic layers only."},
    {"W_K", "[kv_heads, model_dim, head_dim]", "The same for keys."},
    {"W_V", "[kv_heads, model_dim, head_dim]", "The same for values."},
    {"W_O", "[heads, head_dim, model_dim]", "Each head's output projection; Y is the sum over heads."},
    {"seen", "[heads, n, m]", "1 where the mask lets a query see a key, else 0."},
    {"i", "[n, 1]", "The queries' positions, for conditions such as j <= i."},
    {"j", "[m]", "The keys' positions."},
    {"n", "", "Queries of a line, padding included."},
    {"m", "", "Keys of a line."},
    {"lines", "", "Lines of the batch."},
    {"lengths", "[lines]", "Tokens of each line without padding."},
    {"heads", "", "Query heads."},
    {"kv_heads", "", "Heads that have keys and values."},
    {"head_dim", "", "Size of a head."},
    {"model_dim", "", "Size of a token's vector."},
    {"layers", "", "Number of layers, of the model or synthetic."},
    {"visible", "", "Visible cells of the current head, in the line shown."},
    {"parameters", "", "Parameters of the layer."},
    {"step", "", "Tokens in the cache: those decoded so far, or all if nothing decodes."},
    {"bytes", "", "Bytes of the cache at that step, all lines."},
    {"bytes_per_token", "", "Bytes that a token adds to a line's cache."},
    {"mha_bytes", "", "Bytes of the cache at that step as MHA."},
    {"flops", "", "Operations of that step with the cache, for the line shown."},
    {"flops_without", "", "The same without the cache, for all tokens up to that step."},
    {"A", "[layers, heads, n, n]", "The weights of all layers, of the opened model or synthetic."},
    {"wrong.W", "[heads, n, m]",
     "The weights with the mistake shown on Lab; [1, n, m] for its random layer."},
    {"right.W", "[heads, n, m]", "The weights without the mistake."},
    {"wrong.raises", "", "1 if the mistake's shapes don't match, which is an error."},
    {"cost.tokens", "", "Tokens on the cost page."},
    {"cost.layers", "", "Layers of its model."},
    {"cost.kv_heads", "", "KV heads of its model."},
    {"cost.model_dim", "", "Size of a token's vector in its model."},
    {"cost.bytes", "", "Bytes of the cache."},
    {"cost.mha_bytes", "", "Bytes of the cache as MHA."},
    {"cost.global_bytes", "", "Bytes of the cache if every layer kept all tokens."},
    {"cost.weight_bytes", "", "Bytes of the model's weights."},
    {"cost.parameters", "", "Parameters of the model."},
    {"cost.projection_flops", "", "Operations of the prefill: Q, K, V and W_O."},
    {"cost.feed_forward_flops", "", "Operations of the prefill: the feed-forward part."},
    {"cost.attention_flops_all", "", "The same for all n² pairs."},
    {"cost.overtakes_projections", "", "Tokens from which n² pairs cost more than the projections."},
    {"answer.difference", "",
     "Logit of the answer minus that of the other answer, after the last token of text A."},
    {"answer.other_difference", "", "The same after text B."},
    {"answer.patched", "[layers, heads]",
     "The share of A's logit difference that each head's output restores in B, or the reverse."},
    {"answer.together", "", "The same for all kept patches together."},
    {"answer.attribution", "[layers, heads]", "What each head adds to A's logit difference."},
    {"answer.sum", "", "The sum over all pieces of A."},
    {"cache_bytes(layers, kv_heads, head_dim, tokens, batch, bytes)", "",
     "2 · layers · kv_heads · head_dim · tokens · batch · bytes."},
    {"matrix_bytes(tokens, layers, heads)", "",
     "Bytes of attention matrices in 32 bits: tokens² · 4 · layers · heads."},
    {"mask_density(tokens)", "", "Share of visible cells in the scene's mask for that many tokens."},
    {"blocks_saved(tokens, block)", "", "Share of blocks that the mask leaves empty for that many tokens."},
    {"probability(position, \"token\")", "", "The probability of that token after a position."},
    {"guess_rank(position, \"token\")", "", "1 for the most likely token after a position, 2 for the next."}};

/// Names that lessons could use once, and no bundled lesson did.
constexpr std::string_view kFormerNames[] = {"Q",
                                             "K",
                                             "V",
                                             "context",
                                             "dropped",
                                             "loss",
                                             "wrong.S",
                                             "right.S",
                                             "cost.batch",
                                             "cost.heads",
                                             "cost.head_dim",
                                             "cost.bytes_per_token",
                                             "cost.mqa_bytes",
                                             "cost.attention_flops",
                                             "cost.prefill_flops",
                                             "cost.decode_flops",
                                             "cost.overtakes_all",
                                             "pi",
                                             "true",
                                             "false",
                                             "argmin",
                                             "ceil",
                                             "cumsum",
                                             "mod",
                                             "round"};

/// The name without what may be a step's id: "cost.bytes" for "open.cost.bytes".
std::string_view lastWord(std::string_view written) {
  const std::size_t point = written.find('.');
  return point == std::string_view::npos ? written : written.substr(point + 1);
}

}  // namespace

const LessonName* findLessonName(std::string_view word, bool function) {
  const auto found = std::find_if(std::begin(kNames), std::end(kNames), [&](const LessonName& name) {
    return name.function() == function && name.word() == word;
  });
  return found == std::end(kNames) ? nullptr : &*found;
}

SplitName splitLessonName(std::string_view written, bool function) {
  if (const LessonName* own = findLessonName(written, function)) return {{}, own};
  const std::size_t point = written.find('.');
  if (point == std::string_view::npos) return {};
  return {written.substr(0, point), findLessonName(written.substr(point + 1), function)};
}

std::string currentControl(std::string written) {
  // Former names of controls, or of what their names begin with.
  constexpr std::pair<std::string_view, std::string_view> kFormerControls[] = {
      {"cache_room", "cache_view"},
      {"room", "studio_view"},
      {"ablation.room", "ablation.view"},
      {"hand", "embeddings"},
      {"lab.tab.many", "lab.tab.head_count"},
      {"lab.tab.wrong", "lab.tab.mistakes"},
      {"lab.tab.precision", "cache_view.precision"},
      {"lab.tab.pipeline", "page.flow"},
      {"precision.format", "precision"}};
  for (const auto& [former, now] : kFormerControls)
    if (written == former || (written.starts_with(former) && written[former.size()] == '.'))
      return written.replace(0, former.size(), now);
  return written;
}

std::string unknownLessonName(const std::string& written, bool function) {
  const auto isFormer = [&](std::string_view name) {
    return written == name || written.ends_with("." + std::string(name));
  };
  if (std::ranges::any_of(kFormerNames, isFormer))
    return attention::quotedText(written) +
           " no longer exists in expressions; the manual's chapter on lessons lists what does";
  std::vector<std::string_view> words;
  for (const LessonName& name : kNames)
    if (name.function() == function) words.push_back(name.word());
  std::vector<attention::ExpressionFunctionInfo> own;
  if (function) own = attention::expressionFunctions();
  for (const auto& each : own) words.push_back(each.name);
  std::string hint = attention::suggestion(written, words);
  if (hint.empty()) hint = attention::suggestion(lastWord(written), words);
  return attention::quotedText(written) + (function ? " is not a function" : " is not a name") +
         " in expressions" + hint;
}

std::string lessonNamesMarkdown() {
  std::string text = "| name | shape | what it is |\n|---|---|---|\n";
  for (const LessonName& name : kNames)
    if (!name.function())
      text += "| `" + std::string(name.name) + "` | " + (name.shape.empty() ? "" : "`") +
              std::string(name.shape) + (name.shape.empty() ? "" : "`") + " | " + std::string(name.help) +
              " |\n";
  text += "\n| function | what it is |\n|---|---|\n";
  for (const auto& function : attention::expressionFunctions())
    text += "| `" + std::string(function.name) + "(" + std::string(function.arguments) + ")` | " +
            std::string(function.help) + " |\n";
  for (const LessonName& name : kNames)
    if (name.function()) text += "| `" + std::string(name.name) + "` | " + std::string(name.help) + " |\n";
  return text;
}

}  // namespace headscope::app
