#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/compute/heads/head_studies.h"
#include "attention/models/session.h"
#include "attention/models/tokenizer/text_tokenizer.h"
#include "attention/models/vision/vision_model.h"

namespace headscope::app {

/// The results of a run of `headscope model`.
struct ModelReport {
  std::shared_ptr<const attention::TextTokenizer> tokenizer;  ///< null if ids were given and there is none
  std::string note;                                           ///< why ids are shown without texts
  std::optional<attention::VisionModel> picture;  ///< if --image was given; its tokens are the input
  std::vector<attention::Index> inputIds;
  std::vector<attention::Index> sourceIds;  ///< what the encoder read, if the decoder has one
  std::optional<std::vector<attention::Index>> generatedIds;  ///< if --generate was given
  attention::PassResult pass;                                 ///< over the input
  std::optional<std::vector<ComposedPair>> compositions;      ///< if --composition was given
  double tokensPerSecond = 0;                                 ///< of generation
};

/// The arrays that -o can write in addition to the ids.
inline constexpr const char* kModelArrays[] = {"attention", "q", "k", "v", "hidden", "logits"};

/// Writes input_ids [n], generated_ids, source_ids, and those of `arrays` that the pass kept: attention
/// [layers, heads, n, n] (for cross heads [layers, heads, n, m], and k and v have m rows), q [layers, heads,
/// n, head_dim], k and v [layers, kv_heads, n, head_dim], hidden [layers + 1, n, d], logits [n, vocabulary].
/// With chosen layers, hidden is [layers, n, d], without the embedding, and the metadata lists the layers.
attention::Status writeModelRun(const std::string& path, const ModelReport& run, bool chosenLayers,
                                bool cross, const std::vector<std::string>& arrays);

/// Formats what is printed: the model, the tokens, the predictions after the last one (an encoder's at each
/// token), and the generated text.
std::string modelTable(const attention::Model& model, const ModelReport& run);
/// The same as JSON.
std::string modelJson(const attention::Model& model, const ModelReport& run);

/// The families of models and what is computed of each, one to a line, or as JSON.
std::string familiesTable();
std::string familiesJson();

}  // namespace headscope::app
