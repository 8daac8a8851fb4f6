#include "attention/models/config/model_config.h"

#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "attention/core/parallel.h"
#include "attention/formats/quote.h"
#include "attention/models/config/config_reader.h"
#include "attention/models/config/families.h"

namespace headscope::attention {

bool Rotation::changes(Index before, Index after) const {
  if (dynamic.factor > 0) return std::max(before, longBeyond) != std::max(after, longBeyond);
  return !longFrequencies.empty() && (before > longBeyond) != (after > longBeyond);
}

std::vector<double> Rotation::frequenciesFor(Index tokens) const {
  if (tokens <= longBeyond) return frequencies;
  if (dynamic.factor <= 0) return longFrequencies.empty() ? frequencies : longFrequencies;
  const double stretch =
      dynamic.factor * static_cast<double>(tokens) / static_cast<double>(longBeyond) - (dynamic.factor - 1);
  const auto turned = static_cast<double>(dims);
  return ropeFrequencies(dims, dynamic.theta * std::pow(stretch, turned / (turned - 2)));
}

std::vector<double> ropeFrequencies(Index dims, double theta) {
  std::vector<double> frequencies;
  for (Index t = 0; t < dims / 2; ++t)
    frequencies.push_back(std::pow(theta, -2.0 * static_cast<double>(t) / static_cast<double>(dims)));
  return frequencies;
}

std::vector<double> stretched(std::vector<double> frequencies, const Llama3Scaling& scaling) {
  for (double& frequency : frequencies) {
    const double turns = scaling.originalPositions * frequency / (2 * std::numbers::pi);
    const double kept =
        std::clamp((turns - scaling.lowFactor) / (scaling.highFactor - scaling.lowFactor), 0.0, 1.0);
    frequency *= (1 - kept) / scaling.factor + kept;
  }
  return frequencies;
}

std::vector<double> stretched(std::vector<double> frequencies, double theta, const YarnScaling& scaling) {
  const auto half = static_cast<double>(frequencies.size()), dims = 2 * half;
  const auto dimensionOf = [&](double turns) {
    return dims * std::log(scaling.originalPositions / (turns * 2 * std::numbers::pi)) /
           (2 * std::log(theta));
  };
  double low = dimensionOf(scaling.fast), high = dimensionOf(scaling.slow);
  if (scaling.truncates) low = std::floor(low), high = std::ceil(high);
  low = std::max(low, 0.0), high = std::min(high, dims - 1);
  if (low == high) high += 0.001;
  for (std::size_t t = 0; t < frequencies.size(); ++t) {
    const double slowed = std::clamp((static_cast<double>(t) - low) / (high - low), 0.0, 1.0);
    frequencies[t] *= slowed / scaling.factor + 1 - slowed;
  }
  return frequencies;
}

double yarnAttentionFactor(double factor, double m) {
  return factor <= 1 ? 1 : 0.1 * m * std::log(factor) + 1;
}

Matrix rotationTable(const Rotation& rotation, Index first, Index count, Index tokens) {
  const std::vector<double> frequencies = rotation.frequenciesFor(tokens);
  const Index half = rotation.dims / 2;
  Matrix table(count, rotation.dims);
  for (Index row = 0; row < count; ++row)
    for (Index t = 0; t < half; ++t) {
      const double angle = static_cast<double>(first + row) * frequencies[asSize(t)];
      table(row, t) = static_cast<float>(rotation.amplitude * std::cos(angle));
      table(row, half + t) = static_cast<float>(rotation.amplitude * std::sin(angle));
    }
  return table;
}

void rotateHeads(Stack& heads, const Matrix& table, bool interleaved, Index from) {
  require(heads.rows() == table.rows() && heads.cols() >= from + table.cols(),
          "a rotation's table is " + shapeText(table.rows(), table.cols()) + ", expected at most " +
              shapeText(heads.rows(), heads.cols()));
  const Index half = table.cols() / 2, step = interleaved ? 2 : 1, partner = interleaved ? 1 : half;
  forEach(heads.count(), {}, [&](Index head) {
    MutableMatrixView x = heads[head];
    for (Index row = 0; row < x.rows(); ++row)
      for (Index t = 0; t < half; ++t) {
        const float cosine = table(row, t), sine = table(row, half + t);
        float &first = x(row, from + step * t), &second = x(row, from + step * t + partner);
        const float a = first, b = second;
        first = a * cosine - b * sine;
        second = b * cosine + a * sine;
      }
  });
}

namespace {

/// Whether a class name belongs to the family: "LlamaForCausalLM" is Llama's.
bool isArchitecture(std::string_view text, std::string_view family) {
  if (!text.starts_with(family)) return false;
  text.remove_prefix(family.size());
  for (std::string_view suffix : {"", "Model", "LMHeadModel", "ForCausalLM", "ForMaskedLM", "ForPreTraining"})
    if (text == suffix) return true;
  return false;
}

const Family* familyNamed(std::string_view type) {
  for (const Family* family : familyTable())
    if (family->name == type || (!type.empty() && isListed(family->aliases, type))) return family;
  return nullptr;
}

/// Finds the family by model_type or, if absent, by the first of `architectures`.
const Family* familyOf(const ConfigReader& json) {
  if (json.has("model_type")) {
    const std::string type = json.text("model_type", "");
    if (const Family* family = familyNamed(type)) return family;
    json.fail(unknownFamily(json, type, "model_type"));
    return nullptr;
  }
  const std::string name = classOf(json);
  for (const Family* family : familyTable())
    if (isArchitecture(name, family->architecture)) return family;
  json.fail(unknownFamily(json, name, name.empty() ? "model_type" : "architectures"));
  return nullptr;
}

/// The object that describes the model within the file.
std::string_view nestedOf(const ConfigReader& json, const ModelConfig& config) {
  if (!config.wrapper) return config.family->nested;
  return json.isObject("text_config") ? "text_config" : "";
}

/// Finds the family of all of the file or, for a multimodal model, of its text part.
void chooseFamily(const ConfigReader& json, ModelConfig& config) {
  const std::string type = json.isText("model_type") ? json.text("model_type", "") : "";
  const auto found = std::ranges::find(multimodalTable(), type, &Multimodal::name);
  if (found == multimodalTable().end()) {
    config.family = familyOf(json);
    return;
  }
  config.wrapper = &*found;
  const ConfigReader text = json.object("text_config");
  config.family = text.has("model_type") ? familyOf(text) : familyNamed(found->text);
  config.notes.push_back(fmt::format(
      "Only the text part of {} is opened, and only texts without pictures are computed.", found->name));
}

/// The class if the file has only the encoder of an encoder–decoder, although its config.json may still
/// describe the pair: "T5EncoderModel".
std::string encoderClass(const ConfigReader& json) {
  const std::string name = classOf(json);
  return name.ends_with("EncoderModel") || name.ends_with("Encoder") ? name : "";
}

/// Selects the stack whose heads are requested.
void chooseGroup(const ConfigReader& json, std::string_view group, ModelConfig& config) {
  const bool both = json.flag("is_encoder_decoder", config.family->reads);
  if (!config.family->reads) {
    if (both)
      json.fail(json.at("is_encoder_decoder") +
                " is true, expected an encoder or a decoder on its own, such as bert or llama. " +
                std::string(kRecordInstead));
    if (!group.empty())
      json.fail(fmt::format("{} has no groups of heads: remove {}", config.family->name,
                            quotedText("#" + std::string(group))));
    return;
  }
  const std::string alone = config.family->source ? encoderClass(json) : "";
  const bool encoder = !alone.empty() || (!both && !json.flag("is_decoder", false));
  if (config.family->source) config.groups.push_back(HeadGroup::encoder);
  if (!config.family->source || !encoder)
    config.groups.insert(config.groups.end(), {HeadGroup::decoder, HeadGroup::cross});
  const std::string_view asked = !group.empty() ? group : groupName(config.groups.back());
  std::vector<std::string_view> names;
  for (const HeadGroup each : {HeadGroup::encoder, HeadGroup::decoder, HeadGroup::cross}) {
    if (groupName(each) == asked && (each != HeadGroup::encoder || config.family->source))
      config.group = each;
    if (std::ranges::find(config.groups, each) != config.groups.end()) names.push_back(groupName(each));
  }
  if (config.group == HeadGroup::only || (!alone.empty() && config.group != HeadGroup::encoder))
    json.fail(fmt::format("the group of heads is {}, expected {}{}{}", quotedText(std::string(group)),
                          names.size() > 1 ? "one of " : "", fmt::join(names, ", "),
                          alone.empty() ? "" : ": " + alone + " has only the encoder"));
  if (config.group == HeadGroup::encoder)
    config.family = config.family->source;
  else if (!both)
    json.fail(json.at("is_encoder_decoder") +
              (json.flag("is_decoder", false)
                   ? " is false: the decoder is on its own, expected one that reads an encoder's output"
                   : " is false: the model has no decoder; open its #encoder"));
}

/// Refuses experts in fields that the family's reader hasn't asked for.
void refuseMixtures(const ConfigReader& json) {
  for (const char* key : {"num_local_experts", "num_experts", "n_routed_experts"})
    if (!json.asked(key) && json.size(key, 0, 0) > 0)
      json.fail(json.at(key) + " says it is a mixture of experts, expected a model with one MLP per layer");
}

/// is_causal: false makes a decoder bidirectional (create_causal_mask of transformers), and its window then
/// includes the distance `window` itself.
void readSides(const ConfigReader& json, ModelConfig& config) {
  if (json.flag("is_causal", true)) return;
  if (!config.family->encoder)
    for (LayerKind& layer : config.layers)
      if (layer.window) ++*layer.window;
  config.causal = false;
}

std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + quotedText(name);
  return text;
}

void addNotes(const ConfigReader& json, ModelConfig& config) {
  if (config.isBidirectionalDecoder())
    config.notes.emplace_back("config.json makes attention bidirectional: tokens see later ones.");
  if (!json.object("auto_map").names().empty())
    config.notes.push_back(
        fmt::format("config.json names custom code (auto_map), which isn't run. The model is computed like "
                    "{} in transformers.",
                    config.family->name));
  const std::string_view nested = nestedOf(json, config);
  // The rest of a multimodal model's file is about pictures.
  const std::vector<std::string> unknown = !config.wrapper || nested.empty()
                                               ? checkFields(json, config.family->fields, nested)
                                               : checkFields(json.object(nested), config.family->fields, {});
  if (!unknown.empty())
    config.notes.push_back(fmt::format("config.json has {} Headscope doesn't know: {}.",
                                       unknown.size() == 1 ? "a field that" : "fields that",
                                       listed(unknown)));
}

/// Reads the family's fields and those that all families share.
void readFields(const ConfigReader& json, ModelConfig& config) {
  const Family& family = *config.family;
  const std::string_view nested = nestedOf(json, config);
  ConfigReader own = nested.empty() ? json : json.object(nested);
  if (config.wrapper) own.addDefaults(config.wrapper->defaults);
  family.read(own, config);
  if (family.readRest) family.readRest(json, config);
  refuseMixtures(json);
  if (!nested.empty()) refuseMixtures(own);
  readSides(own, config);
  const bool tied = config.wrapper ? config.wrapper->tied : family.tied;
  config.tied = json.flag("tie_word_embeddings", own.flag("tie_word_embeddings", tied));
  if (config.wrapper && config.wrapper->rawLogits) config.logitScale = 1;
  config.architecture = classOf(json);
  config.endTokens = (json.has("eos_token_id") ? json : own).tokens("eos_token_id");
  addNotes(json, config);
}

Status checkSizes(const ConfigReader& json, const ModelConfig& config) {
  if (config.heads % config.kvHeads != 0)
    json.refuse("num_key_value_heads", std::to_string(config.kvHeads),
                fmt::format("a divisor of the {} heads", config.heads));
  if (const Status status = json.status(); !status) return status;
  for (Index i = 0; i < config.layerCount(); ++i)
    if (const Status status = validate(config.attention(i)); !status)
      return Error{json.at("layer " + std::to_string(i)) + "'s attention: " + status.error().message};
  return success();
}

}  // namespace

std::set<std::string, std::less<>> fieldsRead(const Family& family, const ConfigReader& json) {
  const ConfigReader own = json.fresh();
  ModelConfig config;
  config.family = &family;
  config.quantisation = readQuantisation(own);
  chooseGroup(own, {}, config);
  readFields(own, config);
  return own.asked();
}

float QueryGrowth::at(Index position) const {
  return static_cast<float>(1 + rate * std::log1p(static_cast<double>((position + ahead) / every)));
}

std::string_view groupName(HeadGroup group) {
  switch (group) {
    case HeadGroup::only:
      break;
    case HeadGroup::encoder:
      return "encoder";
    case HeadGroup::decoder:
      return "decoder";
    case HeadGroup::cross:
      return "cross";
  }
  return "";
}

ModelConfig ModelConfig::withOtherHeads() const {
  ModelConfig other = *this;
  other.group = cross() ? HeadGroup::decoder : HeadGroup::cross;
  return other;
}

bool ModelConfig::isBidirectionalDecoder() const {
  return !causal && family && !family->encoder;
}

std::optional<Index> ModelConfig::positionLimit() const {
  return positionRows > 0 ? std::optional(positionRows - firstPosition) : std::nullopt;
}

AttentionConfig ModelConfig::attention(Index layer) const {
  AttentionConfig attention;
  attention.modelDim = modelDim;
  attention.heads = heads;
  attention.kvHeads = kvHeads;
  attention.headDim = headDim;
  if (latent.rank > 0) {
    attention.valueDim = latent.valueDim;
    attention.latentDim = latent.rank;
    attention.rotaryDim = latent.ropeDim;
  }
  attention.scale = layers[asSize(layer)].scale;
  attention.alibi = alibi;
  attention.slopes = slopes;
  if (!cross()) attention.t5 = bucketBias;
  if (attention.t5 && !bucketTables.empty())
    attention.t5->table = bucketTables[bucketTables.size() > 1 ? asSize(layer) : 0];
  attention.softcap = softcap.value_or(0);
  return attention;
}

Status ModelConfig::checkHeadMaps() const {
  if (clip)
    return Error{
        fmt::format("This model limits queries, keys and values to ±{}, so its heads aren't linear "
                    "maps of the stream.",
                    *clip)};
  if (gatedHeads)
    return Error{
        "This model multiplies each head's output by a gate that depends on the token, so its "
        "values and outputs don't form one map. Heads and Model show its attention."};
  if (latent.rank == 0) return success();
  return Error{
      fmt::format("Keys and values of this model are computed from a latent of {} numbers after a norm, so "
                  "its heads have no separate W_K and W_V.",
                  latent.rank)};
}

std::string ModelConfig::maskText(Index layer) const {
  if (cross()) return "full";
  if (const auto& chunk = layers[asSize(layer)].chunk) return fmt::format("chunked({})", *chunk);
  const auto& window = layers[asSize(layer)].window;
  if (window) return fmt::format("{}({})", causal ? "window" : "window_both", *window);
  return causal ? "causal" : "full";
}

Result<ModelConfig> readModelConfig(std::string_view text, const std::string& name, std::string_view group) {
  const auto json = ConfigReader::parse(text, name);
  if (!json) return json.error();
  ModelConfig config;
  config.quantisation = readQuantisation(*json);
  chooseFamily(*json, config);
  if (!config.family) return json->status().error();
  chooseGroup(*json, group, config);
  if (const Status status = json->status(); !status) return status.error();
  readFields(*json, config);
  if (const Status status = checkSizes(*json, config); !status) return status.error();
  return config;
}

}  // namespace headscope::attention
