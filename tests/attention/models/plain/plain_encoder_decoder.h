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

// The building blocks of the equations.

/// The number added to head h's score of query i and key j; −inf if the key is hidden.
using PlainBias = std::function<double(Index h, Index i, Index j)>;
double hidesFuture(Index h, Index i, Index j);
/// Attention heads of q [n, heads · dh] on k and v [m, heads · dh], side by side. Appends the weights to
/// `to`.
Wide readHeads(Index heads, double scale, const Wide& q, const Wide& k, const Wide& v, const PlainBias& bias,
               std::vector<Wide>& to);

}  // namespace headscope::attention::test
