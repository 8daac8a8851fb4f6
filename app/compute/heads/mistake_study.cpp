#include "app/compute/heads/mistake_study.h"

#include "attention/core/score_terms.h"

namespace headscope::app {

using attention::Mistake;
using attention::MistakeInput;
using attention::Token;

namespace {

/// Returns the words that name the random tokens: a sentence, with padding where the demonstration has it.
std::vector<Token> demonstrationTokens(const MistakeInput& input) {
  static constexpr const char* kWords[] = {"The",     "animal", "didn't", "cross", "the",   "street",
                                           "because", "it",     "was",    "too",   "tired", "."};
  std::vector<Token> tokens;
  for (const char* word : kWords) tokens.push_back({word, false});
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const auto at = static_cast<Index>(i);
    if (at < input.paddedUpTo || (input.paddedFrom >= 0 && at >= input.paddedFrom))
      tokens[i] = {"[pad]", false};
  }
  return tokens;
}

/// Returns the head's queries and keys from the snapshot.
MistakeInput inputOf(const MistakeQuestion& question, MistakeStudy& study) {
  const Snapshot& snapshot = *question.snapshot;
  const SequenceSnapshot& sequence = snapshot.sequences[static_cast<std::size_t>(question.sequence)];
  const attention::AttentionConfig& config = snapshot.config;
  MistakeInput input;
  input.q = sequence.attention.q;
  input.k = sequence.attention.k;
  input.head = question.head;
  input.modelDim = config.modelDim;
  input.scale = attention::scoreFactor(config);
  const auto scores = sequence.attention.scores[question.head];
  input.visible = (scores.array() > -INFINITY).cast<float>();
  if (sequence.keyLength < static_cast<Index>(sequence.keys.size())) input.paddedFrom = sequence.keyLength;
  for (const attention::ScoreTerm& term : attention::scoreTerms())
    study.omitsTerms = study.omitsTerms || ((term.adds() || term.kind == attention::TermKind::cap) &&
                                            term.applies(config, sequence.mask));
  study.queries = sequence.queries;
  study.keys = sequence.keys;
  return input;
}

}  // namespace

bool aboutScale(Mistake mistake) {
  return mistake == Mistake::noScale || mistake == Mistake::modelScale;
}

MistakeStudy studyMistake(const MistakeQuestion& question) {
  MistakeStudy study;
  study.question = question;
  MistakeInput input;
  if (question.snapshot) {
    input = inputOf(question, study);
  } else {
    input = attention::demonstration(question.mistake, 12, question.headDim, kDemonstrationSeed);
    study.queries = study.keys = demonstrationTokens(input);
  }
  study.heads = input.q.count();
  study.kvHeads = input.k.count();
  study.headDim = input.q.cols();
  study.head = input.head;
  study.result = attention::makeMistake(question.mistake, input);
  return study;
}

}  // namespace headscope::app
