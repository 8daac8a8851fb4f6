#include "app/compute/model/text_answers.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "app/compute/model/passes.h"
#include "attention/formats/json_tree.h"

namespace headscope::app {

using attention::asSize;
using attention::Error;
using attention::Result;
using attention::Status;

namespace {

Result<StudiedText> fromJson(const std::string& line, const std::string& where) {
  const auto tree = attention::parseJsonTree(line, where);
  if (!tree) return tree.error();
  StudiedText text;
  if (!tree->is_object()) return Error{where + ": expected an object with \"text\""};
  const std::map<std::string, std::string*> texts{{"text", &text.text},
                                                  {"other", &text.other},
                                                  {"answer", &text.answer},
                                                  {"other_answer", &text.otherAnswer}};
  const std::map<std::string, std::vector<Index>*> ids{{"input_ids", &text.ids},
                                                       {"other_input_ids", &text.otherIds}};
  for (const auto& [name, value] : tree->items()) {
    const std::string what = where + ": " + attention::quotedText(name);
    if (const auto to = texts.find(name); to != texts.end()) {
      if (!value.is_string()) return Error{what + " is not a text"};
      *to->second = value.get<std::string>();
    } else if (const auto to = ids.find(name); to != ids.end()) {
      const auto isId = [](const auto& one) { return one.is_number_unsigned(); };
      if (!value.is_array() || value.empty() || !std::ranges::all_of(value, isId))
        return Error{what + " is not a list of token ids"};
      *to->second = value.template get<std::vector<Index>>();
    } else {
      return Error{what + " is not one of text, other, answer, other_answer, input_ids and other_input_ids"};
    }
  }
  if (text.text.empty() == text.ids.empty())
    return Error{where + ": expected one of \"text\" and \"input_ids\""};
  if (!text.other.empty() && !text.otherIds.empty())
    return Error{where + ": expected one of \"other\" and \"other_input_ids\""};
  return text;
}

std::vector<Index> encodedIds(const attention::TextTokenizer& tokenizer, const std::string& text,
                              attention::SpecialTokens around = attention::SpecialTokens::keep) {
  const auto encoded = tokenizer.encode(text, around);
  return encoded ? std::vector<Index>(encoded->ids.begin(), encoded->ids.end()) : std::vector<Index>();
}

std::string decodedText(const attention::TextTokenizer& tokenizer, std::span<const Index> ids) {
  const auto text = tokenizer.decode(std::vector<attention::TokenId>(ids.begin(), ids.end()));
  return text ? *text : "";
}

/// The text that the tokenizer reads as these ids.
Result<std::string> textOf(const OpenModel& opened, const std::vector<Index>& ids) {
  if (!opened.tokenizer) return Error{"the model has no tokenizer"};
  const std::vector<Index> around = encodedIds(*opened.tokenizer, "");
  const bool begins = ids.size() > around.size() && std::equal(around.begin(), around.end(), ids.begin());
  const std::string text = decodedText(*opened.tokenizer, std::span(ids).subspan(begins ? around.size() : 0));
  const std::vector<Index> read = encodedIds(*opened.tokenizer, text);
  if (read == ids) return text;
  return Error{fmt::format("the ids stand for {}, which this model's tokenizer reads as {}",
                           attention::quotedText(text), fmt::join(read, " "))};
}

/// Σ ln p of the tokens, each after those before it.
Result<double> logProbability(const PairStudy& pair, std::span<const Index> ids,
                              const std::stop_token& stop) {
  if (ids.size() == 1) return -surprise(pair.a.run->logits.row(0), ids.front());
  attention::PassRequest request = pair.a.request;
  request.layers = std::vector<Index>();
  request.logits = attention::LogitRows::last;
  attention::ModelSession session(pair.opened->model);
  std::span<const Index> next = pair.a.text.ids;
  double sum = 0;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const auto pass = session.append(next, request, stop);
    if (!pass) return pass.error();
    sum -= surprise(pass->logits.row(0), ids[i]);
    next = ids.subspan(i, 1);
  }
  return sum;
}

}  // namespace

double surprise(const Eigen::Ref<const Eigen::RowVectorXf>& logits, Index id) {
  return logSumExp(logits) - double{logits[id]};
}

Result<std::optional<StudiedText>> parseStudiedLine(std::string_view bytes, Index line,
                                                    const std::string& name) {
  if (line == 1) {
    const auto plain = attention::utf8Text(bytes);
    if (!plain) return Error{name + " " + plain.error().message};
    bytes = *plain;
  }
  if (bytes.ends_with('\r')) bytes.remove_suffix(1);
  if (bytes.find_first_not_of(" \t") == std::string_view::npos) return std::optional<StudiedText>();
  StudiedText text;
  if (bytes.starts_with('{')) {
    auto read = fromJson(std::string(bytes), fmt::format("{}, line {}", name, line));
    if (!read) return read.error();
    text = *std::move(read);
  } else {
    text.text = bytes;
  }
  text.line = line;
  return std::optional(std::move(text));
}

Result<std::vector<StudiedText>> parseStudiedTexts(std::string_view bytes, const std::string& name) {
  std::vector<StudiedText> texts;
  for (Index line = 1; !bytes.empty(); ++line) {
    const std::size_t end = bytes.find('\n');
    auto text = parseStudiedLine(bytes.substr(0, end), line, name);
    bytes.remove_prefix(end == std::string_view::npos ? bytes.size() : end + 1);
    if (!text) return text.error();
    if (*text) texts.push_back(**std::move(text));
  }
  if (texts.empty()) return Error{name + " has no text, expected one per line"};
  return texts;
}

Result<std::vector<Index>> answerIds(const OpenModel& opened, const std::string& answer) {
  if (!opened.tokenizer) return Error{"the model has no tokenizer"};
  std::vector<Index> several;
  const std::string spaced = answer.starts_with(' ') ? answer : " " + answer;
  for (const std::string& typed : {spaced, answer}) {
    const auto encoded = opened.tokenizer->encode(typed, attention::SpecialTokens::leaveOut);
    if (!encoded) return encoded.error();
    std::vector<Index> ids(encoded->ids.begin(), encoded->ids.end());
    if (ids.size() == 1) return ids;
    if (several.empty()) several = std::move(ids);
  }
  if (several.empty()) return Error{"the answer " + attention::quotedText(answer) + " is empty"};
  return several;
}

Result<Index> answerId(const OpenModel& opened, const std::string& answer) {
  const auto ids = answerIds(opened, answer);
  if (!ids) return ids.error();
  if (ids->size() == 1) return ids->front();
  return Error{fmt::format("the answer {} is {} tokens of this model, expected one",
                           attention::quotedText(answer), ids->size())};
}

Status readAnswers(const OpenModel& opened, StudiedHeads& out, PairQuestion& question) {
  StudiedText& asked = out.asked;
  for (const auto& [ids, to] : {std::pair(&asked.ids, &asked.text), {&asked.otherIds, &asked.other}}) {
    if (ids->empty()) continue;
    auto text = textOf(opened, *ids);
    if (!text) return text.error();
    *to = *std::move(text);
  }
  for (const auto& [typed, to] :
       {std::pair(&asked.answer, &out.answerIds), {&asked.otherAnswer, &out.otherAnswerIds}}) {
    if (typed->empty()) continue;
    auto found = answerIds(opened, *typed);
    if (!found) return found.error();
    *to = *std::move(found);
  }
  const auto [a, b] = std::ranges::mismatch(out.answerIds, out.otherAnswerIds);
  const bool both = !out.answerIds.empty() && !out.otherAnswerIds.empty();
  if (both && (a == out.answerIds.end() || b == out.otherAnswerIds.end()))
    return Error{fmt::format("the answers {} and {} are the same, or one begins with the other",
                             attention::quotedText(asked.answer), attention::quotedText(asked.otherAnswer))};
  if (out.answerIds.size() > 1 || out.otherAnswerIds.size() > 1)
    if (!opened.config().causal || opened.config().reads())
      return Error{"answers of several tokens need a model that writes on from its text"};
  if (!out.answerIds.empty()) question.answer = *a;
  if (!out.otherAnswerIds.empty()) question.otherAnswer = *b;
  if (!both || a == out.answerIds.begin()) return attention::success();
  // What they share follows the text, as the text that the tokenizer reads there as the same tokens.
  std::vector<Index> ids = encodedIds(*opened.tokenizer, asked.text, attention::SpecialTokens::leaveOut);
  const std::string before = decodedText(*opened.tokenizer, ids);
  ids.insert(ids.end(), out.answerIds.begin(), a);
  const std::string after = decodedText(*opened.tokenizer, ids);
  out.shared = after.substr(std::min(before.size(), after.size()));
  for (const std::string& text : {asked.text, asked.other}) {
    if (text.empty()) continue;
    std::vector<Index> whole = encodedIds(*opened.tokenizer, text);
    whole.insert(whole.end(), out.answerIds.begin(), a);
    if (encodedIds(*opened.tokenizer, text + out.shared) != whole)
      return Error{fmt::format("{} reads differently after the text than at the start of the answers",
                               attention::quotedText(out.shared))};
  }
  return attention::success();
}

Status describeAnswers(const PairStudy& pair, StudiedHeads& out, const std::stop_token& stop) {
  const auto skipped = out.shared.empty() ? 0
                                          : std::ranges::mismatch(out.answerIds, out.otherAnswerIds).in1 -
                                                out.answerIds.begin();
  const auto fill = [&](Index id, std::vector<Index>& ids, std::string& text, double& sum) -> Status {
    if (ids.empty()) ids = {id};
    text = decodedText(*pair.opened->tokenizer, ids);
    const auto found = logProbability(pair, std::span(ids).subspan(asSize(skipped)), stop);
    if (!found) return found.error();
    sum = *found;
    return attention::success();
  };
  if (const Status status = fill(pair.answers.id, out.answerIds, out.answer, out.logProbability); !status)
    return status;
  return fill(*pair.answers.other, out.otherAnswerIds, out.otherAnswer, out.otherLogProbability);
}

}  // namespace headscope::app
