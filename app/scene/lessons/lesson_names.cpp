#include "app/scene/lessons/lesson_names.h"

#include <algorithm>
#include <vector>

#include "attention/formats/quote.h"
#include "attention/text/suggestion.h"

namespace headscope::app {

namespace {

constexpr LessonName kNames[] = {
    {"W", "[heads, n, m]", "The weights, as softmax makes them."},
    {"S", "[heads, n, m]", "The scores before the softmax; −inf where the mask hides a key."},
    {"L", "[heads, n]", "Log-sum-exp of each row's scores; −inf if the row sees no key."},
    {"O", "[heads, n, head_dim]", "The heads' outputs, Σ weight · value."},
    {"Y", "[n, model_dim]", "The layer's output."},
    {"X", "[n, model_dim]", "Input of the query projection."},
    {"q", "[heads, n, head_dim]", "Queries by head, rotated under RoPE."},
    {"k", "[kv_heads, m, head_dim]", "Keys by kv head, rotated under RoPE."},
    {"v", "[kv_heads, m, head_dim]", "Values by kv head."},
    {"W_Q", "[heads, model_dim, head_dim]",
     "Each head's query projection, q = X·W_Q; synthetic layers only."},
    {"W_K", "[kv_heads, model_dim, head_dim]", "The same for keys."},
    {"W_V", "[kv_heads, model_dim, head_dim]", "The same for values."},
    {"W_O", "[heads, head_dim, model_dim]", "Each head's output projection; Y is the sum over heads."},
    {"seen", "[heads, n, m]", "1 where the mask lets a query see a key, else 0."},
    {"i", "[n, 1]", "The queries' positions, for conditions such as j <= i."},
    {"j", "[m]", "The keys' positions."},
    {"n", "", "Queries of a line, padding included."},
    {"m", "", "Keys of a line."},
    {"lines", "", "Lines of the batch."},
    {"lengths", "[lines]", "Tokens of each line without padding."},
    {"heads", "", "Query heads."},
    {"kv_heads", "", "Heads that have keys and values."},
    {"head_dim", "", "Size of a head."},
    {"model_dim", "", "Size of a token's vector."},
    {"layers", "", "Number of layers, of the model or synthetic."},
    {"visible", "", "Visible cells of the current head, in the line shown."},
    {"parameters", "", "Parameters of the layer."},
    {"step", "", "Tokens in the cache: those decoded so far, or all if nothing decodes."},
    {"bytes", "", "Bytes of the cache at that step, all lines."},
    {"bytes_per_token", "", "Bytes that a token adds to a line's cache."},
    {"mha_bytes", "", "Bytes of the cache at that step as MHA."},
    {"flops", "", "Operations of that step with the cache, for the line shown."},
    {"flops_without", "", "The same without the cache, for all tokens up to that step."},
    {"A", "[layers, heads, n, n]", "The weights of all layers, of the opened model or synthetic."},
    {"wrong.W", "[heads, n, m]",
     "The weights with the mistake shown on Lab; [1, n, m] for its random layer."},
    {"right.W", "[heads, n, m]", "The weights without the mistake."},
    {"wrong.raises", "", "1 if the mistake's shapes don't match, which is an error."},
    {"cost.tokens", "", "Tokens on the cost page."},
    {"cost.layers", "", "Layers of its model."},
    {"cost.kv_heads", "", "KV heads of its model."},
    {"cost.model_dim", "", "Size of a token's vector in its model."},
    {"cost.bytes", "", "Bytes of the cache."},
    {"cost.mha_bytes", "", "Bytes of the cache as MHA."},
    {"cost.global_bytes", "", "Bytes of the cache if every layer kept all tokens."},
    {"cost.weight_bytes", "", "Bytes of the model's weights."},
    {"cost.parameters", "", "Parameters of the model."},
    {"cost.projection_flops", "", "Operations of the prefill: Q, K, V and W_O."},
    {"cost.feed_forward_flops", "", "Operations of the prefill: the feed-forward part."},
    {"cost.attention_flops_all", "", "The same for all n² pairs."},
    {"cost.overtakes_projections", "", "Tokens from which n² pairs cost more than the projections."},
    {"answer.difference", "",
     "Logit of the answer minus that of the other answer, after the last token of text A."},
    {"answer.other_difference", "", "The same after text B."},
    {"answer.patched", "[layers, heads]",
     "The share of A's logit difference that each head's output restores in B, or the reverse."},
    {"answer.together", "", "The same for all kept patches together."},
    {"answer.attribution", "[layers, heads]", "What each head adds to A's logit difference."},
    {"answer.sum", "", "The sum over all pieces of A."},
    {"cache_bytes(layers, kv_heads, head_dim, tokens, batch, bytes)", "",
     "2 · layers · kv_heads · head_dim · tokens · batch · bytes."},
    {"matrix_bytes(tokens, layers, heads)", "",
     "Bytes of attention matrices in 32 bits: tokens² · 4 · layers · heads."},
    {"mask_density(tokens)", "", "Share of visible cells in the scene's mask for that many tokens."},
    {"blocks_saved(tokens, block)", "", "Share of blocks that the mask leaves empty for that many tokens."},
    {"probability(position, \"token\")", "", "The probability of that token after a position."},
    {"guess_rank(position, \"token\")", "", "1 for the most likely token after a position, 2 for the next."}};

/// Names that lessons could use once, and no bundled lesson did.
constexpr std::string_view kFormerNames[] = {"Q",
                                             "K",
                                             "V",
                                             "context",
                                             "dropped",
                                             "loss",
                                             "wrong.S",
                                             "right.S",
                                             "cost.batch",
                                             "cost.heads",
                                             "cost.head_dim",
                                             "cost.bytes_per_token",
                                             "cost.mqa_bytes",
                                             "cost.attention_flops",
                                             "cost.prefill_flops",
                                             "cost.decode_flops",
                                             "cost.overtakes_all",
                                             "pi",
                                             "true",
                                             "false",
                                             "argmin",
                                             "ceil",
                                             "cumsum",
                                             "mod",
                                             "round"};

/// The name without what may be a step's id: "cost.bytes" for "open.cost.bytes".
std::string_view lastWord(std::string_view written) {
  const std::size_t point = written.find('.');
  return point == std::string_view::npos ? written : written.substr(point + 1);
}

}  // namespace

const LessonName* findLessonName(std::string_view word, bool function) {
  const auto found = std::find_if(std::begin(kNames), std::end(kNames), [&](const LessonName& name) {
    return name.function() == function && name.word() == word;
  });
  return found == std::end(kNames) ? nullptr : &*found;
}

SplitName splitLessonName(std::string_view written, bool function) {
  if (const LessonName* own = findLessonName(written, function)) return {{}, own};
  const std::size_t point = written.find('.');
  if (point == std::string_view::npos) return {};
  return {written.substr(0, point), findLessonName(written.substr(point + 1), function)};
}

std::string currentControl(std::string written) {
  // Former names of controls, or of what their names begin with.
  constexpr std::pair<std::string_view, std::string_view> kFormerControls[] = {
      {"cache_room", "cache_view"},           {"room", "studio_view"},
      {"ablation.room", "ablation.view"},     {"hand", "embeddings"},
      {"lab.tab.many", "lab.tab.head_count"}, {"lab.tab.wrong", "lab.tab.mistakes"}};
  for (const auto& [former, now] : kFormerControls)
    if (written == former || (written.starts_with(former) && written[former.size()] == '.'))
      return written.replace(0, former.size(), now);
  return written;
}

std::string unknownLessonName(const std::string& written, bool function) {
  const auto isFormer = [&](std::string_view name) {
    return written == name || written.ends_with("." + std::string(name));
  };
  if (std::ranges::any_of(kFormerNames, isFormer))
    return attention::quotedText(written) +
           " no longer exists in expressions; the manual's chapter on lessons lists what does";
  std::vector<std::string_view> words;
  for (const LessonName& name : kNames)
    if (name.function() == function) words.push_back(name.word());
  std::vector<attention::ExpressionFunctionInfo> own;
  if (function) own = attention::expressionFunctions();
  for (const auto& each : own) words.push_back(each.name);
  std::string hint = attention::suggestion(written, words);
  if (hint.empty()) hint = attention::suggestion(lastWord(written), words);
  return attention::quotedText(written) + (function ? " is not a function" : " is not a name") +
         " in expressions" + hint;
}

std::string lessonNamesMarkdown() {
  std::string text = "| name | shape | what it is |\n|---|---|---|\n";
  for (const LessonName& name : kNames)
    if (!name.function())
      text += "| `" + std::string(name.name) + "` | " + (name.shape.empty() ? "" : "`") +
              std::string(name.shape) + (name.shape.empty() ? "" : "`") + " | " + std::string(name.help) +
              " |\n";
  text += "\n| function | what it is |\n|---|---|\n";
  for (const auto& function : attention::expressionFunctions())
    text += "| `" + std::string(function.name) + "(" + std::string(function.arguments) + ")` | " +
            std::string(function.help) + " |\n";
  for (const LessonName& name : kNames)
    if (name.function()) text += "| `" + std::string(name.name) + "` | " + std::string(name.help) + " |\n";
  return text;
}

}  // namespace headscope::app
