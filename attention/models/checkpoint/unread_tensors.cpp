#include <fmt/format.h>

#include "attention/formats/files/file_io.h"
#include "attention/formats/quote.h"
#include "attention/models/checkpoint/checkpoint.h"
#include "attention/models/checkpoint/model_weights.h"

namespace headscope::attention {
namespace {

constexpr UnreadTensors kUnread[] = {
    {.names = "*.inv_freq *.cos_cached *.sin_cached",
     .why = "tables of rotary positions, which are computed from config.json",
     .ofLayers = true},
    {.names = "*attn.bias *attention.bias", .why = "the causal mask", .ofLayers = true, .causalMask = true},
    {.names = "*attn.masked_bias *attention.masked_bias",
     .why = "the score of a masked key",
     .ofLayers = true},
    {.families = "t5 mt5 umt5",
     .names = "decoder.block.0.layer.1.EncDecAttention.relative_attention_bias.weight",
     .why = "a table that T5's code made and never read",
     .ofLayers = true},
    {.families = "minimax",
     .names = "*.slope_rate *.query_decay *.key_decay *.diagonal_decay",
     .why = "rates at which heads forget, which are computed",
     .ofLayers = true},
    {.families = "marian pegasus marian#encoder pegasus#encoder m2m_100 m2m_100#encoder roformer",
     .names = "*embed_positions.weight *embed_positions.weights",
     .why = "tables of sines and cosines, which are computed"},
    {.names = "*position_ids", .why = "the numbers 0, 1, 2, …"},
    {.names = "*.version", .why = "the version of fairseq's format"},
    {.names = "pooler.* *.pooler.* classifier.* pre_classifier.* classification_head.* score.* qa_outputs.* "
              "cls.seq_relationship.* cls.weight cls.bias cls.output.* discriminator_predictions.* "
              "multiple_choice_head.* v_head.* *contact_head.* *encode_proj.*",
     .why = "heads for other tasks"},
    {.names = "rope_freqs.weight rope_factors_long.weight rope_factors_short.weight",
     .why = "a GGUF file's scaling of rotary positions, which is read with its metadata"},
    {.families = "pair#encoder",
     .names = "decoder.* model.decoder.* final_logits_bias",
     .why = "the decoder"},
    {.families = "pair",
     .names = "encoder.* model.encoder.*",
     .why = "the encoder, which is read separately"},
    {.families = "pair pair#encoder",
     .names = "shared.weight model.shared.weight",
     .why = "an embedding that neither stack uses, as both have their own"},
    {.families = "whisper",
     .names = "encoder.* model.encoder.*",
     .why = "the audio encoder, whose output is supplied"},
    {.families = "gemma3 gemma3_text multimodal",
     .names = "*vision_tower.* *vision_model.* *visual.* *image_tower.* *video_tower.* *connector.* "
              "*multi_modal_projector.* *mm_projector.* *vision_projection.* *image_newline *audio_tower.* "
              "*qformer.* *query_tokens *language_projection.* *aligner.* *vqmodel.* *generation_*.* "
              "*vision_embed_tokens.* *visual_embeddings_table.* *vision_tower* *projector.* encoder.*",
     .why = "the part for pictures or sounds, which isn't loaded"},
    {.families = "clip siglip",
     .names = "text_model.* text_projection.weight logit_scale logit_bias",
     .why = "the text tower, which is left out"},
    {.families = "clip clip_vision_model",
     .names = "visual_projection.weight",
     .why = "the map to the space of text and pictures"},
    {.families = "siglip siglip_vision_model",
     .names = "head.* vision_model.head.*",
     .why = "the head that pools the patches"},
    {.families = "vit deit dinov2 dinov2_with_registers vit_msn",
     .names = "*mask_token",
     .why = "a token for hidden patches, for training"},
};

bool matches(std::string_view name, std::string_view pattern) {
  const std::size_t star = pattern.find('*');
  if (star == pattern.npos) return name == pattern;
  if (!name.starts_with(pattern.substr(0, star))) return false;
  const std::string_view rest = pattern.substr(star + 1);
  for (std::size_t at = star; at <= name.size(); ++at)
    if (matches(name.substr(at), rest)) return true;
  return false;
}

bool anyWord(std::string_view list, auto&& holds) {
  bool found = false;
  forEachField(list, [&](std::string_view word, std::string_view) { found = found || holds(word); });
  return found;
}

/// Whether a tensor may stay unread. `ofLayer`: it belongs to one of the model's layers.
bool mayStayUnread(const ModelConfig& config, std::string_view name, const TensorView& tensor, bool ofLayer) {
  const std::string family =
      std::string(config.family->name) + (config.group == HeadGroup::encoder ? "#encoder" : "");
  return std::ranges::any_of(kUnread, [&](const UnreadTensors& row) {
    const bool has = row.families.empty() || anyWord(row.families, [&](std::string_view each) {
                       return each == family || (each == "multimodal" && config.wrapper) ||
                              (each == "pair" && config.family->source) ||
                              (each == "pair#encoder" && config.group == HeadGroup::encoder);
                     });
    return has && (row.ofLayers || !ofLayer) && (!row.causalMask || isCausalMask(name, tensor.shape)) &&
           anyWord(row.names, [&](std::string_view pattern) { return matches(name, pattern); });
  });
}

/// Whether it is a bias of zeros, which changes nothing: GPTQ-for-LLaMa stores one with every weight.
bool isZeroBias(std::string_view name, const TensorView& tensor) {
  return name.ends_with(".bias") &&
         std::all_of(tensor.data, tensor.data + tensor.bytes, [](std::uint8_t byte) { return byte == 0; });
}

bool isOfHead(std::string_view name, const TensorNaming& naming) {
  const TensorNames& names = naming.names;
  if (!names.headBias.empty() && name == names.headBias) return true;
  for (const std::string_view prefix : naming.headPrefixes)
    for (const std::string_view part : {names.head, names.headDense, names.headNorm})
      if (!part.empty() && name.starts_with(std::string(prefix) + std::string(part) + ".")) return true;
  return false;
}

/// Names the first few.
std::string firstOf(std::span<const std::string> names) {
  constexpr std::size_t kNamed = 3;
  const std::string first = fmt::format("{}", fmt::join(names.first(std::min(kNamed, names.size())), ", "));
  return names.size() > kNamed ? fmt::format("{} and {} more", first, names.size() - kNamed) : first;
}

}  // namespace

std::span<const UnreadTensors> unreadTensors() {
  return kUnread;
}

Result<std::vector<std::string>> checkUnread(const Checkpoint& checkpoint, const ModelConfig& config,
                                             const TensorNaming& naming, bool predicts,
                                             const std::function<bool(const TensorView&)>& isRead) {
  std::vector<std::string> others, notes;
  const Index read = config.numberedLayers();
  Index layers = read;
  for (const auto& [name, tensor] : checkpoint.tensors()) {
    if (isRead(tensor)) continue;
    const auto layer = layerOf(name, naming);
    const bool ofHead = isOfHead(name, naming);
    if (layer >= read)
      layers = std::max(layers, *layer + 1);
    else if (mayStayUnread(config, name, tensor, layer.has_value()) || (ofHead && !predicts) ||
             isZeroBias(name, tensor))
      continue;
    else if (layer || ofHead)
      return fileError(checkpoint.folder(), fmt::format("has a tensor {}, which isn't supported in {}",
                                                        quotedText(name), config.family->name));
    else
      others.push_back(quotedText(name));
  }
  if (layers > read)
    notes.push_back(fmt::format("The file has {} layers, but {} says {}. The others aren't computed.", layers,
                                naming.sizes, read));
  if (!others.empty())
    notes.push_back(fmt::format("The file has tensors that aren't read: {}.", firstOf(others)));
  return notes;
}

}  // namespace headscope::attention
