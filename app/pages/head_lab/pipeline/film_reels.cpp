#include <fmt/core.h>

#include <algorithm>

#include "app/pages/head_lab/pipeline/film_frames.h"

namespace headscope::app::head_lab_page {

namespace {

std::string biasHint(const BiasTerms& terms) {
  if (terms.cap == 0) return "bias added";
  if (!terms.adds()) return "capped";
  return terms.distance ? "bias added, then capped" : "capped, then bias added";
}

/// Sets the frame's number for the hovered cell, and where it comes from.
void addNumber(const State& page, const Cell& cell, FilmFrame& frame) {
  const LayerParts& layer = *page.layer;
  const HeadParts& head = *page.head;
  const attention::AttentionResult& result = layer.sequence().attention;
  const float score = result.scores.at(cell.head, cell.query, cell.key);
  const bool visible = score != -INFINITY;
  const std::string ij = withIndex("q", cell.query) + " · " + withIndex("k", cell.key);
  const Index dim = shownDim(page, cell), column = shownColumn(page, cell);
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
  const Cell cell = shownCell(scene, page);
  FilmReel reel{layer.config(),
                layer.x.rows(),
                layer.keySource().rows(),
                &page.head->pictures,
                layer.sequence().queries,
                cell,
                {}};
  for (const Step step : stepsOf(page)) reel.frames.push_back({step, stepTitle(page, step)});
  layOut(reel.frames, {reel.config, reel.queries, reel.keys, cell.head, layer.context.size() > 0});
  for (FilmFrame& frame : reel.frames) addNumber(page, cell, frame);
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
