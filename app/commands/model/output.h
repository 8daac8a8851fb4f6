#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/compute/heads/head_composition.h"
#include "attention/models/session.h"
#include "attention/models/tokenizer/text_tokenizer.h"
#include "attention/models/vision/picture_model.h"

namespace headscope::app {

/// What a run of `headscope model` came to.
struct ModelReport {
  std::shared_ptr<const attention::TextTokenizer>
      tokenizer;  ///< null where ids were given and the folder has none
  std::optional<attention::PictureModel> picture;  ///< where --image was given: its tokens are the input
  std::vector<attention::Index> inputIds;
  std::vector<attention::Index> sourceIds;  ///< of a decoder that reads: what its encoder read
  std::optional<std::vector<attention::Index>> generatedIds;  ///< where --generate was given
  attention::PassResult pass;                                 ///< over the input
  std::optional<std::vector<ComposedPair>> compositions;      ///< where --composition was given
  double tokensPerSecond = 0;                                 ///< of the generated ones
};

/// The arrays that -o can write besides the ids.
inline constexpr const char* kModelArrays[] = {"attention", "q", "k", "v", "hidden", "logits"};

/// Writes input_ids [n], generated_ids, and of `arrays` those that the pass kept: attention
/// [layers, heads, n, n] (of cross heads [layers, heads, n, m], as k and v have m rows), q [layers, heads, n,
/// head_dim], k and v [layers, kv_heads, n, head_dim], hidden [layers + 1, n, d], logits [n, vocabulary].
/// With a choice of layers hidden is [layers, n, d], without the embedding, and the metadata names them.
attention::Status writeModelRun(const std::string& path, const ModelReport& run, bool chosenLayers,
                                bool cross, const std::vector<std::string>& arrays);

/// What is printed: the model, the tokens, the guesses behind the last (an encoder's for each token), what
/// was written on.
std::string modelTable(const attention::Model& model, const ModelReport& run);
/// The same as JSON.
std::string modelJson(const attention::Model& model, const ModelReport& run);

}  // namespace headscope::app
