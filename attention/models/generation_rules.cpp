#include "attention/models/generation_rules.h"

#include <fmt/core.h>

#include <array>

namespace headscope::attention {

namespace {

struct Rule {
  const char* field;
  const char* without;  ///< the value, in JSON, that leaves predictions as they are
};

constexpr std::array kRules = std::to_array<Rule>({{"forced_bos_token_id", "null"},
                                                   {"forced_decoder_ids", "null"},
                                                   {"suppress_tokens", "[]"},
                                                   {"begin_suppress_tokens", "[]"},
                                                   {"bad_words_ids", "[]"},
                                                   {"sequence_bias", "{}"},
                                                   {"repetition_penalty", "1"},
                                                   {"encoder_repetition_penalty", "1"},
                                                   {"exponential_decay_length_penalty", "null"},
                                                   {"no_repeat_ngram_size", "0"},
                                                   {"encoder_no_repeat_ngram_size", "0"},
                                                   {"min_length", "0"},
                                                   {"min_new_tokens", "0"},
                                                   {"num_beams", "1"}});

}  // namespace

std::optional<std::string> rulesNotApplied(const ConfigReader& json, const std::string& file) {
  std::string names;
  int count = 0;
  for (const Rule& rule : kRules) {
    if (!json.differs(rule.field, rule.without)) continue;
    names += (count == 0 ? "" : ", ") + std::string(rule.field);
    ++count;
  }
  if (count == 0) return std::nullopt;
  return fmt::format("{} sets {} for generating text. Headscope doesn't apply {}.", file, names,
                     count == 1 ? "it" : "them");
}

}  // namespace headscope::attention
