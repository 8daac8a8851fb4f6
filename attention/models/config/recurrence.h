#pragma once

#include <array>

#include "attention/core/tensor.h"

namespace headscope::attention {

/// What a hybrid computes instead of attention, or beside it: each layer carries numbers S from token to
/// token, as many for any length of text. σ and silu act on each number, and conv on each channel.
struct Recurrence {
  enum class Kind {
    none,
    /// y = Wo(c ⊙ conv(b ⊙ x)), with b, c and x from the stream (Liquid AI 2025, LFM2).
    convolution,
    /// S = exp(Δ·A) ⊙ S + Δ·x·kᵀ and y = Wo((S·q + D ⊙ x) ⊙ silu(z)), with x = silu(conv(·)), and Δ, k and q
    /// made from x (Gu & Dao 2023), here normed (Lieber et al. 2024, Jamba).
    mamba,
    /// S = exp(Δ·A)·S + Δ·x·kᵀ and y = Wo N((S·q + D·x) ⊙ silu(z)), with x, k and q = silu(conv(·)); a head
    /// has one A, Δ and D (Dao & Gu 2024).
    mamba2,
    /// S = exp(Δ·A)·(S − β·S·k·kᵀ) + β·v·kᵀ and y = Wo(N(S·q) ⊙ silu(z)), with v, k and q = silu(conv(·)), k
    /// and q divided by their length, and β = σ(·) (Yang et al. 2024, Gated Delta Networks).
    delta,
    /// S = λ·S + v·kᵀ and y = Wo(σ(z) ⊙ N(S·q)), with v, k and q = silu(·), and a fixed λ per head and layer
    /// (Qin et al. 2024, Lightning Attention-2).
    lightning,
    /// S = a ⊙ S + √(1 − a²) ⊙ i ⊙ x and y = Wo(S ⊙ act(z)), with x = conv(·), i = σ(W·x + b) in blocks of
    /// channels, and a = exp(−8·softplus(A)·σ(W'·x + b')) (De et al. 2024, RG-LRU of Griffin).
    gatedLinear,
  };
  Kind kind = Kind::none;
  Index kernel = 0;              ///< tokens that the convolution reads, the latest included
  Index heads = 1, headDim = 0;  ///< x and v have heads · headDim channels; S is [heads, headDim, state]
  Index groups = 1;              ///< of heads that share k and q
  bool tiled = false;            ///< head h is of group h mod `groups` instead of ⌊h · groups / heads⌋
  Index state = 0;               ///< numbers of k and q
  Index rank = 0;                ///< of Mamba's map to Δ
  bool bias = false, kernelBias = false;  ///< of the maps, and of the convolution
  bool outBias = false;                   ///< of Wo
  double epsilon = 1e-5;                  ///< of its norms

  bool normed = true;       ///< Mamba-2's N; without it, the output is only gated
  bool normsFirst = false;  ///< Mamba-2 norms before it multiplies by silu(z)
  float leastStep = 0;      ///< Mamba-2's Δ is at least this
  /// On Mamba-2's z, x, k, q and Δ as they come from the stream.
  std::array<float, 5> factors = {1, 1, 1, 1, 1};
  /// The delta rule decays each number of k apart (Kimi Team 2025, Kimi Delta Attention); its maps to Δ and z
  /// then go through headDim numbers.
  bool perChannel = false;
  bool sigmoidGate = false;  ///< the delta rule multiplies by σ(z)
  float rateScale = 1;       ///< factor on the delta rule's β
  bool operator==(const Recurrence&) const = default;
  Index groupOf(Index head) const { return tiled ? head % groups : head / (heads / groups); }
};

/// A layer of a hybrid that has no attention: x += recurrence(N₁x) if it `recurs`; x += MLP(N₂x) if it
/// `feeds`.
struct OtherLayer {
  Index number = 0;  ///< in the checkpoint
  bool mixture = false;
  bool recurs = true, feeds = true;
  bool operator==(const OtherLayer&) const = default;
};

}  // namespace headscope::attention
