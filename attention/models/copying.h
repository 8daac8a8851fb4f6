#pragma once

#include "attention/models/circuits.h"

namespace headscope::attention {

/// How much heads copy the tokens they read: for each, Σ Re λ / Σ |λ| over the eigenvalues λ of
/// W_E·W_V·W_O·W_U, [vocabulary, vocabulary] (Elhage et al. 2021, A Mathematical Framework for Transformer
/// Circuits, "copying"): 1 if all are positive, −1 if all are negative, 0 if all are 0. W_E is the embedding
/// as it enters the stream, without positions. As TransformerLens does by default (fold_ln, center_unembed),
/// the gains and centring of the norms that the head and W_U read through are folded into both, and the mean
/// over the vocabulary is subtracted from W_U, which changes no probability.
///
/// Returns an Error of checkCopying(), if the checkpoint changed while it was read, or "stopped" if `stop` is
/// requested. Throws std::invalid_argument if the model lacks a head.
Result<std::vector<double>> copyingScores(const Model& model, std::span<const HeadPlace> heads,
                                          const std::stop_token& stop = {});
/// Returns an Error if the model has no tokens to embed or predict or another layer before the
/// vocabulary (BERT), or if its heads have no maps of their own (checkHeadMaps()) or are cross heads.
Status checkCopying(const Model& model);

}  // namespace headscope::attention
