#include <fmt/core.h>
#include <fmt/ranges.h>

#include <array>

#include "attention/models/config/config_reader.h"
#include "attention/models/config/model_config.h"

namespace headscope::attention {

namespace {

using Logits = Eigen::Ref<Eigen::RowVectorXf>;

constexpr float kExcluded = -std::numeric_limits<float>::infinity();

void exclude(Logits logits, Index id) {
  if (id >= 0 && id < logits.size()) logits[id] = kExcluded;
}

void exclude(Logits logits, std::span<const Index> ids) {
  for (const Index id : ids) exclude(logits, id);
}

/// Allows only these tokens, all equally likely. Does nothing if none is in the vocabulary.
void force(Logits logits, std::span<const Index> ids) {
  if (std::ranges::none_of(ids, [&](Index id) { return id >= 0 && id < logits.size(); })) return;
  logits.setConstant(kExcluded);
  for (const Index id : ids)
    if (id >= 0 && id < logits.size()) logits[id] = 0;
}

Index lengthOf(const WrittenText& text) {
  return std::ssize(text.ids);
}

void read(const ConfigReader& json, const char* field, double& number) {
  number = json.positive(field, 1);
}
void read(const ConfigReader& json, const char* field, Index& number) {
  number = json.size(field, 0, 0);
}
void read(const ConfigReader& json, const char* field, std::optional<Index>& token) {
  const std::vector<Index> ids = json.tokens(field);
  if (!ids.empty()) token = ids.front();
}
void read(const ConfigReader& json, const char* field, std::vector<Index>& tokens) {
  tokens = json.tokens(field);
}
void read(const ConfigReader& json, const char* field, std::vector<std::vector<Index>>& lists) {
  lists = json.tokenLists(field);
}
template <auto kMember>
void readTo(const ConfigReader& json, const char* field, GenerationRules& rules) {
  read(json, field, rules.*kMember);
}

struct Rule {
  const char* field;
  const char* without;  ///< the value, in JSON, that leaves predictions unchanged
  void (*read)(const ConfigReader& json, const char* field, GenerationRules& rules);  ///< null: not applied
  void (*apply)(const GenerationRules& rules, const WrittenText& text, Logits logits);
};

/// The applied rules are in transformers' order.
constexpr auto kRules = std::to_array<Rule>({
    {"num_beams", "1", nullptr, nullptr},
    {"sequence_bias", "{}", nullptr, nullptr},
    {"encoder_repetition_penalty", "1", nullptr, nullptr},
    {"encoder_no_repeat_ngram_size", "0", nullptr, nullptr},
    {"exponential_decay_length_penalty", "null", nullptr, nullptr},
    // Keskar et al. 2019, CTRL: makes each token of the text less likely, once, however often it occurs.
    {"repetition_penalty", "1", readTo<&GenerationRules::repetitionPenalty>,
     [](const GenerationRules& rules, const WrittenText& text, Logits logits) {
       const auto penalty = static_cast<float>(rules.repetitionPenalty);
       std::vector<Index> ids(text.ids.begin(), text.ids.end());
       std::ranges::sort(ids);
       ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
       for (const Index id : ids)
         if (id >= 0 && id < logits.size()) logits[id] *= logits[id] < 0 ? penalty : 1 / penalty;
     }},
    // Excludes the tokens that followed earlier occurrences of the last n − 1 tokens.
    {"no_repeat_ngram_size", "0", readTo<&GenerationRules::noRepeatNgram>,
     [](const GenerationRules& rules, const WrittenText& text, Logits logits) {
       const Index n = rules.noRepeatNgram, length = lengthOf(text);
       if (n == 0 || length + 1 < n) return;
       const auto last = text.ids.last(asSize(n - 1));
       for (Index from = 0; from + n <= length; ++from)
         if (std::equal(last.begin(), last.end(), text.ids.begin() + from))
           exclude(logits, text.ids[asSize(from + n - 1)]);
     }},
    {"bad_words_ids", "[]", readTo<&GenerationRules::badWords>,
     [](const GenerationRules& rules, const WrittenText& text, Logits logits) {
       for (const std::vector<Index>& word : rules.badWords) {
         // As in transformers, a word only counts if the text has at least as many tokens as the whole word.
         if (word.empty() || (word.size() > 1 && word.size() > text.ids.size())) continue;
         const bool ends =
             word.size() == 1 && std::ranges::find(text.endTokens, word[0]) != text.endTokens.end();
         if (ends) continue;  // the text could never end
         const auto before = std::span(word).first(word.size() - 1);
         if (std::equal(before.begin(), before.end(), text.ids.end() - std::ssize(before)))
           exclude(logits, word.back());
       }
     }},
    {"min_length", "0", readTo<&GenerationRules::minLength>,
     [](const GenerationRules& rules, const WrittenText& text, Logits logits) {
       if (lengthOf(text) < rules.minLength) exclude(logits, text.endTokens);
     }},
    {"min_new_tokens", "0", readTo<&GenerationRules::minNewTokens>,
     [](const GenerationRules& rules, const WrittenText& text, Logits logits) {
       if (lengthOf(text) - text.given < rules.minNewTokens) exclude(logits, text.endTokens);
     }},
    {"forced_bos_token_id", "null", readTo<&GenerationRules::forcedFirst>,
     [](const GenerationRules& rules, const WrittenText& text, Logits logits) {
       if (rules.forcedFirst && lengthOf(text) == 1) force(logits, std::array{*rules.forcedFirst});
     }},
    {"forced_eos_token_id", "null",
     [](const ConfigReader& json, const char* field, GenerationRules& rules) {
       rules.maxLength = json.optionalSize("max_length", 0, kMaxPositions);
       if (rules.maxLength) rules.forcedLast = json.tokens(field);
     },
     [](const GenerationRules& rules, const WrittenText& text, Logits logits) {
       if (rules.maxLength && lengthOf(text) == *rules.maxLength - 1) force(logits, rules.forcedLast);
     }},
    {"suppress_tokens", "[]", readTo<&GenerationRules::suppressed>,
     [](const GenerationRules& rules, const WrittenText&, Logits logits) {
       exclude(logits, rules.suppressed);
     }},
    // Applies only at the first position without a forced token.
    {"begin_suppress_tokens", "[]", readTo<&GenerationRules::suppressedFirst>,
     [](const GenerationRules& rules, const WrittenText& text, Logits logits) {
       Index begin = text.given + (rules.forcedFirst && text.given == 1 ? 1 : 0);
       for (const auto& [place, id] : rules.forced) begin = std::max(begin, place + 1);
       if (lengthOf(text) == begin) exclude(logits, rules.suppressedFirst);
     }},
    {"forced_decoder_ids", "null",
     [](const ConfigReader& json, const char* field, GenerationRules& rules) {
       for (const std::vector<Index>& pair : json.tokenLists(field)) {
         if (pair.size() != 2)
           json.refuse(field, "a list of other values", "pairs of a position and a token id");
         // A null token forces nothing at that place.
         else if (pair[1] >= 0)
           rules.forced.emplace_back(pair[0], pair[1]);
       }
     },
     [](const GenerationRules& rules, const WrittenText& text, Logits logits) {
       for (const auto& [place, id] : rules.forced)
         if (place == lengthOf(text)) force(logits, std::array{id});
     }},
});

Index likeliest(const Logits& logits) {
  Index best = -1;
  for (Index id = 0; id < logits.size(); ++id)
    if (logits[id] > kExcluded && (best < 0 || logits[id] > logits[best])) best = id;
  return best;
}

std::string listed(const std::vector<std::string_view>& fields) {
  return fmt::format("{}", fmt::join(fields, ", "));
}

}  // namespace

std::string_view applyRules(const GenerationRules& rules, const WrittenText& text, Logits logits) {
  if (rules == GenerationRules()) return "";
  const Index before = likeliest(logits);
  std::string_view because;
  for (const Rule& rule : kRules) {
    if (!rule.apply) continue;
    rule.apply(rules, text, logits);
    if (because.empty() && likeliest(logits) != before) because = rule.field;
  }
  return likeliest(logits) == before ? "" : because;
}

GenerationRules readRules(const ConfigReader& json, const std::string& file,
                          std::vector<std::string>& notes) {
  GenerationRules rules;
  std::vector<std::string_view> followed, left;
  for (const Rule& rule : kRules) {
    const GenerationRules before = rules;
    if (rule.read) rule.read(json, rule.field, rules);
    if (!json.differs(rule.field, rule.without)) continue;
    (rules == before ? left : followed).emplace_back(rule.field);
  }
  if (!followed.empty())
    notes.push_back(fmt::format("Generation follows {} in {}. The predictions shown are the model's own.",
                                listed(followed), file));
  if (!left.empty())
    notes.push_back(fmt::format("{} sets {} for generating text. Headscope doesn't apply {}.", file,
                                listed(left), left.size() == 1 ? "it" : "them"));
  return rules;
}

}  // namespace headscope::attention
