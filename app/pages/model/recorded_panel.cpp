#include <fmt/core.h>

#include "app/kit/rows.h"
#include "app/pages/model/model_answers.h"
#include "app/pages/model/model_state.h"
#include "app/scene/text/number_text.h"
#include "app/widgets/controls.h"
#include "app/widgets/paint.h"
#include "attention/core/extremes.h"

namespace headscope::app::model_page {

// Explains the selected cell of recorded attention: how its weight follows from q and k if the file has them,
// and what the file lacks.

namespace {

/// Draws values as bars from a centre line, all to the same scale.
void bars(Rows& rows, const attention::Vector& values, std::uint32_t color, const char* name) {
  const ImRect area = rows.area(name, 26);
  const float middle = area.GetCenter().y, half = area.GetHeight() / 2;
  Canvas list = *ImGui::GetWindowDrawList();
  list.AddLine(ImVec2(area.Min.x, middle), ImVec2(area.Max.x, middle), rows.theme().line);
  const float most = std::max(attention::largestFinite(values), 1e-20f);
  const float each = area.GetWidth() / static_cast<float>(values.size());
  for (Index d = 0; d < values.size(); ++d) {
    const float x = area.Min.x + each * static_cast<float>(d), y = middle - values[d] / most * half;
    list.AddRectFilled(ImVec2(x, std::min(y, middle)),
                       ImVec2(x + std::max(1.0f, each - 1), std::max(y, middle)), color);
  }
  if (!ImGui::IsItemHovered()) return;
  const auto d = static_cast<Index>((ImGui::GetIO().MousePos.x - area.Min.x) / each);
  if (d >= 0 && d < values.size())
    tooltip(rows.view(), fmt::format("dimension {}: {}", d, numberText(values[d])));
}

std::string scaleText(const RecordedRule& rule, Index dims) {
  return rule.byRootOfDim ? fmt::format("1/√{}", dims) : numberText(rule.scale);
}

/// The steps from q and k to the weight, if a single scale explains the head's weights.
void weightLines(Rows& rows, const RecordedRule& rule, const RecordedReceipt& receipt) {
  const Index dims = receipt.terms.size();
  rows.section("WEIGHT, STEP BY STEP");
  rows.pair("q · k, a sum of " + countedText(dims, "term"), numberText(receipt.dot));
  bars(rows, receipt.terms, rows.theme().secondary, "recorded.terms");
  rows.pair("times " + scaleText(rule, dims), numberText(receipt.score));
  rows.pair(
      fmt::format("exp(score − {}), over {}", numberText(receipt.logSum), countedText(receipt.keys, "key")),
      weightText(static_cast<float>(static_cast<double>(receipt.weight) / receipt.share)));
  if (rule.sink) rows.pair("times the row's sum; a sink takes the rest", weightText(receipt.weight));
  rows.pair("in the file", weightText(receipt.recorded));
  rows.hint(fmt::format("The file gives no scale; {} reproduces this head's weights within {}.",
                        scaleText(rule, dims), numberText(rule.apart, 2)));
}

/// The value's contribution to the output, if the file has v.
void valueLines(Rows& rows, const RecordedReceipt& receipt) {
  if (receipt.output.size() == 0) return rows.hint("The file has no v, so the head's output is unknown.");
  rows.section("CONTRIBUTION");
  rows.pair("‖weight · v‖ of this key", numberText(receipt.mixed.norm()));
  bars(rows, receipt.mixed, rows.theme().value, "recorded.value");
  rows.pair("‖Σ weight · v‖, the head's output", numberText(receipt.output.norm()));
  bars(rows, receipt.output, rows.theme().value, "recorded.output");
  rows.hint("Before W_O, which is not in the file.");
}

/// What is wrong with the cell, or with the sum of its row; "" if nothing is.
std::string cellFault(const LayerSummary& layer, const Cell& cell) {
  const attention::Matrix row = std::as_const(layer.weights)[cell.head].row(cell.query);
  const float weight = row(0, cell.key);
  if (std::isnan(weight)) return "This weight is NaN or infinite in the file.";
  if (weight < 0) return "This weight is negative, which a softmax never gives.";
  if (attention::isAboveOne(weight)) return "This weight is above 1, which a softmax never gives.";
  const attention::WeightFaults faults = attention::faultsOf(row);
  return faults.rows == 0 ? ""
                          : fmt::format("This query’s weights sum to {}, not 1.", numberText(faults.maxSum));
}

/// How q and k give the weight, or why the file doesn't tell.
void steps(Rows& rows, const State& page, const LayerSummary& layer, Index at, const Cell& cell) {
  const bool noQ = layer.q.size() == 0, noK = layer.k.size() == 0;
  if (noQ || noK)
    return rows.hint(
        fmt::format("The file has no {}, so the weights can't be traced to scores.", noQ && noK ? "q and k"
                                                                                     : noQ      ? "q"
                                                                                                : "k"));
  const RecordedQuestion asked{page.study.shared(), at, cell.head};
  const RecordedRule* const rule = page.recorded.of(asked);
  if (!rule) {
    const std::string problem = page.recorded.problem(asked);
    return rows.hint(problem.empty() ? "…" : problem);
  }
  if (!rule->explains())
    return rows.hint(
        fmt::format("No single scale of q · k reproduces this head's weights; the closest, {}, differs by up "
                    "to {}. A bias, soft-cap or rotation is missing from the file, so there is no receipt.",
                    scaleText(*rule, layer.q.cols()), numberText(rule->apart, 2)));
  const RecordedReceipt receipt = recordedReceipt(layer, cell.head, cell.query, cell.key, *rule);
  weightLines(rows, *rule, receipt);
  valueLines(rows, receipt);
}

}  // namespace

void recordedPanel(Rows& rows, const Scene& scene, State& page) {
  const Cell& cell = scene.cursor.cell;
  const Index at = scene.cursor.model.layer;
  const LayerSummary* const layer = page.studied(at);
  if (!layer) return;
  rows.hint(fmt::format("entropy {}", fixedText(page.summary(at, cell.head)->entropy, 2)));
  rows.problem(cellFault(*layer, cell), "recorded.fault");
  steps(rows, page, *layer, at, cell);
  rows.hint("Imported attention (view only): no model to edit or predict with.");
}

namespace {

/// Whether two recordings have the same shape, so that the old picture can stay until the new one is studied.
bool isAlike(const OpenModel& a, const OpenModel& b) {
  return a.recorded && b.recorded && a.recorded->queries() == b.recorded->queries() &&
         a.recorded->keys() == b.recorded->keys() && a.recordedShape.heads == b.recordedShape.heads &&
         a.recordedShape.layerCount() == b.recordedShape.layerCount();
}

}  // namespace

/// Checks the file every kInterval. A version that can't be read may be half written, so it is tried a second
/// time before the error is shown.
void RecordedWatch::look(const SubjectSetup& subject) {
  const double now = services_.view.time;
  if (!subject.opened || !subject.opened->recorded || busy_ || now - at_ < kInterval) return;
  at_ = now;
  busy_ = true;
  using Again = std::shared_ptr<const OpenModel>;
  const auto failed = std::make_shared<Unreadable>(failed_);
  services_.files.read<Again>(
      subject.opened->recorded->path(),
      [opened = subject.opened, model = subject.model, picture = subject.picture, failed,
       stop = services_.files.stopToken()]() -> attention::Result<Again> {
        const FileVersion found = versionOf(opened->recorded->path());
        if (found.size == 0 || found == opened->version || found == failed->told) return Again();
        failed->version = found;
        auto again = openModel(model, stop);
        return again && opened->picture ? withPicture(*again, picture) : again;
      },
      [this, model = subject.model, failed](attention::Result<Again> again) {
        busy_ = false;
        if (again) {
          again_ = *again ? WrittenAgain{model, *std::move(again)} : WrittenAgain{};
          return;
        }
        const bool twice = failed_.version == failed->version;
        failed_.version = failed->version;
        if (!twice) return;
        failed_.told = failed->version;
        services_.view.messages.fail("The file was written again: " + again.error().message);
      });
}

bool RecordedWatch::renew(SubjectSetup& subject, const OpenModel* shown) {
  WrittenAgain again = std::exchange(again_, {});
  bool keeps = false;
  if (again.opened && subject.opened && again.model == subject.model) {
    subject.opened = std::move(again.opened);
    keeps = shown && isAlike(*shown, *subject.opened);
    services_.view.redraw();
  }
  look(subject);
  return keeps;
}

}  // namespace headscope::app::model_page
