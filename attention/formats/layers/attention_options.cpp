#include <fmt/format.h>

#include <charconv>

#include "attention/core/score_terms.h"
#include "attention/formats/layers/layer_reader.h"
#include "attention/text/ascii.h"

namespace headscope::attention {
namespace {

/// Metadata that libraries and test cases write to describe a file; ignored.
constexpr std::string_view kDescriptions[] = {"format", "case", "witness"};

bool parseText(std::string_view text, bool& value) {
  value = text == "True" || text == "true" || text == "1";
  return value || text == "False" || text == "false" || text == "0";
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
