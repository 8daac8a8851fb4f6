#pragma once

#include <filesystem>
#include <map>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "attention/formats/gguf/gguf_header.h"
#include "attention/models/checkpoint/checkpoint.h"
#include "attention/models/config/families.h"

namespace headscope::attention {

struct TokenizerParts;  // tokenizer_parts.h

/// Whether the path is a file that begins like a GGUF file.
bool isGguf(const std::filesystem::path& path);

/// A model in a GGUF file, or in the parts it was split into, mapped but not read.
struct GgufSource {
  std::string name;  ///< for messages
  std::vector<MappedFile> files;
  GgufHeader header;                          ///< of the first file; its bytes are in `files`
  std::map<std::string, TensorView> tensors;  ///< of all files

  /// Opens a model by any of its files. Returns an Error of MappedFile or parseGgufHeader(); for a split
  /// model also if a file is missing, belongs to another split or repeats another file's tensor, or if the
  /// number of tensors differs from the stated one.
  static Result<GgufSource> open(const std::filesystem::path& path);
  /// Returns the first Error of the files' MappedFile::intact().
  Status intact() const;
};

/// Reads a source's metadata by key; keys of the model's architecture also without its name in front. The
/// first value of a wrong type is kept as an error in status(); reading it returns nothing.
class GgufMetadata {
 public:
  explicit GgufMetadata(const GgufSource& source);

  /// The value of general.architecture, such as "llama".
  const std::string& architecture() const { return architecture_; }
  /// Returns null if there is none.
  const GgufValue* find(const std::string& key) const;
  bool has(const std::string& key) const { return find(key) != nullptr; }
  std::optional<std::int64_t> integer(const std::string& key);
  std::optional<double> number(const std::string& key);
  std::optional<bool> flag(const std::string& key);
  std::optional<std::string_view> text(const std::string& key);
  std::optional<std::vector<std::string_view>> texts(const std::string& key);
  std::optional<std::vector<std::int64_t>> integers(const std::string& key);
  std::optional<std::vector<double>> numbers(const std::string& key);

  /// Returns the key as in the file, in quotes.
  std::string at(const std::string& key) const;
  /// Records an error, prefixed by the file's name; only the first is kept.
  void fail(const std::string& message);
  Status status() const { return error_ ? Status(*error_) : success(); }

 private:
  template <typename Value>
  Value read(const std::string& key, Value (GgufValue::*as)() const, const char* expected);

  const GgufSource& source_;
  std::string architecture_;
  std::optional<Error> error_;
};

/// The sizes that most families take from the metadata, and the settings of their norms.
inline constexpr std::string_view kGgufSizes =
    "hidden_size=embedding_length intermediate_size=feed_forward_length num_hidden_layers=block_count "
    "num_attention_heads=attention.head_count num_key_value_heads=attention.head_count_kv? "
    "head_dim=attention.key_length? max_position_embeddings=context_length rope_theta=rope.freq_base?";
inline constexpr std::string_view kGgufRms = "rms_norm_eps=attention.layer_norm_rms_epsilon";

/// How the GGUF files of one architecture express a family's config.json.
struct GgufFamily {
  std::string_view architecture;  ///< general.architecture
  std::string_view model;         ///< config.json's model_type
  /// Fields of config.json and the metadata they come from, "hidden_size=embedding_length …"; a trailing "?"
  /// marks optional ones. `experts` has those of a mixture; empty: not a mixture.
  std::string_view sizes = kGgufSizes, more = kGgufRms;
  bool rotates = true;  ///< positions are rotated
  /// Rows of q and k are stored pair by pair, as for rotations of neighbours.
  bool paired = false;
  std::string_view experts = {};
  bool causal = true;   ///< a token sees no later one
  bool hybrid = false;  ///< ggufHybrid() reads its layers
};
std::span<const GgufFamily> ggufFamilies();
/// Returns null if the architecture isn't known. `mixture`: the file has experts; an architecture may have
/// two families.
const GgufFamily* ggufFamily(std::string_view architecture, bool mixture);

/// Returns the config.json that a GGUF file is equivalent to, which readModelConfig() checks like any other.
/// Returns an Error, naming the file and the metadata, for an unknown architecture, and for values that are
/// missing, of another type, or different between layers where that isn't allowed.
Result<std::string> ggufConfig(const GgufSource& source);

/// Returns the fields that config.json has for the layers and states of a hybrid, `model`, as a JSON object.
/// Records an error for layers that it can't describe.
std::string ggufHybrid(const GgufSource& source, GgufMetadata& metadata, std::string_view model);
/// Gives the names that a hybrid's tensors have in GGUF files.
void nameHybrid(const Family& family, const GgufSource& source, TensorNames& names);

/// Records an error for metadata that change the computation in a way the family doesn't support.
void refuseUnsupported(const GgufFamily& family, GgufMetadata& metadata);

/// Notes what such a file can't say and the model's config.json does, and how it was decided.
void noteUnsaid(const GgufSource& source, ModelConfig& config);

/// Sets what files leave to their tensors: which maps and norms have biases, and whether there are token
/// types. Norms have their 1 already added.
void fitToTensors(const GgufSource& source, ModelConfig& config);

/// Returns the names of a family's tensors in a GGUF file. Files from before April 2024 have separate tensors
/// for each expert, and converters may join queries, keys and values in one tensor, or gates with the values
/// they gate.
TensorNaming ggufNaming(const Family& family, const GgufSource& source, bool paired);

/// How a byte-level GGUF tokenizer splits text before merging, by tokenizer.ggml.pre. The rules are JSON, as
/// in the tokenizer.json of the models it is named after; empty: none.
struct GgufSplit {
  std::string_view names;  ///< " llama-bpe falcon3 ", with a space on both sides of each
  std::string_view preTokenizer;
  std::string_view normalizer = {};
  bool ignoreMerges = false;  ///< a piece in the vocabulary is one token
  bool begins = false;        ///< a text begins with a special token unless the metadata say otherwise
};

/// Returns null if no split has that name.
const GgufSplit* ggufSplit(std::string_view name);

/// Reads the tokenizer in a GGUF file's metadata. Supports byte-level BPE with a named pre-tokenizer,
/// SentencePiece's BPE, which merges by score, and WordPiece. Returns an Error, naming the file and the
/// metadata, for other kinds of tokenizers (by name), missing metadata, lists of unequal lengths and two
/// tokens with the same text; "stopped" once `stop` is requested.
Result<std::unique_ptr<const TokenizerParts>> ggufTokenizer(const GgufSource& source,
                                                            const std::stop_token& stop);

}  // namespace headscope::attention
