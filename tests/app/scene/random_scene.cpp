#include "tests/app/scene/random_scene.h"

#include <algorithm>
#include <cmath>

#include "app/compute/layer/layer_inputs.h"
#include "app/scene/fields.h"

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

/// Sets any legal value of an independent field, often its current value or an end of its range.
void randomValue(Dice& dice, const Field& field, Scene& scene) {
  const auto number = [&]<typename T>(const Member<T>& member) {
    T& value = member.edit(scene);
    if (const auto* few = std::get_if<OneOf>(&field.values)) {
      value = static_cast<T>(dice.pick(few->values));
    } else if (dice.coin()) {
      const auto& range = std::get<Range>(field.values);
      const double most = dice.oneIn(4) ? range.high : dice.real(range.low, range.high);
      const double any = dice.oneIn(4) ? range.low : most;
      const auto step = static_cast<double>(range.step);
      value = static_cast<T>(std::is_integral_v<T> ? range.low + step * std::floor((any - range.low) / step)
                                                   : any);
    }
  };
  if (const auto* yesOrNo = std::get_if<Member<bool>>(&field.access)) yesOrNo->edit(scene) = dice.coin();
  if (const auto* seed = std::get_if<Member<std::uint64_t>>(&field.access)) seed->edit(scene) = dice.bits();
  if (const auto* choice = std::get_if<EnumMember>(&field.access))
    choice->set(scene, static_cast<int>(dice.below(std::get<Names>(field.values).names.size())));
  if (const auto* whole = std::get_if<Member<Index>>(&field.access)) number(*whole);
  if (const auto* real = std::get_if<Member<float>>(&field.access)) number(*real);
  if (const auto* real = std::get_if<Member<double>>(&field.access)) number(*real);
}

/// Sets sizes that fit each other and the given limits.
void fitModel(Dice& dice, const SceneSizes& sizes, ModelSetup& model) {
  model.kvHeads = dice.between(1, sizes.heads);
  model.heads = model.kvHeads * dice.between(1, sizes.heads / model.kvHeads);
  model.headDim = dice.between(1, sizes.headDim);
  if (model.position == PositionKind::rope) model.headDim += model.headDim % 2;
  model.linked = model.linked && model.heads * model.headDim <= sizes.modelDim;
  model.modelDim = model.linked ? model.heads * model.headDim : dice.between(1, sizes.modelDim);
  model.t5Distance = std::max(model.t5Distance, model.t5Buckets / 2 + 1);
}

std::vector<attention::PlantedHead> randomPlanted(Dice& dice, const SceneSizes& sizes) {
  std::vector<attention::PlantedHead> planted;
  for (Index i = dice.between(0, sizes.planted); i > 0; --i)
    planted.push_back({dice.any(attention::Behaviour::induction),
                       dice.oneIn(4) ? dice.between(-kMaxTokens, kMaxTokens) : dice.between(-3, 3)});
  return planted;
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
  Scene scene = openingScene();
  for (const Field& field : allFields()) randomValue(dice, field, scene);
  Setup& setup = scene.setup;
  fitModel(dice, sizes, setup.model);
  InputSetup& input = setup.input;
  input.text = randomLines(dice, sizes);
  const Index cols = dice.oneIn(8) ? dice.between(1, 8) : std::min<Index>(setup.model.modelDim, 64);
  if (dice.oneIn(3) || input.source == EmbeddingSource::table)
    input.table = randomTable(dice, cols, sizes.words);
  input.contextText = dice.oneIn(4) ? randomLines(dice, sizes) : randomLine(dice, sizes.words);
  setup.weights.planted = randomPlanted(dice, sizes);
  for (Index above = dice.between(0, kMaxStackLayers - 1); above > 0; --above)
    setup.weights.plantedAbove.push_back(randomPlanted(dice, sizes));
  if (isStack(setup)) {
    input.cross = false;
    setup.subject.layer = dice.between(0, setup.model.layers - 1);
  }
  // Most scenes should be computable, so contradictory ones and those that name missing files stay rare.
  if (input.cross && !dice.oneIn(4)) input.source = EmbeddingSource::text;
  if (setup.weights.source == WeightSource::file && !dice.oneIn(4))
    setup.weights.source = WeightSource::random;
  if (setup.weights.source == WeightSource::planted && !dice.oneIn(4)) input.source = EmbeddingSource::text;
  setup.mask = randomMask(dice, sizes);
  if (setup.mask.additive->values.size() > 0) {
    const app::TokenBatch batch = app::tokenizeBatch(setup);
    if (!batch.lines.empty())
      setup.mask.additive.edit().values.setConstant(static_cast<Index>(batch.lines.front().queries.size()),
                                                    static_cast<Index>(batch.lines.front().keys.size()),
                                                    0.75F);
  }
  scene.map.tokens = std::min(scene.map.tokens, sizes.mapTokens);
  scene.cursor.page = dice.pick(std::array{"heads", "mask", "map", "cache", "cost"});
  return scene;
}

}  // namespace headscope::test
