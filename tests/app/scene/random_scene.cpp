#include "tests/app/scene/random_scene.h"

#include <algorithm>

namespace headscope::test {

using namespace headscope::app;

namespace {

std::string randomLines(Dice& dice, const SceneSizes& sizes) {
  std::string text;
  for (Index line = dice.between(0, sizes.lines); line > 0; --line)
    text += randomLine(dice, dice.between(0, sizes.words)) + (dice.oneIn(5) ? "\r\n" : "\n");
  return text;
}

attention::Table randomTable(Dice& dice, Index cols, Index maxRows) {
  attention::Table table;
  table.values.resize(dice.between(1, maxRows), cols);
  for (Index row = 0; row < table.values.rows(); ++row) {
    table.names.push_back(dice.oneIn(3) ? "" : randomLine(dice, 1));
    for (Index col = 0; col < cols; ++col) table.values(row, col) = static_cast<float>(dice.real(-2, 2));
  }
  return table;
}

ModelSetup randomModel(Dice& dice, const SceneSizes& sizes) {
  ModelSetup model;
  model.kvHeads = dice.between(1, sizes.heads);
  model.heads = model.kvHeads * dice.between(1, sizes.heads / model.kvHeads);
  model.position = dice.any(PositionKind::t5);
  model.headDim = dice.between(1, sizes.headDim);
  if (model.position == PositionKind::rope) model.headDim += model.headDim % 2;
  model.linked = dice.coin() && model.heads * model.headDim <= sizes.modelDim;
  model.modelDim = model.linked ? model.heads * model.headDim : dice.between(1, sizes.modelDim);
  model.bias = dice.coin();
  model.scaled = dice.coin();
  model.sharpness = dice.coin() ? 1 : static_cast<float>(dice.real(0, dice.coin() ? 2 : 100));
  model.softcap = dice.coin() ? 0 : static_cast<float>(dice.real(0, dice.coin() ? 5 : 1000));
  model.dropout = dice.coin() ? 0 : static_cast<float>(dice.real(0, 0.95));
  model.ropeTheta = dice.coin() ? 10000 : dice.real(1, 1e9);
  model.t5Buckets = 2 * dice.between(2, dice.coin() ? 8 : kMaxT5Buckets / 2);
  model.t5Distance = dice.between(model.t5Buckets / 2 + 1, dice.coin() ? 100 : kMaxTokens);
  model.t5Strength = static_cast<float>(dice.real(0, dice.coin() ? 2 : 100));
  return model;
}

WeightSetup randomWeights(Dice& dice, const SceneSizes& sizes) {
  WeightSetup weights;
  weights.source = dice.any(WeightSource::planted);
  weights.seed = dice.bits();
  for (Index i = dice.between(0, sizes.planted); i > 0; --i)
    weights.planted.push_back({dice.any(attention::Behaviour::random),
                               dice.oneIn(4) ? dice.between(-kMaxTokens, kMaxTokens) : dice.between(-3, 3)});
  return weights;
}

StudioCursor randomStudio(Dice& dice) {
  StudioCursor studio;
  studio.room = dice.any(StudioRoom::compare);
  studio.blockSize = dice.between(16, 128);
  studio.layers = dice.between(1, kMaxReachLayers);
  studio.residual = dice.coin();
  studio.allHeads = dice.coin();
  studio.selected = dice.between(0, 5);
  studio.editsOther = dice.coin();
  studio.wipe = static_cast<float>(dice.real(0, 1));
  return studio;
}

}  // namespace

std::string randomLine(Dice& dice, Index words) {
  static const std::string kWords[] = {
      "The",         "the",   "animal",     "didn't",       "cross",  "7",     "3.5",
      ".",           ",",     "\"quoted\"", "\\",           "/",      "naïve", "Straße",
      "ИСТИНА",      "αβγ",   "مرحبا",      "猫が好き",     "한국어", "é",     "🦊",
      "👩‍🔬", "🇨🇦",    "𝔄",          "𠜎",           "�",      "",      "\x7F",
      "\x1B[31m",    "​",   " ",          "<pad>",        "t0",     "{}",    "[1,2]",
      "null",        "1e999", "\t",         "\xEF\xBB\xBF", "-",      "self-", "a_b"};
  std::string line;
  for (Index i = 0; i < words; ++i) {
    line += dice.pick(kWords);
    if (!dice.oneIn(5)) line += ' ';
  }
  if (dice.oneIn(20)) line += std::string(1, '\0');
  return line;
}

Scene randomScene(Dice& dice, const SceneSizes& sizes) {
  Scene scene;
  Setup& setup = scene.setup;
  setup.model = randomModel(dice, sizes);
  InputSetup& input = setup.input;
  input.text = randomLines(dice, sizes);
  input.tokenization =
      dice.oneIn(3) ? dice.any(attention::Tokenization::bytes) : attention::Tokenization::words;
  input.ignoreCase = dice.coin();
  input.source = dice.oneIn(4) ? EmbeddingSource::table : EmbeddingSource::text;
  const Index cols = dice.oneIn(8) ? dice.between(1, 8) : std::min<Index>(setup.model.modelDim, 64);
  if (dice.oneIn(3) || input.source == EmbeddingSource::table)
    input.table = randomTable(dice, cols, sizes.words);
  input.seed = dice.bits();
  input.cross = dice.oneIn(3);
  input.contextText = dice.coin() ? randomLine(dice, sizes.words) : randomLines(dice, sizes);
  setup.weights = randomWeights(dice, sizes);
  setup.mask = randomMask(dice, sizes);
  setup.prefill = dice.coin() ? dice.between(1, 6) : dice.between(1, kMaxTokens);
  scene.look.quantity = dice.any(Quantity::scores);
  scene.look.colormap = dice.any(render::Colormap::diverging);
  scene.look.scoreColormap = dice.any(render::Colormap::diverging);
  scene.look.range = dice.any(RangeMode::logarithmic);
  scene.look.cacheBytes = dice.pick(std::initializer_list<int>{4, 2, 1});
  Cursor& cursor = scene.cursor;
  MapSetup& map = scene.map;
  map.source = dice.any(MapSource::file);
  map.tokens = dice.between(kMinMapTokens, kMaxMapTokens);
  map.seed = dice.bits();
  map.layer = dice.between(0, kMaxMapLayers - 1);
  map.pooling = dice.any(attention::Pooling::mean);
  cursor.page = std::array{"heads", "mask", "map"}[static_cast<std::size_t>(dice.between(0, 2))];
  cursor.map = {dice.real(0, 131072), dice.real(0, 131072), dice.real(0, 200), dice.between(-1, 131071),
                dice.between(-1, 131071)};
  cursor.studio = randomStudio(dice);
  cursor.sequence = dice.between(0, 70);
  cursor.focus = dice.between(-1, 70);
  cursor.cell = {dice.between(0, 70), dice.between(0, 3000), dice.between(0, 3000)};
  cursor.decoding = dice.coin();
  cursor.step = dice.between(0, 3000);
  return scene;
}

}  // namespace headscope::test
