"""A minimal Llama as in Hugging Face's library: RMSNorm, rotary positions, grouped heads, SwiGLU, tied embeddings."""

import dataclasses

import torch
from torch import nn


@dataclasses.dataclass(frozen=True)
class Sizes:
    vocabulary: int
    width: int = 96
    layers: int = 4
    heads: int = 6
    kv_heads: int = 3
    inner: int = 192
    positions: int = 128
    theta: float = 100.0
    epsilon: float = 1e-5

    @property
    def head_dim(self):
        return self.width // self.heads


class RMSNorm(nn.Module):
    def __init__(self, width, epsilon):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))
        self.epsilon = epsilon

    def forward(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.epsilon) * self.weight


def rotation(sizes):
    """cos and sin, [positions, head_dim]; pairs are (t, t + head_dim / 2)."""
    frequencies = sizes.theta ** (-torch.arange(0, sizes.head_dim, 2, dtype=torch.float64) / sizes.head_dim)
    angles = torch.arange(sizes.positions, dtype=torch.float64)[:, None] * frequencies
    angles = torch.cat([angles, angles], dim=1)
    return angles.cos().float(), angles.sin().float()


def rotate(x, cos, sin):
    half = x.shape[-1] // 2
    return x * cos + torch.cat([-x[..., half:], x[..., :half]], dim=-1) * sin


class Attention(nn.Module):
    def __init__(self, sizes):
        super().__init__()
        self.sizes = sizes
        kv_width = sizes.kv_heads * sizes.head_dim
        self.q_proj = nn.Linear(sizes.width, sizes.width, bias=False)
        self.k_proj = nn.Linear(sizes.width, kv_width, bias=False)
        self.v_proj = nn.Linear(sizes.width, kv_width, bias=False)
        self.o_proj = nn.Linear(sizes.width, sizes.width, bias=False)

    def forward(self, x, cos, sin):
        rows, length, _ = x.shape
        sizes = self.sizes

        def split(y):
            return y.view(rows, length, -1, sizes.head_dim).transpose(1, 2)

        q = rotate(split(self.q_proj(x)), cos[:length], sin[:length])
        k = rotate(split(self.k_proj(x)), cos[:length], sin[:length])
        group = sizes.heads // sizes.kv_heads
        k = k.repeat_interleave(group, dim=1)
        v = split(self.v_proj(x)).repeat_interleave(group, dim=1)
        scores = q @ k.transpose(2, 3) * sizes.head_dim ** -0.5
        future = torch.ones(length, length, dtype=torch.bool).triu(1)
        weights = scores.masked_fill(future, float("-inf")).softmax(-1)
        return self.o_proj((weights @ v).transpose(1, 2).reshape(rows, length, -1)), weights


class MLP(nn.Module):
    def __init__(self, sizes):
        super().__init__()
        self.gate_proj = nn.Linear(sizes.width, sizes.inner, bias=False)
        self.up_proj = nn.Linear(sizes.width, sizes.inner, bias=False)
        self.down_proj = nn.Linear(sizes.inner, sizes.width, bias=False)

    def forward(self, x):
        return self.down_proj(nn.functional.silu(self.gate_proj(x)) * self.up_proj(x))


class Block(nn.Module):
    def __init__(self, sizes):
        super().__init__()
        self.input_layernorm = RMSNorm(sizes.width, sizes.epsilon)
        self.self_attn = Attention(sizes)
        self.post_attention_layernorm = RMSNorm(sizes.width, sizes.epsilon)
        self.mlp = MLP(sizes)

    def forward(self, x, cos, sin):
        added, weights = self.self_attn(self.input_layernorm(x), cos, sin)
        x = x + added
        return x + self.mlp(self.post_attention_layernorm(x)), weights


class Miniature(nn.Module):
    """Parameter names are those of a Llama checkpoint without the prefix "model."."""

    def __init__(self, sizes):
        super().__init__()
        self.sizes = sizes
        self.embed_tokens = nn.Embedding(sizes.vocabulary, sizes.width)
        self.layers = nn.ModuleList(Block(sizes) for _ in range(sizes.layers))
        self.norm = RMSNorm(sizes.width, sizes.epsilon)
        self.cos, self.sin = rotation(sizes)
        for name, parameter in self.named_parameters():
            if parameter.dim() == 2:
                scale = (2 * sizes.layers) ** -0.5 if name.endswith(("o_proj.weight", "down_proj.weight")) else 1
                nn.init.normal_(parameter, std=0.05 * scale)

    def forward(self, tokens):
        """From tokens [rows, length], returns logits [rows, length, vocabulary] and each layer's attention weights
        [rows, heads, length, length]."""
        x = self.embed_tokens(tokens)
        attention = []
        for layer in self.layers:
            x, weights = layer(x, self.cos, self.sin)
            attention.append(weights)
        return nn.functional.linear(self.norm(x), self.embed_tokens.weight), attention
