#pragma once

#include "tests/attention/models/plain/plain_model.h"

namespace headscope::attention::test {

/// An encoder–decoder by its paper's equations: the encoder on one text, the decoder on another.
struct PlainPairOutcome {
  PlainOutcome encoder;                  ///< without logits
  Wide memory;                           ///< [m, d], what the decoder reads
  PlainOutcome decoder;                  ///< its heads that read its own text
  std::vector<std::vector<Wide>> cross;  ///< [layers][heads] of [n, m]
};

struct PlainPair {
  std::string name, config;
  Index vocabulary;
  std::function<PlainPairOutcome(MadeUpTensors&, const std::vector<Index>& source,
                                 const std::vector<Index>& ids)>
      run;
};

/// Every architecture there is.
std::vector<PlainPair> plainPairs();
/// BART, and the decoder of Whisper, which has no encoder here: its memory is made up.
std::vector<PlainPair> plainBarts();

// What the equations are made of.

/// What is added to head h's score of query i and key j; −inf: it doesn't see the key.
using PlainBias = std::function<double(Index h, Index i, Index j)>;
double hidesFuture(Index h, Index i, Index j);
/// Heads of q [n, heads · dh] on k and v [m, heads · dh], side by side; weights are added to `to`.
Wide readHeads(Index heads, double scale, const Wide& q, const Wide& k, const Wide& v, const PlainBias& bias,
               std::vector<Wide>& to);

}  // namespace headscope::attention::test
