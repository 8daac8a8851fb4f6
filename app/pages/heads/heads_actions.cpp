#include <fmt/core.h>

#include "app/compute/figures/picture_file.h"
#include "app/pages/heads/heads_page.h"
#include "app/scene/mask_rules.h"
#include "app/scene/text/number_text.h"

namespace headscope::app::heads_page {

// The files that the page opens: weights and typed embeddings.

namespace {

/// Applies the sizes, positions and masks that the file specifies; keeps everything it leaves open.
void applyWeights(Scene& scene, const LoadedWeights& weights, const std::string& path) {
  const attention::AttentionConfig& config = weights.config;
  ModelSetup& model = scene.setup.model;
  scene.setup.weights.source = WeightSource::file;
  scene.setup.weights.file = path;
  scene.setup.weights.layer = weights.layer;
  model.heads = config.heads;
  model.kvHeads = config.kvHeads;
  model.headDim = config.headDim;
  model.modelDim = config.modelDim;
  model.linked = model.headDim * model.heads == model.modelDim;
  model.bias = weights.bias;
  if (config.ropeTheta) {
    model.position = PositionKind::rope;
    model.ropeTheta = *config.ropeTheta;
  } else if (config.alibi) {
    model.position = PositionKind::alibi;
  } else if (model.position == PositionKind::rope && model.headDim % 2 != 0) {
    model.position = PositionKind::none;
  }
  attention::joinNumbers(config, model);
  if (attention::PlainRules rules = weights.rules; rules.causal || rules.window > 0) {
    rules.padding = hasRule(scene.setup.mask.layers, attention::PatternKind::padding);
    rules.window = std::min(rules.window, kMaxTokens);
    rules.sinks = std::min(rules.sinks, kMaxTokens);
    scene.setup.mask.layers = layersOf(rules);
  }
}

}  // namespace

void Page::openWeights(const std::filesystem::path& path, const Requester& requester,
                       const Outcome& outcome) {
  const Scene* scene = requester.scene();
  const Index heads = scene ? scene->setup.model.heads : 1;
  services_.files.read<LoadedWeights>(
      path, [path, heads] { return readLoadedWeights(path, heads); },
      [path, requester, outcome](attention::Result<LoadedWeights> weights) {
        if (!weights) return outcome.fail(weights.error().message);
        const std::string name = path.filename().string();
        const auto taken = requester.edit(
            name, [&](Scene& now) { applyWeights(now, *weights, std::filesystem::absolute(path).string()); });
        if (!taken) return outcome.fail(taken.error().message);
        std::string said = "Loaded " + name;
        if (weights->layer >= 0)
          said += fmt::format(", layer {} (the first of {})", weights->layer, weights->layers);
        outcome.done(said);
      });
}

void Page::openTable(const std::filesystem::path& path, const Requester& requester, const Outcome& outcome) {
  services_.files.read<attention::Table>(
      path, [path] { return readEmbeddings(path); },
      [path, requester, outcome](attention::Result<attention::Table> table) {
        if (!table) return outcome.fail(table.error().message);
        const std::string name = path.filename().string();
        const auto taken = requester.edit(name, [&](Scene& now) { takeTable(now, *std::move(table)); });
        taken ? outcome.done("Loaded " + name) : outcome.fail(taken.error().message);
      });
}

bool Page::open(const NamedFile& file, const Requester& requester, const Outcome& outcome) {
  const std::string ending = file.path.extension().string();
  if (ending == ".safetensors" || ending == ".npz" || ending == ".pt" || ending == ".pth")
    openWeights(file.path, requester, outcome);
  else if (ending == ".npy" || ending == ".csv" || ending == ".tsv" || ending == ".txt")
    openTable(file.path, requester, outcome);
  else
    return false;
  return true;
}

std::vector<Action> Page::fileActions() {
  using Opens = void (Page::*)(const std::filesystem::path&, const Requester&, const Outcome&);
  const auto asks = [this](const char* title, std::vector<std::string> endings, Opens opens) {
    return [=, this](Scene&) {
      services_.ask({title, endings, "", [this, opens](Scene&, const auto& path, const Outcome& outcome) {
                       (this->*opens)(path, services_.requester(), outcome);
                     }});
    };
  };
  return {{.id = "weights.open",
           .name = "Load weights from a file…",
           .section = "Scene",
           .whileTyping = true,
           .words = "import checkpoint",
           .run = asks("Load weights", {".safetensors", ".npz", ".pt", ".pth"}, &Page::openWeights)},
          {.id = "table.open",
           .name = "Load embeddings from a file…",
           .section = "Scene",
           .whileTyping = true,
           .run = asks("Load embeddings", {".npy", ".csv", ".tsv", ".txt"}, &Page::openTable)},
          {.id = "table.edit",
           .name = "Edit embeddings as a table",
           .section = "Scene",
           .shortcut = {Key::t, {.ctrl = true}},
           .everywhere = true,
           .whileTyping = true,
           .run = [](Scene& scene) {
             scene.cursor.page = "lab";
             scene.cursor.lab.tab = "embeddings";
           }}};
}

// Actions on one token: copying its vectors or text, decoding up to it.

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
  *at = std::clamp<Index>(offered ? page_.menu.token : scene.cursor.cell.query, 0, std::ssize(tokens) - 1);
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
  const Index at =
      std::clamp<Index>(query ? scene.cursor.cell.query : scene.cursor.cell.key, 0, std::ssize(tokens) - 1);
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

// The page's context menus.

void offerForCell(Scene& scene, View& view, TokenMenu& menu, const Cell& cell) {
  scene.cursor.cell = cell;
  scene.cursor.keyChosen = true;
  menu.token = -1;
  const bool large = scene.cursor.focus >= 0;
  if (large) scene.cursor.focus = cell.head;
  view.menu = {large ? "look.back" : "look.focus",
               "head.copy",
               "picture.save_head",
               "picture.save_heads",
               "page.map",
               "page.mask"};
}

void offerForTitle(Scene& scene, State& page, const ImRect& area, const Cell& cell) {
  if (ImGui::IsWindowHovered() && ImGui::IsMouseClicked(1) && area.Contains(ImGui::GetIO().MousePos))
    offerForCell(scene, page.view, page.menu, cell);
}

void offerForToken(Scene& scene, State& page, bool query, Index at) {
  (query ? scene.cursor.cell.query : scene.cursor.cell.key) = at;
  if (!query) scene.cursor.keyChosen = true;
  page.menu.token = at;
  page.menu.tokenIsQuery = query;
  page.view.menu = {query ? "token.copy_query" : "token.copy_key", "token.copy"};
  if (query) page.view.menu.insert(page.view.menu.begin(), "word.edit");
  if (page.snapshot && page.snapshot->causal) page.view.menu.emplace_back("decode.here");
  page.view.menu.emplace_back("head.copy");
}

void pointAtLabels(Scene& scene, State& page, const HeatTile& tile, const AxisLabels& labels) {
  const auto label = clickedLabel(page.view, tile, labels);
  if (!label) return;
  scene.cursor.cell.head = tile.head;
  offerForToken(scene, page, label->query, label->at);
}

namespace {

using Caption = std::vector<CaptionPart>;

std::string quoted(const std::vector<attention::Token>& tokens, Index i) {
  return "“" + tokens[static_cast<std::size_t>(i)].text + "”";
}

Caption ofCell(const Snapshot& snapshot, const SequenceSnapshot& sequence, const Cell& cell,
               const Theme& theme) {
  const float score = sequence.attention.scores.at(cell.head, cell.query, cell.key);
  const CaptionPart query{quoted(sequence.queries, cell.query), theme.query},
      key{quoted(sequence.keys, cell.key), theme.key};
  if (sequence.attention.lse(cell.head, cell.query) == -INFINITY)
    return {query, {" sees no key, so its output is the bias alone.", theme.text}};
  if (score == -INFINITY)
    return {query, {" can't see ", theme.text}, key, {": the mask hides it.", theme.text}};
  const float weight = sequence.probabilities().at(cell.head, cell.query, cell.key);
  const float rest = 1 - attention::sinkShare(snapshot.config, sequence.attention, cell.head, cell.query);
  const auto others = (sequence.attention.scores[cell.head].row(cell.query).array() != -INFINITY).count() - 1;
  Caption caption{query, {" takes " + weightText(weight) + " of its output from ", theme.text}, key};
  caption.push_back({others == 0   ? ", the only key it sees."
                     : others == 1 ? fmt::format(". The other key gets {}.", weightText(rest - weight))
                                   : fmt::format(". The other {} keys share {}.", others,
                                                 weightText(std::max(0.0f, rest - weight))),
                     theme.text});
  if (rest < 1)
    caption.push_back({fmt::format(" The sink takes {}.", weightText(1 - rest)), theme.secondary});
  return caption;
}

Caption ofStep(const Scene& scene, const Snapshot& snapshot, const SequenceSnapshot& sequence,
               const Theme& theme) {
  const attention::AttentionConfig& config = snapshot.config;
  const Index now = std::clamp<Index>(scene.cursor.step, 1, sequence.queryLength);
  const auto bytes = cacheBytes(snapshot, config.kvHeads, 1, scene.look.cacheBytes) /
                     static_cast<double>(snapshot.sequences.size());
  const bool latent = config.latentDim > 0;
  const std::string where = config.kvHeads == 1   ? "the one kv head"
                            : config.kvHeads == 2 ? "both kv heads"
                                                  : fmt::format("all {} kv heads", config.kvHeads);
  const std::string reused = now == 1   ? ""
                             : now == 2 ? " The previous token is reused."
                                        : fmt::format(" The {} previous tokens are reused.", now - 1);
  return {{quoted(sequence.keys, now - 1), theme.query},
          {latent ? " adds a latent, from which all heads' " : " adds a ", theme.text},
          {latent ? "keys" : "key", theme.key},
          {latent ? " and " : " and a ", theme.text},
          {latent ? "values" : "value", theme.value},
          {(latent ? fmt::format(" are made, {}.", bytesText(bytes))
                   : fmt::format(" to {}, {} in all.", where, bytesText(bytes))) +
               reused,
           theme.text},
          {fmt::format("{} of {}", now, sequence.queryLength), theme.secondary, true}};
}

}  // namespace

Cell selectedCell(const Scene& scene, const Snapshot& snapshot) {
  Cell cell = scene.cursor.cell;
  if (scene.cursor.focus >= 0) cell.head = std::min(scene.cursor.focus, snapshot.config.heads - 1);
  return cell;
}

Caption headSentence(const Scene& scene, const Snapshot& snapshot, const SequenceSnapshot& sequence,
                     const Theme& theme) {
  const Cell cell = selectedCell(scene, snapshot);
  std::string head = layerPrefix(snapshot.setup) + headName(cell.head);
  if (snapshot.setup.subject.model.empty() && snapshot.setup.weights.source == WeightSource::planted)
    head += ", planted as “" +
            attention::describe(plantedHeads(snapshot.setup)[static_cast<std::size_t>(cell.head)]) + "”";
  Caption caption{{head + ": ", theme.text}};
  if (!std::isfinite(sequence.attention.lse(cell.head, cell.query))) {
    caption.insert(caption.end(),
                   {{quoted(sequence.queries, cell.query), theme.query}, {" sees no key.", theme.text}});
    return caption;
  }
  if (!attention::visible(sequence.mask, cell.head, cell.query, cell.key)) {
    caption.insert(caption.end(), {{quoted(sequence.queries, cell.query), theme.query},
                                   {" can't see ", theme.text},
                                   {quoted(sequence.keys, cell.key), theme.key},
                                   {": the mask hides it.", theme.text}});
    return caption;
  }
  const float weight = sequence.probabilities().at(cell.head, cell.query, cell.key);
  caption.insert(caption.end(), {{quoted(sequence.queries, cell.query), theme.query},
                                 {" reads ", theme.text},
                                 {quoted(sequence.keys, cell.key), theme.key},
                                 {" with " + percentText(static_cast<double>(weight)) + ".", theme.text}});
  return caption;
}

Caption captionOf(const Scene& scene, const Snapshot& snapshot, const SequenceSnapshot& sequence,
                  const Theme& theme) {
  const Cell cell = selectedCell(scene, snapshot);
  if (scene.cursor.focus >= 0) return ofCell(snapshot, sequence, cell, theme);
  if (scene.cursor.decoding) return ofStep(scene, snapshot, sequence, theme);
  return {{"Each row is a ", theme.text},   {"query", theme.query},
          {", each column a ", theme.text}, {"key", theme.key},
          {": how much ", theme.text},      {quoted(sequence.queries, cell.query), theme.query},
          {" reads from ", theme.text},     {quoted(sequence.keys, cell.key), theme.key},
          {", in each head.", theme.text}};
}

}  // namespace headscope::app::heads_page
