#include <fmt/format.h>

#include <charconv>

#include "attention/core/score_terms.h"
#include "attention/models/layers/layer_reader.h"
#include "attention/text/ascii.h"

namespace headscope::attention {
namespace {

/// Metadata that libraries and test cases write to describe a file; ignored.
constexpr std::string_view kDescriptions[] = {"format", "case", "witness"};

bool parseText(std::string_view text, bool& value) {
  value = text == "True" || text == "true" || text == "1";
  return value || text == "False" || text == "false" || text == "0";
}

bool parseText(std::string_view text, std::string& value) {
  value = text;
  return true;
}

template <typename Number>
bool parseText(std::string_view text, Number& value) {
  const char* end = text.data() + text.size();
  const auto [at, code] = std::from_chars(text.data(), end, value);
  if constexpr (std::is_floating_point_v<Number>) {
    if (!std::isfinite(value)) return false;
  }
  return code == std::errc() && at == end;
}

/// Reads options one by one and keeps the first error.
class OptionReader {
 public:
  OptionReader(const AttentionOptions& metadata, const AttentionOptions& options, const std::string& name)
      : metadata_(metadata), options_(options), name_(name) {}

  /// Leaves `value` unchanged if the option is left out.
  template <typename T>
  void read(const char* option, T& value, const char* expected) {
    if (const auto parsed = find<T>(option, expected)) value = *parsed;
  }
  template <typename T>
  void read(const char* option, std::optional<T>& value, const char* expected) {
    value = find<T>(option, expected);
  }
  /// Reads a whole number; less than `least` is an error.
  template <typename T>
  void readSize(const char* option, T& value, Index least, const char* expected) {
    read(option, value, expected);
    const std::optional<Index> found = value;
    if (found && *found < least) complain(option, std::to_string(*found), expected);
  }
  void readPositive(const char* option, std::optional<double>& value) {
    read(option, value, "a finite number above 0, or None");
    if (value && *value <= 0)
      complain(option, fmt::format("{:g}", *value), "a finite number above 0, or None");
  }
  /// Returns whether the option is the first of two words; nothing if it is left out.
  std::optional<bool> readWord(const char* option, std::string_view yes, std::string_view no) {
    std::optional<std::string> word;
    const std::string expected = fmt::format("{} or {}", yes, no);
    read(option, word, expected.c_str());
    if (!word) return std::nullopt;
    if (*word != yes && *word != no) complain(option, quotedText(*word), expected.c_str());
    return *word == yes;
  }
  void readTerms(ScoreNumbers& numbers) {
    for (const ScoreTerm& term : scoreTerms()) {
      if (!term.isOption()) continue;
      const std::string expected = std::string(term.number.expected()) + ", or None";
      std::optional<float> value;
      read(term.number.name, value, expected.c_str());
      if (!value) continue;
      if (const Status status = term.number.check(*value); !status && !error_)
        error_ = Error{name_ + ": " + status.error().message};
      numbers.*term.number.member = *value;
    }
  }

  const std::optional<Error>& error() const { return error_; }
  bool given(const char* option) const { return textOf(option) != nullptr; }

  /// Returns an Error for the first name that was neither read nor is a description.
  Status checkNames() const {
    for (const AttentionOptions* names : {&options_, &metadata_})
      for (const auto& [option, text] : *names)
        if (!contains(read_, option) && !contains(kDescriptions, option) &&
            !option.starts_with(kSnapshotPrefix))
          return Error{name_ + ": " + quotedText(option) + " is not an option" + meant(option)};
    return success();
  }

 private:
  template <typename Names>
  static bool contains(const Names& names, std::string_view name) {
    return std::find(std::begin(names), std::end(names), name) != std::end(names);
  }

  /// Returns "; did you mean window?", or the list of all options.
  std::string meant(std::string_view option) const {
    const std::string near = suggestion(option, read_);
    return near.empty() ? fmt::format(", expected one of {}", fmt::join(read_, ", ")) : near;
  }

  /// Returns null if the option is left out.
  const std::string* textOf(const char* option) const {
    auto at = options_.find(option);
    if (at == options_.end() && (at = metadata_.find(option)) == metadata_.end()) return nullptr;
    const auto& text = at->second;
    return text.empty() || text == "None" || text == "none" ? nullptr : &text;
  }

  template <typename T>
  std::optional<T> find(const char* option, const char* expected) {
    read_.push_back(option);
    const std::string* text = textOf(option);
    T value{};
    if (!text) return std::nullopt;
    if (parseText(*text, value)) return value;
    complain(option, quotedText(*text), expected);
    return std::nullopt;
  }

  void complain(const char* option, const std::string& found, const char* expected) {
    if (error_) return;
    error_ = Error{name_ + ": option " + option + " is " + found + ", expected " + expected};
  }

  const AttentionOptions& metadata_;
  const AttentionOptions& options_;
  const std::string& name_;
  std::vector<std::string_view> read_;  ///< all known options
  std::optional<Error> error_;
};

/// Reads the options of a layer's extras.
void readExtrasOptions(OptionReader& reader, ParsedOptions& parsed) {
  constexpr const char* kSize = "a whole number of at least 1, or None";
  reader.readSize("rotary_dim", parsed.rotaryDim, 2, "an even number of at least 2, or None");
  reader.read("rope_interleaved", parsed.interleaved, "True or False");
  reader.read("rope_scaling", parsed.ropeScaling, "JSON");
  reader.readSize("max_positions", parsed.maxPositions, 2, "a whole number of at least 2, or None");
  for (const char* option : {"rotary_dim", "rope_interleaved", "rope_scaling", "max_positions"})
    if (parsed.rotationOption.empty() && reader.given(option)) parsed.rotationOption = option;
  parsed.extrasOption = parsed.rotationOption;
  parsed.layerNorm = reader.readWord("qk_norm", "layer", "rms");
  reader.readPositive("norm_epsilon", parsed.normEpsilon);
  reader.read("norm_plus_one", parsed.normPlusOne, "True or False");
  reader.readSize("t5_max_distance", parsed.t5MaxDistance, 1, kSize);
  reader.read("t5_bidirectional", parsed.t5Bidirectional, "True or False");
  for (const char* option :
       {"qk_norm", "norm_epsilon", "norm_plus_one", "t5_max_distance", "t5_bidirectional"})
    if (parsed.extrasOption.empty() && reader.given(option)) parsed.extrasOption = option;
}

}  // namespace

Result<ParsedOptions> parseOptions(const AttentionOptions& metadata, const AttentionOptions& options,
                                   const std::string& name) {
  ParsedOptions parsed;
  auto& config = parsed.config;
  OptionReader reader(metadata, options, name);
  reader.readSize("heads", parsed.heads, 1, "a whole number of at least 1");
  reader.readSize("kv_heads", parsed.kvHeads, 1, "a whole number of at least 1");
  reader.readSize("head_dim", parsed.headDim, 1, "a whole number of at least 1");
  reader.readSize("layer", parsed.layer, 0, "a whole number of at least 0");
  reader.read("causal", parsed.rules.causal, "True or False");
  std::optional<Index> window;
  reader.readSize("window", window, 1, "a whole number of at least 1, or None");
  parsed.rules.window = window.value_or(0);
  reader.readSize("sinks", parsed.rules.sinks, 0, "a whole number of at least 0");
  reader.readSize("cache_length", config.cacheLength, 0, "a whole number of at least 0");
  reader.read("rope_theta", config.ropeTheta, "a finite number above 0, or None");
  readExtrasOptions(reader, parsed);
  reader.read("alibi", config.alibi, "True or False");
  reader.readTerms(config);
  reader.read("scale", config.scale, "a finite number, or None");
  reader.read("dropout", config.dropout.probability, "a probability from 0 to below 1");
  reader.read("dropout_seed", config.dropout.seed, "a whole number of at least 0");
  if (reader.error()) return *reader.error();
  parsed.causalGiven = reader.given("causal");
  parsed.cacheGiven = reader.given("cache_length");
  parsed.known = reader.checkNames();
  return parsed;
}

}  // namespace headscope::attention
