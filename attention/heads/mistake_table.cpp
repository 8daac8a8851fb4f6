#include <array>

#include "attention/heads/mistakes.h"

namespace headscope::attention {

namespace {

using enum Mistake;

constexpr std::array<MistakeInfo, 13> kMistakes{{
    {noScale, "no_scale", "Scale", "No ÷√dₖ", "one key takes every row",
     "A dot product of dₖ numbers spreads like √dₖ. Left as it is, softmax stakes the whole row on the "
     "largest "
     "score and passes almost no gradient back.",
     "A dot product spreads like √dₖ; left so, softmax stakes the whole row on one score.", "softmax(Q·Kᵀ)",
     "softmax(Q·Kᵀ ÷ √dₖ)", "scores = q @ k.transpose(-2, -1)", "/ math.sqrt(d_k)", ""},
    {modelScale, "model_scale", "Scale", "√d for √dₖ", "rows too even",
     "Each head adds up dₖ products, not d, the model dim. Dividing by √d makes the scores too small, and "
     "the "
     "rows too even.",
     "Each head adds up dₖ products, not d: ÷√d makes scores too small, and rows too even.",
     "softmax(Q·Kᵀ ÷ √d)", "softmax(Q·Kᵀ ÷ √dₖ)", "scores = q @ k.transpose(-2, -1) / math.sqrt(",
     "q.size(-1)", ")"},
    {wrongAxis, "wrong_axis", "Softmax", "Over the wrong axis", "columns sum to 1, rows don’t",
     "A query shares out 1 over the keys it sees: the softmax runs along the last axis. Along the other one "
     "the "
     "queries compete for each key.",
     "A query shares out 1 over its keys; the other way, queries compete for each key.",
     "softmax over queries", "softmax over keys", "weights = scores.softmax(", "dim=-1", ")"},
    {noMaximum, "no_maximum", "Softmax", "Without its maximum", "∞ ÷ ∞: NaN at large scores",
     "e⁸⁹ is more than a float can hold. With the row’s largest score taken off first the largest power is "
     "e⁰ = 1, and the shares are the same.",
     "e⁸⁹ is more than a float holds; less the row’s largest score, no power is above e⁰ = 1.", "e^s ÷ Σ e^s",
     "e^{s − max} ÷ Σ e^{s − max}", "weights = (scores ", "- scores.amax(-1, keepdim=True)",
     ").exp(); weights /= weights.sum(-1, keepdim=True)"},
    {upperTriangle, "upper_triangle", "Mask", "Upper for lower triangle", "queries read only the future",
     "What is masked is the upper triangle without the diagonal. Turned over, every token reads what comes "
     "after "
     "it, and the last one reads itself alone.",
     "Masked is the upper triangle; turned over, every token reads what comes after it.",
     "visible where key ≥ query", "visible where key ≤ query", "visible = torch.", "tril",
     "(torch.ones(n, n, dtype=torch.bool))"},
    {maskAfter, "mask_after", "Mask", "After softmax", "rows sum to less than 1",
     "Hidden keys have taken their part of the softmax already. Setting their weights to 0 afterwards leaves "
     "rows "
     "that don’t add up.",
     "Hidden keys took part in the softmax: set to 0 afterwards, rows don’t add up to 1.",
     "softmax(S) · mask", "softmax(S + mask)", "weights = scores", ".masked_fill(~visible, -math.inf)",
     ".softmax(-1)"},
    {maskAfterRenormalised, "mask_after_renormalised", "Mask", "After softmax, renormalised",
     "right, until a row is 0 ÷ 0",
     "On paper it is the same. In floats a hidden key with a large score takes everything, what is visible "
     "rounds "
     "to 0, and the row is divided by 0.",
     "A hidden key takes everything, what is visible rounds to 0, and 0 ÷ 0 is NaN.", "softmax(S) · mask ÷ Σ",
     "softmax(S + mask)", "weights = scores", ".masked_fill(~visible, -math.inf)", ".softmax(-1)"},
    {paddingSeen, "padding_seen", "Mask", "Padding not masked", "weight on [pad]",
     "Padding fills a batch up to its longest line and means nothing. Without a mask of its own it is read "
     "like "
     "any token.",
     "Padding means nothing; without a mask of its own it is read like any token.", "visible = causal",
     "visible = causal and not padding", "visible = causal", " & ~padding[:, None, None, :]", ""},
    {halfInfinity, "half_infinity", "Mask", "−1e9 in half precision", "turns −∞; an empty row is NaN",
     "The smallest half is −65,504, so −1e9 becomes −∞. A row that sees no key, like left padding, is then "
     "−∞ "
     "minus −∞.",
     "In halves −1e9 becomes −∞, and a row that sees no key is −∞ minus −∞.", "S.half() + (−1e9)",
     "S.half() + finfo.min", "scores = scores.masked_fill(~visible, ", "torch.finfo(scores.dtype).min", ")"},
    {viewWithoutTranspose, "view_without_transpose", "Shape", "View without transpose", "heads mix tokens",
     "view cuts the numbers in the order they lie in. A head’s rows are then pieces of one token after "
     "another, "
     "instead of one piece of each token.",
     "view cuts numbers as they lie: a head’s rows are pieces of one token after another.",
     "q.view(heads, n, dₖ)", "q.view(n, heads, dₖ) transposed", "q = q.view(b, n, heads, d_k)",
     ".transpose(1, 2)", ""},
    {kvTiled, "kv_tiled", "Shape", "KV heads tiled", "wrong KV head for many",
     "Query head h reads kv head ⌊h ÷ group⌋: each kv head is repeated in place. Tiled, h reads h mod "
     "kvHeads, "
     "another head’s keys.",
     "Query head h reads KV head ⌊h ÷ group⌋; tiled, it reads h mod kvHeads.", "K of KV h mod kvHeads",
     "K of KV ⌊h ÷ group⌋", "k = k.", "repeat_interleave", "(groups, dim=1)"},
    {keyNotTransposed, "key_not_transposed", "Shape", "K not transposed", "shapes that cannot multiply",
     "A product needs the inner sizes to agree: q is n × dₖ, so k has to be turned to dₖ × n. Where n "
     "happens to "
     "be dₖ, nothing complains.",
     "A product needs inner sizes that agree: k has to be turned to dₖ × n.", "Q·K", "Q·Kᵀ", "scores = q @ k",
     ".transpose(-2, -1)", ""},
    {notDivisible, "not_divisible", "Shape", "Dim not divisible by heads", "numbers left over",
     "Heads share the model dim evenly. What is left over after the division belongs to no head, and view "
     "refuses.",
     "Heads share the model dim evenly: what is left over belongs to no head.", "250 ÷ 8 = 31.25",
     "256 ÷ 8 = 32", "assert ", "d_model % heads == 0", ""},
}};

}  // namespace

std::span<const MistakeInfo> mistakes() {
  return kMistakes;
}

}  // namespace headscope::attention
