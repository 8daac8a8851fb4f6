#include <fmt/core.h>

#include <algorithm>

#include "app/pages/common/model_facts.h"
#include "app/pages/common/token_chips.h"
#include "app/pages/common/unknown_words.h"
#include "app/pages/heads/heads_state.h"
#include "app/platform/track.h"
#include "app/scene/mask_rules.h"
#include "app/scene/models/open_model.h"
#include "app/scene/text/number_text.h"
#include "app/widgets/field_controls.h"
#include "app/widgets/paint.h"
#include "app/widgets/text/text_box.h"

namespace headscope::app::heads_page {

namespace {

/// A choice of the sequence of the batch that the heatmaps show.
void sequenceChoice(Scene& scene, const Snapshot& snapshot, View& view) {
  if (snapshot.sequences.size() < 2) return;
  gap(view, 4);
  std::vector<Choice> choices;
  for (std::size_t i = 0; i < snapshot.sequences.size(); ++i) {
    const SequenceSnapshot& sequence = snapshot.sequences[i];
    choices.push_back(
        {fmt::format("Sequence {} · {}", i, tokenCountText(sequence.queryLength)), "", std::to_string(i)});
  }
  int chosen =
      static_cast<int>(std::clamp<Index>(scene.cursor.sequence, 0, static_cast<Index>(choices.size()) - 1));
  if (dropdown(view, "sequence", choices, chosen, ImGui::GetContentRegionAvail().x))
    scene.cursor.sequence = chosen;
}

void embeddingChoice(Scene& scene, View& view) {
  const InputSetup& input = scene.setup.input;
  const std::string crossReason =
      input.cross ? "Cross-attention needs two texts; a typed table is one sequence" : "";
  if (fieldChoice(view, scene, "input.embedding", {"", crossReason}) &&
      input.source == EmbeddingSource::table)
    view.request("table.edit");
}

void tableControls(Scene& scene, View& view) {
  const attention::Table& table = *scene.setup.input.table;
  hint(view, tokenCountText(table.values.rows()) + " × " + countedText(table.values.cols(), "dimension"));
  if (button(view, "edit_table", "Edit table…")) view.request("table.edit");
  ImGui::SameLine(0, view.px(8));
  if (button(view, "load_table", "Load file…")) view.request("table.open");
}

}  // namespace

void inputSection(Scene& scene, const Snapshot* snapshot, View& view) {
  InputSetup& input = scene.setup.input;
  const SequenceSnapshot* sequence = shownSequence(scene, snapshot);
  const bool typed = input.source == EmbeddingSource::text;
  const bool ofModel = !scene.setup.subject.model.empty();  // which brings its own tokenizer and embeddings
  const auto& opened = scene.setup.subject.opened;
  const bool decodes = opened && opened->sources, given = decodes && !opened->model->source();
  sectionTitle(view, decodes ? "DECODER'S TEXT" : "TOKENS",
               sequence ? tokenCountText(sequence->queryLength) : "");
  if (const std::string patches = patchesText(scene); !patches.empty()) {
    hint(view, patches);
  } else if (decodes) {
    textBox(view, "decoder_text", input.contextText, 2,
            "How the decoder's text begins. Empty: its own answer.");
    gap(view, 2);
  } else if (typed) {
    textBox(view, "text", input.text, 3, "Type a sentence. Each line is a sequence.");
    gap(view, 2);
    if (!ofModel) fieldChoice(view, scene, "input.tokenization");
  } else {
    tableControls(scene, view);
  }
  if (const PlacedError* error = errorAt(snapshot, Place::input)) problem(view, error->message);
  unknownWords(scene, view);
  if (sequence) {
    gap(view, 2);
    const auto written = static_cast<Index>(scene.setup.subject.written.size());
    tokenChips(view, "token", sequence->queries,
               {sequence->queryLength, true, !isCross(scene.setup),
                written > 0 ? sequence->queryLength - written : -1},
               scene.cursor);
    sequenceChoice(scene, *snapshot, view);
  }
  if (decodes) {
    const bool cross = sequence && isCross(scene.setup);
    gap(view, 6);
    sectionTitle(view, given ? "ENCODER'S OUTPUT" : "ENCODER'S TEXT",
                 cross ? countedText(sequence->keyLength, given ? "frame" : "token") : "");
    if (!given) textBox(view, "text", input.text, 2, "Type a sentence for the encoder to read.");
    if (cross) {
      gap(view, 2);
      tokenChips(view, "context_token", sequence->keys, {sequence->keyLength, false, true}, scene.cursor);
    }
  }
  if (input.cross && !ofModel) {
    gap(view, 6);
    sectionTitle(view, "CONTEXT", sequence ? tokenCountText(sequence->keyLength) : "");
    textBox(view, "context", input.contextText, 2, "Text for keys and values.");
    if (const PlacedError* error = errorAt(snapshot, Place::context))
      error->waits ? hint(view, error->message) : problem(view, error->message);
    if (sequence) {
      gap(view, 2);
      tokenChips(view, "context_token", sequence->keys, {sequence->keyLength, false, true}, scene.cursor);
    }
  }
  gap(view, 2);
  if (ofModel) return;
  if (typed) {
    fieldToggle(view, scene, "input.ignore_case");
    const std::string one = isStack(scene.setup) ? "Cross-attention works with one layer only" : "";
    if (fieldToggle(view, scene, "input.cross", one)) {
      if (input.cross && input.contextText.empty()) input.contextText = kSampleContext;
      followCross(scene.setup);
    }
  }
  embeddingChoice(scene, view);
}

}  // namespace headscope::app::heads_page
