#include <fmt/core.h>

#include <cstring>

#include "attention/formats/files/file_io.h"
#include "attention/formats/quote.h"
#include "attention/formats/safetensors.h"
#include "attention/models/checkpoint/model_weights.h"

namespace headscope::attention {
namespace {

/// Whether a transformers class has a head over the vocabulary: "LlamaForCausalLM", "GPT2LMHeadModel".
bool predictsTokens(std::string_view architecture) {
  for (const std::string_view end : {"ForCausalLM", "LMHeadModel", "DoubleHeadsModel", "ForMaskedLM",
                                     "ForPreTraining", "ForConditionalGeneration", "MTModel"})
    if (architecture.ends_with(end)) return true;
  return false;
}

}  // namespace

std::string whyHeadless(const TensorNames& names, const ModelConfig& config,
                        const std::function<bool(const std::string&)>& has) {
  if (config.picture)
    return names.classifier.empty()
               ? "No predictions: this vision tower outputs an embedding, not classes."
               : fmt::format("No predictions: the file has no {}.weight, the map to classes.",
                             names.classifier);
  const std::string dense(names.headDense), head(names.head), bias(names.headBias);
  if (config.group == HeadGroup::encoder)
    return "No predictions: this is the model's encoder, and its decoder predicts.";
  const bool own = has(head + ".weight");
  if (!dense.empty() && !has(dense + ".weight"))
    return fmt::format("No predictions: the file has no {}.weight, the language-model head.", dense);
  if (!bias.empty() && !has(bias) && !has(head + ".bias"))
    return fmt::format("No predictions: the file has no {}, the language-model head's bias.", bias);
  if (dense.empty() && !own && !config.architecture.empty() && !predictsTokens(config.architecture))
    return fmt::format("No predictions: the checkpoint is a {}, which has no language-model head.",
                       config.architecture);
  if (!own && !config.tied)
    return fmt::format(
        "No predictions: the file has no {}.weight, and config.json doesn't tie the head to the embedding.",
        head);
  if (config.isBidirectionalDecoder())
    return "No predictions: attention is bidirectional, so each token already sees the next one.";
  return "";
}

bool TensorFinder::has(const std::string& name) const {
  for (const std::string_view prefix : prefixes_)
    if (checkpoint_.tensors().contains(std::string(prefix) + name)) return true;
  return false;
}

void TensorFinder::fail(const std::string& message) {
  if (!error_) error_ = Error{shownPath(checkpoint_.folder()) + ": " + message};
}

const TensorView* TensorFinder::find(const std::string& name) {
  const TensorView* found = nullptr;
  std::string at;
  for (const std::string_view prefix : prefixes_) {
    const std::string full = std::string(prefix) + name;
    const auto tensor = checkpoint_.tensors().find(full);
    if (tensor == checkpoint_.tensors().end()) continue;
    if (found) {
      fail("has both a tensor " + quotedText(at) + " and a " + quotedText(full) + ", expected one of them");
      return nullptr;
    }
    found = &tensor->second;
    at = full;
  }
  return found;
}

std::string_view TensorFinder::packedBy(const std::string& name) const {
  constexpr std::string_view kWeight = ".weight";
  if (!name.ends_with(kWeight)) return "";
  const std::string stem = name.substr(0, name.size() - kWeight.size());
  static constexpr std::pair<const char*, std::string_view> kSigns[] = {
      {".qweight", "GPTQ or AWQ"},        {".scales", "MLX"},
      {".weight.absmax", "bitsandbytes"}, {".weight_packed", "compressed-tensors"},
      {".weight_scale", "FP8"},           {".weight_scale_inv", "FP8"}};
  for (const auto& [sign, by] : kSigns)
    if (has(stem + sign)) return by;
  return "";
}

const TensorView* TensorFinder::get(const std::string& name, const std::vector<std::uint64_t>& shape) {
  const TensorView* const found = find(name);
  if (error_) return nullptr;
  const std::string at = "tensor " + quotedText(std::string(prefixes_[0]) + name);
  if (found && found->type && found->shape == shape) {
    read_.insert(found->data);
    return found;
  }
  if (const std::string_view by = packedBy(name); !by.empty())
    fail("weights are quantised by " + std::string(by) + " (" + at +
         "), expected F32, F16, BF16 or F64, or a GGUF file");
  else if (!found)
    fail("has no " + at + ", expected one of " + shapeText(shape));
  else if (found->shape != shape)
    fail(at + " is " + shapeText(found->shape) + ", expected " + shapeText(shape) + " as " +
         std::string(sizes_) + " says");
  else
    fail(at + " is " + std::string(found->kind) +
         ", expected F32, F16, BF16 or F64, or GGUF's Q2_K to Q8_0, IQ4 and MXFP4");
  return nullptr;
}

MappedLinear TensorFinder::weightOf(MappedLinear map, const std::string& name,
                                    const std::vector<std::uint64_t>& shape, bool bias) {
  const TensorView* const tensor = get(name + ".weight", shape);
  if (!tensor) return {};
  map.pieces.push_back({tensor->data, *tensor->type});
  if (bias) map.bias = vector(name + ".bias", map.out);
  return map;
}

MappedLinear TensorFinder::linear(const std::string& name, Index out, Index in, bool bias, bool inFirst) {
  const Index rows = inFirst ? in : out, cols = inFirst ? out : in;
  return weightOf({.out = out, .in = in, .transposed = inFirst, .row = cols}, name,
                  {asSize(rows), asSize(cols)}, bias);
}

std::vector<MappedLinear> TensorFinder::linears(const std::string& tensor, const std::string& bias,
                                                Index count, Index out, Index in, bool inFirst) {
  const TensorView* const kept = find(tensor);
  if (!kept && find(tensor + "_blocks")) {
    fail(quotedText(tensor + "_blocks") + " has no scales of its shape, expected " +
         quotedText(tensor + "_scales") + " with one for each 16 bytes, both of U8");
    return {};
  }
  // In block formats the inputs come last, because a block belongs to one output.
  const bool turned = inFirst && !(kept && kept->scales);
  const TensorView* const found =
      get(tensor, {asSize(count), asSize(turned ? in : out), asSize(turned ? out : in)});
  const TensorView* const biases = found && !bias.empty() ? get(bias, {asSize(count), asSize(out)}) : nullptr;
  if (!found || error_) return {};
  std::vector<MappedLinear> maps(asSize(count),
                                 {.out = out, .in = in, .transposed = turned, .row = turned ? out : in});
  const std::size_t numbers = asSize(out * in);
  for (std::size_t i = 0; i < maps.size(); ++i) {
    const std::size_t blocks = i * numbers / kernels::weightBlock(*found->type).numbers;
    maps[i].pieces.push_back({found->data + i * kernels::weightBytes(*found->type, numbers), *found->type,
                              found->scales ? found->scales + blocks : nullptr});
    if (!biases) continue;
    maps[i].bias.resize(out);
    const Status status = biases->read(i * asSize(out), {maps[i].bias.data(), asSize(out)}, bias);
    if (!status) fail(status.error().message);
  }
  return maps;
}

MappedLinear TensorFinder::row(const std::string& name, Index in) {
  const TensorView* const found = find(name + ".weight");
  if (!found || found->shape.size() != 1) return linear(name, 1, in, false, false);
  return weightOf({.out = 1, .in = in, .row = in}, name, {asSize(in)}, false);
}

MappedRows TensorFinder::rows(const std::string& name, Index rows, Index cols) {
  const TensorView* const tensor = get(name + ".weight", {asSize(rows), asSize(cols)});
  if (!tensor) return {};
  return {tensor->data, *tensor->type, rows, cols};
}

MappedRows TensorFinder::table(const std::string& tensor, Index rows, Index cols) {
  const TensorView* found = find(tensor);
  std::vector<std::uint64_t> shape{asSize(rows), asSize(cols)};
  if (rows == 1 && found && found->shape.size() == 1) shape = {asSize(cols)};
  if (found && found->shape.size() > 2) shape.insert(shape.begin(), found->shape.size() - 2, 1);
  found = get(tensor, shape);
  if (!found) return {};
  return {found->data, *found->type, rows, cols};
}

MappedLinear TensorFinder::patches(const std::string& name, Index out, Index colours, Index side, bool bias) {
  const Index in = colours * side * side;
  return weightOf({.out = out, .in = in, .row = in}, name,
                  {asSize(out), asSize(colours), asSize(side), asSize(side)}, bias);
}

Matrix TensorFinder::convolution(const std::string& name, Index channels, Index kernel) {
  std::vector<std::uint64_t> shape{asSize(channels), 1, asSize(kernel)};
  if (const TensorView* const found = find(name + ".weight"); found && found->shape.size() == 2)
    shape.erase(shape.begin() + 1);
  const TensorView* const tensor = get(name + ".weight", shape);
  if (!tensor) return {};
  Matrix values(channels, kernel);
  const Status status = tensor->read(0, {values.data(), asSize(values.size())}, "tensor " + quotedText(name));
  if (!status) fail(status.error().message);
  return values;
}

NormWeights TensorFinder::norm(const std::string& name, Index size, NormKind kind, bool bias) {
  const bool old = has(name + ".gamma");
  // Falcon-H1's GGUF files leave the ending out.
  const bool bare = !old && !has(name + ".weight") && has(name);
  NormWeights norm{vector(bare ? name : name + (old ? ".gamma" : ".weight"), size), {}};
  if (kind == NormKind::layer)
    norm.bias = bias ? vector(name + (old ? ".beta" : ".bias"), size) : Vector(Vector::Zero(size));
  return norm;
}

Vector TensorFinder::vector(const std::string& name, Index size) {
  const TensorView* const found = find(name);
  std::vector<std::uint64_t> shape{asSize(size)};
  // GGUF files have a matrix for what is read here in turn.
  if (found && found->shape.size() == 2 && found->numbers() == asSize(size)) shape = found->shape;
  if (found && found->shape.empty() && size == 1) shape.clear();
  const TensorView* const tensor = get(name, shape);
  if (!tensor) return {};
  Vector values(size);
  if (const auto status = tensor->read(0, {values.data(), asSize(size)}, "tensor " + quotedText(name));
      !status)
    fail(status.error().message);
  return values;
}

MappedLinear joined(const std::vector<MappedLinear>& maps) {
  if (maps.empty()) return {};  // an error was recorded
  MappedLinear all = maps[0];
  for (const MappedLinear& map : std::span(maps).subspan(1)) all.pieces.push_back(map.pieces[0]);
  all.out *= std::ssize(maps);
  return all;
}

MappedLinear outputsOf(const MappedLinear& whole, Index first, Index count) {
  MappedLinear part = whole;
  if (whole.pieces.empty()) return part;  // an error was recorded
  part.pieces[0].data +=
      kernels::weightBytes(whole.pieces[0].type, asSize(first * (whole.transposed ? 1 : whole.row)));
  part.out = count;
  if (whole.bias.size() > 0) part.bias = whole.bias.segment(first, count);
  return part;
}

MappedLinear outputsOf(const MappedLinear& whole, std::span<const RowRange> rows) {
  if (whole.pieces.empty()) return whole;
  const Index size = rows[0].count;
  MappedLinear some = outputsOf(whole, 0, size * static_cast<Index>(rows.size()));
  some.pieces.clear();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const MappedLinear one = outputsOf(whole, rows[i].first, size);
    some.pieces.push_back(one.pieces[0]);
    if (one.bias.size() > 0) some.bias.segment(static_cast<Index>(i) * size, size) = one.bias;
  }
  return some;
}

MappedRows embeddingTable(TensorFinder& body, TensorFinder& head, const ModelConfig& config,
                          const TensorNames& names, std::vector<std::string>& notes) {
  const auto rows = [&](TensorFinder& finder, std::string_view name) {
    return finder.rows(std::string(name), config.vocabulary, config.embeddingSize());
  };
  const auto has = [](const TensorFinder& finder, std::string_view name) {
    return !name.empty() && finder.has(std::string(name) + ".weight");
  };
  if (has(body, names.ownEmbedding)) {
    const MappedRows own = rows(body, names.ownEmbedding);
    if (config.tied && has(body, names.embedding)) {
      const MappedRows shared = rows(body, names.embedding);
      if (body.status() && differ(own, shared))
        notes.push_back(fmt::format(
            "config.json ties the embeddings of encoder and decoder, but the file has different ones. "
            "Each uses its own {}.weight, as in transformers 5 (version 4 used {}.weight).",
            names.ownEmbedding, names.embedding));
    }
    return own;
  }
  if (!has(body, names.embedding)) {
    if (has(body, names.otherEmbedding)) return rows(body, names.otherEmbedding);
    if (config.tied && has(head, names.head)) return rows(head, names.head);
  }
  return rows(body, names.embedding);
}

bool differ(const MappedRows& one, const MappedRows& other) {
  constexpr Index kLooked = 64;
  if (one.type != other.type) return true;
  const std::size_t row = kernels::weightBytes(one.type, asSize(one.cols));
  for (Index i = 0; i < kLooked; ++i) {
    const std::size_t at = asSize((one.rows - 1) * i / (kLooked - 1)) * row;
    if (std::memcmp(one.data + at, other.data + at, row) != 0) return true;
  }
  return false;
}

}  // namespace headscope::attention
