#include "attention/core/result.h"
#include "attention/masks/runs.h"
#include "tests/app/scene/random_scene.h"

namespace headscope::test {

using namespace headscope::app;

namespace {

/// Names as users choose them, and names that parsers may stumble over. The first two are those of paintings.
const std::string kNames[] = {"painting 1", "Straße", "a", "\"q\" \\", "then", "(heads: 猫", " "};

attention::Table randomAdditive(Dice& dice, Index size) {
  attention::Table table;
  table.values.resize(dice.between(1, size), dice.between(1, size));
  for (float& value : table.values.reshaped())
    value = dice.oneIn(4) ? 0.0F : static_cast<float>(dice.real(-3, 3));
  return table;
}

/// Makes every cell visible or masked or leaves it alone, row by row; some rows are missing.
attention::CellTable randomPainting(Dice& dice, Index size) {
  attention::CellTable table;
  table.queries = dice.between(1, size);
  table.keys = dice.between(1, size);
  for (Index row = 0; row < table.queries; ++row) {
    attention::CellRow cells;
    for (Index key = 0; key < table.keys; ++key) {
      const Index said = dice.between(0, 3);
      if (said < 2) attention::appendRun(said == 0 ? cells.visible : cells.masked, key, key + 1);
    }
    table.rows.push_back(dice.oneIn(3) ? nullptr : std::make_shared<const attention::CellRow>(cells));
  }
  return table;
}

std::vector<Index> ascending(Dice& dice, Index first, Index most) {
  std::vector<Index> numbers;
  for (Index at = first + dice.between(0, 2); std::ssize(numbers) < most; at += dice.between(1, 4))
    numbers.push_back(at);
  return numbers;
}

attention::TextMarks randomMarks(Dice& dice) {
  attention::TextMarks marks;
  if (dice.oneIn(3)) marks.documentStarts = ascending(dice, 0, dice.between(0, 3));
  if (dice.oneIn(3)) marks.prefixLength = dice.between(0, 9);
  if (dice.oneIn(3)) {
    marks.images.emplace();
    // Images may be adjacent; each stays separate.
    for (Index at = dice.between(0, 2), left = dice.between(0, 3); left > 0; --left) {
      marks.images->push_back({at, at + dice.between(1, 3)});
      at = marks.images->back().end + dice.between(0, 2);
    }
  }
  if (dice.oneIn(3)) marks.globals = ascending(dice, 0, dice.between(0, 3));
  if (dice.oneIn(3)) marks.treePrefix = dice.between(0, 9);
  if (dice.oneIn(3)) {
    marks.parents.emplace();
    for (Index node = 0, nodes = dice.between(0, 6); node < nodes; ++node)
      marks.parents->push_back(dice.between(-1, node - 1));
  }
  if (dice.oneIn(3)) marks.gridHeight = dice.between(1, 5);
  if (dice.oneIn(3)) marks.gridWidth = dice.between(1, 5);
  return marks;
}

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) out += (c == '"' || c == '\\' ? "\\" : "") + std::string(1, c);
  return out + "\"";
}

std::string listed(const std::vector<Index>& numbers) {
  std::string text;
  for (const Index number : numbers) text += (text.empty() ? "" : ", ") + std::to_string(number);
  return "[" + text + "]";
}

std::string argumentText(Dice& dice, const attention::ParameterInfo& parameter) {
  using Kind = attention::ParameterKind;
  // A value that must not exceed another is usually the smallest possible.
  const bool bounded = !parameter.notAbove.empty() && !dice.oneIn(6);
  const auto count = [&] { return parameter.low + parameter.step * (bounded ? 0 : dice.between(0, 3)); };
  switch (parameter.kind) {
    case Kind::count:
      return dice.oneIn(4) ? listed({count(), count()}) : std::to_string(count());
    case Kind::positions:
      return listed(ascending(dice, 0, dice.between(0, 2)));
    case Kind::spans:
      return dice.coin() ? "[0-1]" : "[0, 1-2]";
    case Kind::parents:
      return dice.coin() ? "[-1, 0]" : "[-1]";
    case Kind::name:
      return quoted(kNames[dice.below(dice.oneIn(8) ? std::size(kNames) : 2)]);
    case Kind::path:
      return quoted("/nowhere/mask.npy");
    case Kind::convention:
      return dice.coin() ? "masked" : "additive";
  }
  return "";
}

std::string patternText(Dice& dice) {
  const attention::PatternInfo* info = nullptr;
  do info = &dice.pick(attention::patternTable());
  while (info->kind == attention::PatternKind::file && !dice.oneIn(10));
  std::string text;
  if (info->takesInner && dice.coin()) text = dice.coin() ? "causal" : "!window(2) | sinks(1)";
  for (const attention::ParameterInfo& parameter : info->parameters) {
    // If omitted, it is taken from the text, which is always long enough.
    if (parameter.fromText && !dice.oneIn(6)) continue;
    text += (text.empty() ? "" : ", ") + std::string(parameter.name) + "=" + argumentText(dice, parameter);
  }
  return std::string(info->name) + (text.empty() ? "" : "(" + text + ")");
}

std::string expression(Dice& dice, int depth) {
  static const std::string kJoins[] = {" & ", " | ", " then "};
  static const std::string kHeads[] = {
      "heads(0): ", "heads(even): ", "heads(1-3, kv 1): ", "heads(odd, 0): "};
  std::string text;
  for (Index layer = 0, layers = dice.between(1, 3); layer < layers; ++layer) {
    if (layer > 0) text += dice.pick(kJoins);
    if (dice.oneIn(6)) text += quoted(dice.pick(kNames)) + ": ";
    if (dice.oneIn(8)) text += "off: ";
    if (dice.oneIn(5)) text += dice.pick(kHeads);
    if (dice.oneIn(8)) text += dice.coin() ? "sequences(0, 2): " : "sequences(1-3): ";
    if (dice.oneIn(6)) text += "!";
    text += depth > 0 && dice.oneIn(4) ? "(" + expression(dice, depth - 1) + ")" : patternText(dice);
  }
  return text;
}

attention::MaskLayers randomLayers(Dice& dice) {
  if (dice.oneIn(8)) return {};
  const std::string text = expression(dice, 2);
  attention::ParsedMask parsed = attention::parseMask(text);
  attention::require(!parsed.error, text + ": " + (parsed.error ? parsed.error->message : ""));
  return std::move(parsed.layers);
}

}  // namespace

MaskSetup randomMask(Dice& dice, const SceneSizes& sizes) {
  MaskSetup mask;
  mask.layers = randomLayers(dice);
  for (std::size_t i = 0; i < 2; ++i)
    if (!dice.oneIn(6)) mask.paintings[kNames[i]] = randomPainting(dice, sizes.words);
  if (dice.oneIn(4)) mask.paintings[kNames[2 + dice.below(4)]] = randomPainting(dice, 3);
  if (dice.coin())
    for (Index line = dice.between(0, sizes.lines + 1); line > 0; --line)
      mask.marks.edit().push_back(randomMarks(dice));
  if (dice.oneIn(4)) mask.additive = randomAdditive(dice, sizes.words);
  mask.compare = dice.oneIn(3);
  if (mask.compare || dice.coin()) mask.other = randomLayers(dice);
  return mask;
}

}  // namespace headscope::test
