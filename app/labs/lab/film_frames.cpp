#include "app/labs/lab/film_frames.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

namespace headscope::app {

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

std::string biasHint(const BiasTerms& terms) {
  if (terms.cap == 0) return "with what is added";
  if (!terms.adds()) return "capped";
  return terms.distance ? "added to, then capped" : "capped, then added to";
}

/// The number of the pointed-at cell in a frame, and where it comes from.
void addNumber(const LabPage& page, const Cell& cell, FilmFrame& frame) {
  const LayerParts& layer = *page.layer;
  const HeadParts& head = *page.head;
  const attention::AttentionResult& result = layer.sequence().attention;
  const float score = result.scores.at(cell.head, cell.query, cell.key);
  const bool visible = score != -INFINITY;
  const std::string ij = withIndex("q", cell.query) + " · " + withIndex("k", cell.key);
  const Index dim = labDim(page, cell), column = labColumn(page, cell);
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
      frame.hint = group == 1 ? "each head its own"
                              : fmt::format("heads {}–{} read them", kv * group, kv * group + group - 1);
      break;
    }
    case Step::dot:
      frame.number = cellText(head.steps.dots(cell.query, cell.key));
      frame.hint = ij;
      break;
    case Step::scale:
      frame.number = cellText(head.steps.dots(cell.query, cell.key) * head.steps.factor);
      frame.hint = cellText(head.steps.dots(cell.query, cell.key)) + " " + factorText(head.steps.factor);
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

/// Lights what the shown step reads.
void markOperands(const LabPage& page, Step shown, std::vector<FilmFrame>& frames) {
  const std::vector<Stage> operands = operandsOf(shown, page.head->steps.biased.size() > 0);
  for (FilmFrame& frame : frames)
    for (FilmBlock& block : frame.blocks) {
      const bool before = frame.step < shown;
      // Where a matrix stands twice, the later frame is the one that is read.
      const bool whole = (shown == Step::dot || shown == Step::mix) && frame.step == Step::project;
      const bool scaled = shown == Step::scale ? frame.step == Step::dot : frame.step != Step::dot;
      block.used = before && !whole && (block.stage != Stage::dots || scaled) &&
                   std::find(operands.begin(), operands.end(), block.stage) != operands.end();
    }
}

}  // namespace

std::vector<FilmFrame> framesOf(const LabPage& page, Step shown, const Cell& cell) {
  const LayerParts& layer = *page.layer;
  const attention::AttentionConfig& config = layer.config();
  const Index n = layer.x.rows(), m = layer.keySource().rows(), d = config.modelDim;
  const Index dim = config.headDim, kv = config.kvHeadOf(cell.head);
  const Index wide = config.heads * dim, kvWide = config.kvHeads * dim;
  const bool cross = layer.context.size() > 0;
  std::vector<FilmFrame> frames;
  for (const Step step : stepsOf(page)) frames.push_back({step, {}, "", "", 0});
  for (FilmFrame& frame : frames) {
    const auto add = [&](FilmBlock block) { frame.blocks.push_back(std::move(block)); };
    const auto square = [&](Stage stage) {
      add({stage, Ink::map, stepTitle(page, frame.step), shapeText(n, m), 144, 1, -1, false, true, true});
    };
    switch (frame.step) {
      case Step::input:
        add({Stage::x, Ink::stream, "X", shapeText(n, d), columnsWidth(d), 1, -1, false, !cross, true});
        if (cross)
          add({Stage::context, Ink::stream, "C", shapeText(m, d), columnsWidth(d), 1, -1, false, true,
               false});
        break;
      case Step::project:
        add({Stage::q, Ink::query, "Q", shapeText(n, wide), columnsWidth(wide)});
        add({Stage::k, Ink::key, "K", shapeText(m, kvWide), columnsWidth(kvWide) * 0.66f, 1, -1, false, true,
             false});
        add({Stage::v, Ink::value, "V", shapeText(m, kvWide), columnsWidth(kvWide) * 0.66f, 1, -1, false,
             true, false});
        break;
      case Step::split:
        add({Stage::q, Ink::query, "", shapeText(config.heads, dim), columnsWidth(wide) + 20, config.heads,
             cell.head});
        add({Stage::k, Ink::key, "", shapeText(config.kvHeads, dim), columnsWidth(kvWide) * 0.66f + 10,
             config.kvHeads, kv, false, true, false});
        add({Stage::v, Ink::value, "", shapeText(config.kvHeads, dim), columnsWidth(kvWide) * 0.66f + 10,
             config.kvHeads, kv, false, true, false});
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
        add({Stage::headOutput, Ink::value, "· V", shapeText(n, dim), columnsWidth(dim)});
        break;
      case Step::concat:
        add({Stage::concat, Ink::value, "concat", shapeText(n, wide), columnsWidth(wide), config.heads,
             cell.head});
        break;
      case Step::output:
        add({Stage::output, Ink::stream, "· W_O", shapeText(n, d), columnsWidth(d)});
        break;
    }
    addNumber(page, cell, frame);
    for (const FilmBlock& block : frame.blocks) frame.width += block.width;
  }
  markOperands(page, shown, frames);
  return frames;
}

}  // namespace headscope::app
