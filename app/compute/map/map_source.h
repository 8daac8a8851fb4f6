#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "app/compute/layer/layer_inputs.h"
#include "app/scene/scene.h"
#include "attention/core/head_map.h"
#include "attention/core/score_terms.h"
#include "attention/core/tensor.h"
#include "attention/text/tokenizer.h"

namespace headscope::app {

/// Everything that determines what a head's map shows, except pooling and position. Fields that have no
/// effect keep their defaults, so that changing them requests no new map.
struct MapQuestion {
  Setup setup;
  MapSource source = MapSource::scene;
  Index tokens = 0;
  std::uint64_t seed = 0;
  std::string file;
  Index layer = 0;
  Index head = 0, sequence = 0;
  bool operator==(const MapQuestion&) const = default;
};
MapQuestion mapQuestion(const Scene& scene, Index head);

/// The texts on the axes. Both are empty if the source holds only numbers.
struct MapText {
  std::vector<attention::Token> queries, keys;  ///< [n], [m]
  bool one = true;                              ///< self-attention: both axes have the same text
};

/// What is known about a mapped head, besides its weights.
struct MapFacts {
  std::shared_ptr<const MapText> text;
  Index heads = 1, kvHeads = 1;
  bool causal = false;               ///< self-attention in which no query sees a later key
  Index layers = 1;                  ///< number of layers in the file
  std::string layerName;             ///< as named in the file
  MemoryShare memory;                ///< the map's share of the memory budget
  std::string notFinite;             ///< why a model's queries or keys aren't finite; "" = they are
  std::vector<std::string> omitted;  ///< sentences about parts of the scene that the map doesn't show
};

/// One head, ready to be mapped.
struct MapHead : MapFacts {
  attention::HeadField field;
};

/// Computes the head's q and k, embedding part by part so that memory stays O(n·headDim). Returns nothing if
/// no text was typed. The Error says what was found and what was expected. The result is incomplete if `stop`
/// is requested. Throws std::bad_alloc.
attention::Result<std::optional<MapHead>> buildMapHead(const MapQuestion& question, Resources& resources,
                                                       std::stop_token stop = {});

/// One cell's score before the softmax, term by term.
struct MapScore {
  float dot = 0;  ///< q·k
  std::vector<attention::ScoreStep> steps;
  float score() const { return steps.back().score; }  ///< −inf if masked
};
MapScore mapScore(const attention::HeadField& field, Index query, Index key);
/// Formats a cell's score, one line per term.
std::string mapScoreText(const attention::HeadField& field, Index query, Index key);

/// Returns a generated text of exactly `tokens` tokens, determined by `seed`. Its chapters repeat a few
/// names, things and places, so that heads that attend to an earlier occurrence, a neighbour or the end of a
/// sentence find a target at any distance.
std::vector<attention::Token> generatedText(attention::Index tokens, std::uint64_t seed,
                                            attention::Tokenization how);

}  // namespace headscope::app
