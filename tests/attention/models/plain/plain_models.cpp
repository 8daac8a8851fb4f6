#include <fstream>
#include <map>
#include <stdexcept>

#include "test_paths.h"
#include "tests/attention/models/plain/plain_decoder.h"
#include "tests/attention/models/plain/plain_rows.h"

namespace headscope::attention::test {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(PlainNames, prefix, layer, embedding, finalNorm, positions,
                                                types, embeddingNorm, mapBefore, mapAfter, mapOut, q, k, v, o,
                                                gate, up, down, curve, qkv, gateUp, before, beforeMlp, after,
                                                afterMlp, joined, joinedMlp, qNorm, kNorm, headNorm, weight,
                                                bias, head, headDense, headDenseNorm, headDenseBias)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(PlainYarn, factor, original, fast, slow, whole, growth,
                                                sharpness)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(PlainRope, dims, neighbours, on, theta, stretch, factors, ntk,
                                                longer, original, yarn)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(PlainExperts, count, used, inner, shared, sumsToOne,
                                                gatesShared, on, router, gate, up, down, sharedName,
                                                interleaved, corrected, grouped, factor, softmax, correction,
                                                jitter, stacked)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(
    PlainDecoder, width, heads, kvHeads, headDim, inner, vocabulary, layers, embedded, positionRows,
    firstPosition, pad, types, epsilon, scale, residual, embed, logits, cap, clip, scaleDivisor, window,
    growth, grownFrom, act, layerNorm, normBias, normed, plusOne, parallel, ownMlpNorm, tied, causal,
    predicts, qkvBias, outputBias, mlpBias, headBias, transposed, headByHead, sinks, firstNorm, headNorms,
    tableOfNorms, listOfNorms, alibi, slopeMost, slopeFactor, normedStream, latent, queryRank, rotatedFirst,
    sinusoids, quarters, names, rope, experts)

void requireKnown(const nlohmann::json& part, const nlohmann::json& known, const std::string& at) {
  if (!part.is_object() || !known.is_object()) return;
  for (const auto& [name, value] : part.items()) {
    if (name == "why") continue;
    if (!known.contains(name))
      throw std::invalid_argument("plain_models.json: " + at + " has an unknown \"" + name + "\"");
    requireKnown(value, known[name], at + "." + name);
  }
}

std::vector<nlohmann::json> plainRows(const std::string& list) {
  std::ifstream file(HEADSCOPE_TEST_DIR "/attention/models/plain/plain_models.json");
  std::map<std::string, nlohmann::json> named;
  std::vector<nlohmann::json> rows;
  const auto parts = nlohmann::json::parse(R"({"name": 0, "base": 0, "config": 0, "plain": 0, "processor": 0,
    "before": 0, "shape": 0, "names": 0})");
  const nlohmann::json lists = nlohmann::json::parse(file);
  for (const char* each : {"bases", list.c_str()})
    for (const nlohmann::json& row : lists.at(each)) {
      requireKnown(row, parts, row.at("name"));
      nlohmann::json whole = row.contains("base") ? named.at(row.at("base")) : nlohmann::json::object();
      whole.update(row, true);
      named[row.at("name")] = whole;
      if (each == list) rows.push_back(std::move(whole));
    }
  return rows;
}

std::vector<PlainModel> plainModels() {
  std::vector<PlainModel> models;
  for (const nlohmann::json& row : plainRows("models")) {
    const auto m = partOf<PlainDecoder>(row, "plain");
    models.push_back({row.at("name"), row.at("config").dump(), m.vocabulary,
                      [m](MadeUpTensors& t, const std::vector<Index>& ids) { return run(m, t, ids); }});
  }
  return models;
}

}  // namespace headscope::attention::test
