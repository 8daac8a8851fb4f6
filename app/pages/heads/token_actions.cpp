// Actions on one token: copying its vectors or text, decoding up to it.

#include <fmt/core.h>

#include <algorithm>

#include "app/compute/figures/matrix_csv.h"
#include "app/pages/heads/heads_page.h"
#include "app/scene/text/number_text.h"

namespace headscope::app::heads_page {

namespace {

/// One row of `matrix` as a matrix.
attention::Matrix rowOf(attention::MatrixView matrix, Index row) {
  return matrix.row(row);
}

std::vector<attention::Token> numbered(const char* letter, Index count) {
  std::vector<attention::Token> names;
  for (Index i = 0; i < count; ++i) names.push_back({fmt::format("{}{}", letter, i), false});
  return names;
}

}  // namespace

/// The token on which the menu was opened, else the selected query; null if there is none.
const attention::Token* Page::chosenToken(const Scene& scene, Index* at) const {
  const SequenceSnapshot* sequence = shownSequence(scene, page_.snapshot.get());
  if (!sequence) return nullptr;
  const bool offered = page_.menu.token >= 0;
  const auto& tokens = offered && !page_.menu.tokenIsQuery ? sequence->keys : sequence->queries;
  const Index last = static_cast<Index>(tokens.size()) - 1;
  *at = std::clamp<Index>(offered ? page_.menu.token : scene.cursor.cell.query, 0, last);
  return &tokens[static_cast<std::size_t>(*at)];
}

void Page::copyToken(const Scene& scene) {
  Index at = 0;
  View& view = services_.view;
  const attention::Token* token = chosenToken(scene, &at);
  if (!token) return view.messages.fail("No token to copy. Type a sentence first.");
  ImGui::SetClipboardText(token->text.c_str());
  view.tell("Copied “" + token->text + "”", view.pressedAt);
}

void Page::copyVectors(const Scene& scene, bool query) {
  View& view = services_.view;
  const SequenceSnapshot* sequence = shownSequence(scene, page_.snapshot.get());
  if (!sequence) return view.messages.fail("No token to copy. Type a sentence first.");
  const attention::AttentionConfig& config = page_.snapshot->config;
  const attention::AttentionResult& result = sequence->attention;
  const Index head = std::clamp<Index>(scene.cursor.cell.head, 0, config.heads - 1);
  const auto& tokens = query ? sequence->queries : sequence->keys;
  const Index at = std::clamp<Index>(query ? scene.cursor.cell.query : scene.cursor.cell.key, 0,
                                     static_cast<Index>(tokens.size()) - 1);
  const std::string& name = tokens[static_cast<std::size_t>(at)].text;
  const Index kv = config.kvHeadOf(head);
  std::vector<attention::Token> rows{{(query ? "q " : "k ") + name, false}};
  attention::Matrix values = rowOf(query ? result.q[head] : result.k[kv], at);
  if (!query) {
    values.conservativeResize(2, Eigen::NoChange);
    values.row(1) = result.v[kv].row(at);
    rows.push_back({"v " + name, false});
  }
  ImGui::SetClipboardText(
      matrixCsv({values.data(), values.rows(), values.cols()}, rows, numbered("d", values.cols())).c_str());
  view.tell(
      query ? fmt::format("Copied q of “{}” in head {}: {} as CSV", name, head,
                          countedText(values.cols(), "number"))
            : fmt::format("Copied k and v of “{}” in KV {}: 2 × {} numbers as CSV", name, kv, values.cols()),
      view.pressedAt);
}

void Page::decodeTo(Scene& scene) {
  const SequenceSnapshot* sequence = shownSequence(scene, page_.snapshot.get());
  Index at = 0;
  if (!sequence || !chosenToken(scene, &at))
    return services_.view.messages.fail("No token to decode. Type a sentence first.");
  if (!page_.snapshot->causal)
    return services_.view.messages.fail(
        "Decoding needs a causal mask: without it, earlier tokens see later ones.");
  scene.cursor.page = "heads";
  scene.cursor.decoding = true;
  page_.play.on = false;
  scene.cursor.step =
      std::clamp(at + 1, std::min(scene.setup.prefill, sequence->queryLength), sequence->queryLength);
  scene.cursor.cell.query = scene.cursor.step - 1;
}

std::vector<Action> Page::tokenActions() {
  const auto action = [](const char* id, const char* name, const char* section,
                         std::function<void(Scene&)> run) {
    return Action{.id = id, .name = name, .section = section, .whileTyping = true, .run = std::move(run)};
  };
  return {
      action("token.copy", "Copy this token's text", "View", [this](Scene& scene) { copyToken(scene); }),
      action("token.copy_query", "Copy this query's vector as CSV", "View",
             [this](Scene& scene) { copyVectors(scene, true); }),
      action("token.copy_key", "Copy this key's and its value's vectors as CSV", "View",
             [this](Scene& scene) { copyVectors(scene, false); }),
      action("decode.here", "Decode up to this token", "Decode", [this](Scene& scene) { decodeTo(scene); })};
}

}  // namespace headscope::app::heads_page
