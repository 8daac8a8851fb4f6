#pragma once

#include "tests/attention/models/plain/plain_model.h"

namespace headscope::attention::test {

/// An encoder–decoder by its paper's equations: the encoder on one text, the decoder on another.
struct PlainPairOutcome {
  PlainOutcome encoder;                  ///< without logits
  Wide memory;                           ///< [m, d], the decoder's input from the encoder
  PlainOutcome decoder;                  ///< its self-attention heads
  std::vector<std::vector<Wide>> cross;  ///< [layers][heads] of [n, m]
};

struct PlainPair {
  std::string name, config;
  Index vocabulary;
  std::function<PlainPairOutcome(MadeUpTensors&, const std::vector<Index>& source,
                                 const std::vector<Index>& ids)>
      run;
};

/// Every encoder–decoder architecture.
std::vector<PlainPair> plainPairs();
/// BART, and Whisper's decoder, which has no encoder here and reads a synthetic memory.
std::vector<PlainPair> plainBarts();

}  // namespace headscope::attention::test
