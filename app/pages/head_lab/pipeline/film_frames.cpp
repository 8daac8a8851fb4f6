#include <fmt/core.h>

#include "app/pages/head_lab/pipeline/pipeline.h"

namespace headscope::app::head_lab_page {

std::vector<Stage> operandsOf(Step step, bool biased) {
  switch (step) {
    case Step::input:
      return {};
    case Step::project:
      return {Stage::x};
    case Step::split:
      return {Stage::q, Stage::k, Stage::v};
    case Step::dot:
      return {Stage::q, Stage::k};
    case Step::scale:
    case Step::bias:
      return {Stage::dots};
    case Step::mask:
      return {biased ? Stage::biased : Stage::dots};
    case Step::softmax:
      return {Stage::scores};
    case Step::mix:
      return {Stage::weights, Stage::v};
    case Step::concat:
      return {Stage::headOutput};
    case Step::output:
      return {Stage::concat};
  }
  return {};
}

namespace {

float columnsWidth(Index columns) {
  return std::clamp(6 * std::sqrt(static_cast<float>(columns)), 34.0f, 96.0f);
}

/// The sizes in shapes: numbers if the text is known, else letters.
struct SizeNames {
  std::string n, m, d, dim, heads, kvHeads, wide, kvWide;
};

SizeNames sizeNames(const FilmSizes& sizes) {
  if (sizes.queries == 0) {
    const std::string m = sizes.cross ? "m" : "n";
    const std::string kv = sizes.config.kvHeads != sizes.config.heads ? "g" : "h";
    return {"n", m, "d", "dₖ", "h", kv, "h·dₖ", kv + "·dₖ"};
  }
  const attention::AttentionConfig& config = sizes.config;
  const auto text = [](Index size) { return std::to_string(size); };
  return {text(sizes.queries),
          text(sizes.keys),
          text(config.modelDim),
          text(config.headDim),
          text(config.heads),
          text(config.kvHeads),
          text(config.heads * config.headDim),
          text(config.kvHeads * config.headDim)};
}

void layOutFrame(FilmFrame& frame, const FilmSizes& sizes, const SizeNames& name) {
  const attention::AttentionConfig& config = sizes.config;
  const Index d = config.modelDim, dim = config.headDim, kv = config.kvHeadOf(sizes.head);
  const Index wide = config.heads * dim, kvWide = config.kvHeads * dim;
  const float letters = sizes.queries == 0 ? 46 : 0;  // shapes in letters are wider than narrow matrices
  const float kvSpan = std::max(columnsWidth(kvWide) * 0.66f, letters);
  const auto shape = [](const std::string& rows, const std::string& cols) { return rows + "×" + cols; };
  const auto add = [&](FilmBlock block) { frame.blocks.push_back(std::move(block)); };
  const auto square = [&](Stage stage) {
    add({stage, Ink::map, frame.title, shape(name.n, name.m), 144, 1, -1, false, true, true});
  };
  switch (frame.step) {
    case Step::input:
      add({Stage::x, Ink::stream, "X", shape(name.n, name.d), columnsWidth(d), 1, -1, false, !sizes.cross,
           true});
      if (sizes.cross)
        add({Stage::context, Ink::stream, "C", shape(name.m, name.d), columnsWidth(d), 1, -1, false, true,
             false});
      break;
    case Step::project:
      add({Stage::q, Ink::query, "Q", shape(name.n, name.wide), columnsWidth(wide)});
      add({Stage::k, Ink::key, "K", shape(name.m, name.kvWide), kvSpan, 1, -1, false, true, false});
      add({Stage::v, Ink::value, "V", shape(name.m, name.kvWide), kvSpan, 1, -1, false, true, false});
      break;
    case Step::split:
      add({Stage::q, Ink::query, "", shape(name.heads, name.dim), columnsWidth(wide) + 20, config.heads,
           sizes.head});
      add({Stage::k, Ink::key, "", shape(name.kvHeads, name.dim), kvSpan + 10, config.kvHeads, kv, false,
           true, false});
      add({Stage::v, Ink::value, "", shape(name.kvHeads, name.dim), kvSpan + 10, config.kvHeads, kv, false,
           true, false});
      break;
    case Step::dot:
    case Step::scale:
      square(Stage::dots);
      break;
    case Step::bias:
      square(Stage::biased);
      break;
    case Step::mask:
      square(Stage::scores);
      break;
    case Step::softmax:
      square(Stage::weights);
      break;
    case Step::mix:
      add({Stage::headOutput, Ink::value, "· V", shape(name.n, name.dim), columnsWidth(dim)});
      break;
    case Step::concat:
      add({Stage::concat, Ink::value, "concat", shape(name.n, name.wide), columnsWidth(wide), config.heads,
           sizes.head});
      break;
    case Step::output:
      add({Stage::output, Ink::stream, "· W_O", shape(name.n, name.d), columnsWidth(d)});
      break;
  }
}

}  // namespace

void layOut(std::vector<FilmFrame>& frames, const FilmSizes& sizes) {
  const SizeNames names = sizeNames(sizes);
  for (FilmFrame& frame : frames) {
    layOutFrame(frame, sizes, names);
    for (const FilmBlock& block : frame.blocks) frame.width += block.width;
  }
}

namespace {

std::string biasHint(const BiasTerms& terms) {
  if (terms.cap == 0) return "bias added";
  if (!terms.adds()) return "capped";
  return terms.distance ? "bias added, then capped" : "capped, then bias added";
}

/// Sets the frame's number for the selected cell, and where it comes from.
void addNumber(const State& page, const Spot& spot, FilmFrame& frame) {
  const auto& [cell, dim, column] = spot;
  const LayerParts& layer = *page.layer;
  const HeadParts& head = *page.head;
  const attention::AttentionResult& result = layer.sequence().attention;
  const float score = result.scores.at(cell.head, cell.query, cell.key);
  const bool visible = score != -INFINITY;
  const std::string ij = withIndex("q", cell.query) + " · " + withIndex("k", cell.key);
  const float weight = layer.sequence().probabilities().at(cell.head, cell.query, cell.key);
  switch (frame.step) {
    case Step::input:
      frame.number = withIndex("x", cell.query) + " " + withIndex(layer.context.size() ? "c" : "x", cell.key);
      frame.hint = "two rows";
      break;
    case Step::project:
      frame.number = fmt::format("{} {} {}", withIndex("q", cell.query), withIndex("k", cell.key),
                                 withIndex("v", cell.key));
      frame.hint = "x·W_Q   x·W_K   x·W_V";
      break;
    case Step::split: {
      const Index group = layer.config().groupSize(), kv = layer.config().kvHeadOf(cell.head);
      frame.number = withIndex("Q", cell.head) + " " + withIndex("K", kv) + " " + withIndex("V", kv);
      frame.hint = group == 1 ? "one per head"
                              : fmt::format("heads {}–{} read them", kv * group, kv * group + group - 1);
      break;
    }
    case Step::dot:
      frame.number = cellText(head.steps.dots(cell.query, cell.key));
      frame.hint = ij;
      break;
    case Step::scale:
      frame.number = cellText(head.steps.dots(cell.query, cell.key) * head.steps.factor);
      frame.hint = head.steps.factor == 1 ? "unchanged"
                                          : cellText(head.steps.dots(cell.query, cell.key)) + " " +
                                                factorText(head.steps.factor);
      break;
    case Step::bias:
      frame.number = cellText(head.steps.unmasked(cell.query, cell.key));
      frame.hint = biasHint(biasTerms(page));
      break;
    case Step::mask:
      frame.number = cellText(score);
      frame.hint = visible ? "visible" : "masked";
      break;
    case Step::softmax:
      frame.number = cellText(weight);
      frame.hint = visible ? "exp(score − max) ÷ Σ" : "masked";
      break;
    case Step::mix:
      frame.number = cellText(result.headOutput.at(cell.head, cell.query, dim));
      frame.hint = fmt::format("column {}", dim);
      break;
    case Step::concat:
      frame.number = cellText(result.headOutput.at(cell.head, cell.query, dim));
      frame.hint = fmt::format("column {}", cell.head * layer.config().headDim + dim);
      break;
    case Step::output:
      frame.number = cellText(result.output(cell.query, column));
      frame.hint = fmt::format("column {}", column);
      break;
  }
}

/// Marks what the shown step reads.
void markOperands(const State& page, Step shown, std::vector<FilmFrame>& frames) {
  const std::vector<Stage> operands = operandsOf(shown, page.head->steps.biased.size() > 0);
  for (FilmFrame& frame : frames)
    for (FilmBlock& block : frame.blocks) {
      const bool before = frame.step < shown;
      // If a matrix appears twice, the step reads it in the later frame.
      const bool whole = (shown == Step::dot || shown == Step::mix) && frame.step == Step::project;
      const bool scaled = shown == Step::scale ? frame.step == Step::dot : frame.step != Step::dot;
      block.used = before && !whole && (block.stage != Stage::dots || scaled) &&
                   std::find(operands.begin(), operands.end(), block.stage) != operands.end();
    }
}

}  // namespace

FilmReel headReel(const Scene& scene, const State& page) {
  const LayerParts& layer = *page.layer;
  const Spot spot = selectedSpot(scene, page);
  FilmReel reel{layer.config(),
                layer.x.rows(),
                layer.keySource().rows(),
                &page.head->pictures,
                layer.sequence().queries,
                spot.cell,
                {}};
  for (const Step step : stepsOf(page)) reel.frames.push_back({step, stepTitle(page, step)});
  layOut(reel.frames, {reel.config, reel.queries, reel.keys, spot.cell.head, layer.context.size() > 0});
  for (FilmFrame& frame : reel.frames) addNumber(page, spot, frame);
  markOperands(page, scene.cursor.lab.step, reel.frames);
  return reel;
}

FilmReel emptyReel(const Snapshot& snapshot, const LayerFault* fault) {
  FilmReel reel{snapshot.config, 0, 0, nullptr, {}, std::nullopt, {}};
  if (fault) {
    reel.queries = std::ssize(fault->queries);
    reel.keys = std::ssize(fault->keys);
    reel.pictures = &fault->pictures;
    reel.tokens = fault->queries;
  }
  // An additive matrix is a term of the score, whether its size fits or not.
  attention::MaskInput mask;
  if (!snapshot.setup.mask.additive->values.isZero(0)) mask.additive = attention::Stack(1, 1, 1);
  for (const Step step : stepsOf(snapshot.config, mask))
    reel.frames.push_back({step, stepTitle(snapshot.config, mask, step)});
  layOut(reel.frames,
         {reel.config, reel.queries, reel.keys, fault ? fault->question.head : 0, isCross(snapshot.setup)});
  if (!fault) return reel;
  for (FilmFrame& frame : reel.frames) {
    frame.broken = frame.step == fault->step;
    if (!frame.broken || fault->found.empty()) continue;
    frame.number = fault->found;
    frame.hint = "expected " + fault->expected;
  }
  return reel;
}

}  // namespace headscope::app::head_lab_page
