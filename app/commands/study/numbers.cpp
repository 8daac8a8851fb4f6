#include "app/commands/study/numbers.h"

namespace headscope::app {

using attention::Matrix;

std::array<std::pair<const char*, Matrix>, 3> strongestOf(const StudiedHeads& text) {
  return {{{"strongest_weight", text.strongest},
           {"strongest_query", text.query.cast<float>()},
           {"strongest_key", text.key.cast<float>()}}};
}

Matrix sampleDeviation(const HeadColumn& column) {
  const auto count = column.texts.cast<float>().array();
  return (count > 1).select(column.spread.array() * (count / (count - 1)).sqrt(), kNone);
}

std::vector<std::pair<std::string, std::string>> definitionsOf(const std::string& piece,
                                                               const std::string& biases) {
  std::vector<std::pair<std::string, std::string>> all{
      {"logit_difference", "logit of the answer minus that of the other answer, after the last token"},
      {"other_logit_difference", "the same after the other text; null without one"},
      {"answer_log_probability", "Σ ln p of the answer's tokens after the text, each after those before it"},
      {"other_answer_log_probability", "the same for the other answer"},
      {"standard_deviation", "over the texts, ÷ N"},
      {"sample_standard_deviation", "over the texts, ÷ (N − 1)"},
      {"loss", "−ln p of the answer's first compared token without the head (output 0, value biases " +
                   biases + ") minus that with it, in nats"},
      {"attribution",
       "direct attribution of the logit difference to the head's output, final norm's scale "
       "held (Elhage et al. 2021), value biases " +
           biases},
      {"patch", "share of the logit difference that the " + piece +
                    " of this text restore in the other one: 0 = its own, 1 = this text's"},
      {"strongest_weight",
       "largest weight on an earlier key other than the first, at strongest_query and "
       "strongest_key"}};
  for (const attention::Detector* detector : attention::allDetectors()) {
    all.emplace_back(detector->name, detector->help);
    if (isOfDetectHead(*detector))
      all.emplace_back(std::string(detector->name) + kOverAllRows,
                       "the same sum over all rows of the text, as TransformerLens's detect_head() with "
                       "error measure mul");
  }
  return all;
}

}  // namespace headscope::app
