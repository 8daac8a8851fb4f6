#include "attention/masks/structure.h"

#include <array>

namespace headscope::attention {
namespace {

using Positions = std::vector<Index>;

bool isOneOf(const Token& token, std::span<const std::string_view> texts) {
  return std::find(texts.begin(), texts.end(), token.text) != texts.end();
}

/// Whether the token ends a sentence, in any script with such marks, or stands for the end of a line.
bool endsSentence(const Token& token) {
  static constexpr std::array<std::string_view, 19> kEnds{".", "!",  "?",    "…",      "‼",     "⁇", "⁈",
                                                          "⁉", "。", "！",   "？",     "｡",     "؟", "۔",
                                                          "।", "¶",  "<0C>", "<2028>", "<2029>"};
  return isOneOf(token, kEnds);
}

/// Whether the token is a decimal point: split into characters or bytes, "3.14" is four tokens. In words, a
/// separator between two numbers is punctuation ("page 3. 14 more").
bool isNumbersPoint(std::span<const Token> tokens, std::size_t at) {
  constexpr std::string_view kDigits = "0123456789";
  const auto endsInDigit = [&](const std::string& text) {
    return !text.empty() && kDigits.find(text.back()) != kDigits.npos;
  };
  const auto startsWithDigit = [&](const std::string& text) {
    return !text.empty() && kDigits.find(text.front()) != kDigits.npos;
  };
  return tokens[at].text == "." && !tokens[at].separator && at > 0 && at + 1 < tokens.size() &&
         endsInDigit(tokens[at - 1].text) && startsWithDigit(tokens[at + 1].text);
}

/// Whether the token still belongs to the sentence that ended before it: a closing quote or bracket, a space.
bool trailsSentence(const Token& token) {
  static constexpr std::array<std::string_view, 10> kTrails{")", "]",  "}",  "”",  "’",
                                                            "»", "」", "』", "）", "␣"};
  return isOneOf(token, kTrails);
}

/// Returns the first token of each sentence, starting with 0.
Positions sentenceStarts(std::span<const Token> tokens) {
  Positions starts{0};
  for (std::size_t at = 0; at < tokens.size();) {
    const std::size_t end = at++;
    if (!endsSentence(tokens[end]) || isNumbersPoint(tokens, end)) continue;
    while (at < tokens.size() && (endsSentence(tokens[at]) || trailsSentence(tokens[at]))) ++at;
    if (at < tokens.size()) starts.push_back(static_cast<Index>(at));
  }
  return starts;
}

/// Matches brackets. Ignores closing brackets without an opening one, and opening brackets that are unclosed
/// when a pair around them closes.
class BracketReader {
 public:
  KeyRuns read(std::span<const Token> tokens) {
    for (std::size_t at = 0; at < tokens.size(); ++at) {
      const std::string_view text = tokens[at].text;
      if (text.size() != 1) continue;
      if (const auto kind = kOpening.find(text); kind != std::string_view::npos) {
        open_.push_back({kind, static_cast<Index>(at)});
        ++openOfKind_[kind];
      } else if (const auto closed = kClosing.find(text); closed != std::string_view::npos) {
        close(closed, static_cast<Index>(at));
      }
    }
    return std::move(runs_);
  }

 private:
  static constexpr std::string_view kOpening = "[(<", kClosing = "])>";
  static constexpr Index kShortest = 3;

  struct Bracket {
    std::size_t kind;
    Index at;
  };

  void close(std::size_t kind, Index at) {
    if (openOfKind_[kind] == 0) return;
    Bracket opening = pop();
    while (opening.kind != kind) opening = pop();
    const KeyRun run{opening.at + 1, at};
    if (run.end - run.begin < kShortest) return;
    // Runs inside these brackets belong to the same image.
    while (!runs_.empty() && runs_.back().begin >= run.begin) runs_.pop_back();
    runs_.push_back(run);
  }

  Bracket pop() {
    const Bracket last = open_.back();
    open_.pop_back();
    --openOfKind_[last.kind];
    return last;
  }

  std::vector<Bracket> open_;
  std::array<Index, 3> openOfKind_{};
  KeyRuns runs_;
};

Positions documentsOf(const TextMarks& marks, const Positions& sentences, Index keys) {
  if (!marks.documentStarts) return sentences;
  Positions starts = positionsBelow(keys, *marks.documentStarts);
  if (starts.empty() || starts.front() != 0) starts.insert(starts.begin(), 0);
  return starts;
}

KeyRuns imagesOf(const TextMarks& marks, KeyRuns found, Index keys) {
  if (!marks.images) return found;
  KeyRuns images;
  for (const KeyRun& run : *marks.images) {
    // Marks that touch are separate images.
    const Index from = images.empty() ? 0 : images.back().end;
    const KeyRun cut{std::max(run.begin, from), std::min(run.end, keys)};
    if (cut.begin < cut.end) images.push_back(cut);
  }
  return images;
}

/// Returns the parents of the tree's nodes: as marked, then each continuing the one before it; without marks,
/// one branch per sentence after the prefix.
Positions parentsOf(const TextMarks& marks, const Positions& sentences, Index prefix, Index keys) {
  const Index draft = keys - prefix;
  Positions parents = marks.parents.value_or(Positions{});
  const auto marked = std::min(static_cast<Index>(parents.size()), draft);
  parents.resize(static_cast<std::size_t>(draft));
  for (Index node = 0; node < draft; ++node) {
    Index& parent = parents[static_cast<std::size_t>(node)];
    const bool isBranch =
        !marks.parents && std::binary_search(sentences.begin(), sentences.end(), prefix + node);
    if (node >= marked || parent < -1 || parent >= draft) parent = isBranch ? -1 : node - 1;
  }
  return parents;
}

Index dividedUp(Index number, Index by) {
  return std::max<Index>(1, number / by + (number % by != 0 ? 1 : 0));
}

/// Returns the smallest number of columns that needs no more rows than columns.
Index squareSide(Index tokens) {
  Index side = 1;
  while (side * side < tokens) ++side;
  return side;
}

void setGrid(const TextMarks& marks, Index keys, TextStructure& structure) {
  const auto marked = [](const std::optional<Index>& side) { return std::max<Index>(1, side.value_or(1)); };
  if (marks.gridWidth) {
    structure.gridWidth = marked(marks.gridWidth);
  } else {
    structure.gridWidth = marks.gridHeight ? dividedUp(keys, marked(marks.gridHeight)) : squareSide(keys);
  }
  structure.gridHeight = marks.gridHeight ? marked(marks.gridHeight) : dividedUp(keys, structure.gridWidth);
}

TextStructure build(const Positions& querySentences, const Positions& keySentences, KeyRuns images,
                    Index keys, const TextMarks& marks) {
  TextStructure structure;
  structure.documentStarts = documentsOf(marks, keySentences, keys);
  const Index prefix = keySentences.size() > 1 ? keySentences[1] : keys / 2;
  structure.prefixLength = std::clamp<Index>(marks.prefixLength.value_or(prefix), 0, keys);
  structure.images = imagesOf(marks, std::move(images), keys);
  structure.globals = positionsBelow(keys, marks.globals.value_or(Positions{0}));
  structure.treePrefix = std::clamp<Index>(marks.treePrefix.value_or(prefix), 0, keys);
  structure.parents = parentsOf(marks, keySentences, structure.treePrefix, keys);
  setGrid(marks, keys, structure);
  structure.querySegments = querySentences;
  for (std::size_t k = 0; k < keySentences.size(); ++k) {
    const Index end = k + 1 < keySentences.size() ? keySentences[k + 1] : keys;
    if (keySentences[k] < end) structure.keySegments.push_back({keySentences[k], end});
  }
  return structure;
}

}  // namespace

Positions positionsBelow(Index end, Positions positions) {
  std::erase_if(positions, [&](Index position) { return position < 0 || position >= end; });
  std::sort(positions.begin(), positions.end());
  positions.erase(std::unique(positions.begin(), positions.end()), positions.end());
  return positions;
}

TextStructure structureOf(std::span<const Token> queries, std::span<const Token> keys,
                          const TextMarks& marks) {
  return build(sentenceStarts(queries), sentenceStarts(keys), BracketReader().read(keys),
               static_cast<Index>(keys.size()), marks);
}

TextStructure structureOf(Index queries, Index keys, const TextMarks& marks) {
  require(queries >= 0 && keys >= 0, "a text's length must not be negative");
  return build({0}, {0}, {}, keys, marks);
}

}  // namespace headscope::attention
