#pragma once

#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "app/compute/layer/resources.h"
#include "app/scene/scene.h"
#include "attention/core/head_map.h"
#include "attention/core/score_terms.h"

namespace headscope::app {

/// Everything that decides what a head's map shows, apart from pooling and place. What takes no part is left
/// at its default, so that changing it asks for no new map.
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

/// What stands on the axes; both empty where the source is numbers without a text.
struct MapText {
  std::vector<attention::Token> queries, keys;  ///< [n], [m]
  bool one = true;                              ///< self-attention: both are the same text
};

/// One head, ready to be mapped.
struct MapHead {
  attention::HeadField field;
  std::shared_ptr<const MapText> text;
  Index heads = 1, kvHeads = 1;
  bool causal = false;               ///< self-attention in which no query sees a later key
  Index layers = 1;                  ///< of the file
  std::string layerName;             ///< as the file has it
  MemoryShare memory;                ///< what the head's map takes of the budget
  std::string notFinite;             ///< why the queries and keys of a model aren't; "": they are
  std::vector<std::string> omitted;  ///< what of the scene a map doesn't show, in sentences
};

/// The head's own q and k: embeddings are made part by part, so that memory stays O(n·headDim). Nothing where
/// nothing was typed. The error says what was found and what was expected. When `stop` is requested, what it
/// returns is incomplete. Throws std::bad_alloc.
attention::Result<std::optional<MapHead>> buildMapHead(const MapQuestion& question, Resources& resources,
                                                       std::stop_token stop = {});

/// One cell's score as the softmax sees it, term by term.
struct MapScore {
  float dot = 0;  ///< q·k
  std::vector<attention::ScoreStep> steps;
  float score() const { return steps.back().score; }  ///< −inf where it is masked
};
MapScore mapScore(const attention::HeadField& field, Index query, Index key);
/// The same in lines, one for each term.
std::string mapScoreText(const attention::HeadField& field, Index query, Index key);

}  // namespace headscope::app
