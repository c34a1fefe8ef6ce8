"""timm's SigLIP vision transformer, as OpenCLIP keeps it under ``visual.trunk``, in torch's own modules."""

from __future__ import annotations

import torch
from torch import nn


class Mlp(nn.Module):
    def __init__(self, width: int, inner: int, activation: nn.Module) -> None:
        super().__init__()
        self.fc1, self.act, self.fc2 = nn.Linear(width, inner), activation, nn.Linear(inner, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.fc2(self.act(self.fc1(x)))


class Attention(nn.Module):
    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.qkv, self.proj, self.heads = nn.Linear(width, 3 * width), nn.Linear(width, width), heads

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        n, length, width = x.shape
        q, k, v = self.qkv(x).reshape(n, length, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4)
        scores = (q @ k.transpose(-2, -1)) * (width // self.heads) ** -0.5
        return self.proj((scores.softmax(-1) @ v).transpose(1, 2).reshape(n, length, width))


class Block(nn.Module):
    def __init__(self, width: int, heads: int, inner: int, activation: nn.Module) -> None:
        super().__init__()
        self.norm1, self.attn = nn.LayerNorm(width, 1e-6), Attention(width, heads)
        self.norm2, self.mlp = nn.LayerNorm(width, 1e-6), Mlp(width, inner, activation)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x + self.attn(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class AttentionPool(nn.Module):
    def __init__(self, width: int, heads: int, inner: int, activation: nn.Module) -> None:
        super().__init__()
        self.latent = nn.Parameter(torch.randn(1, 1, width))
        self.q, self.kv = nn.Linear(width, width), nn.Linear(width, 2 * width)
        self.proj = nn.Linear(width, width)
        self.norm, self.mlp = nn.LayerNorm(width, 1e-6), Mlp(width, inner, activation)
        self.heads = heads

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        n, length, width = x.shape
        size = width // self.heads
        q = self.q(self.latent.expand(n, -1, -1)).reshape(n, 1, self.heads, size).transpose(1, 2)
        k, v = self.kv(x).reshape(n, length, 2, self.heads, size).permute(2, 0, 3, 1, 4)
        answer = ((q @ k.transpose(-2, -1)) * size**-0.5).softmax(-1) @ v
        pooled = self.proj(answer.transpose(1, 2).reshape(n, 1, width))
        return (pooled + self.mlp(self.norm(pooled)))[:, 0]


class Trunk(nn.Module):
    def __init__(self, *, width: int, heads: int, layers: int, image: int, patch: int, tanh: bool) -> None:
        super().__init__()
        activation, inner = nn.GELU("tanh" if tanh else "none"), 2 * width
        self.patch_embed = nn.Module()
        self.patch_embed.proj = nn.Conv2d(3, width, patch, patch)
        self.pos_embed = nn.Parameter(torch.randn(1, (image // patch) ** 2, width) * 0.1)
        self.blocks = nn.Sequential(*(Block(width, heads, inner, activation) for _ in range(layers)))
        self.norm = nn.LayerNorm(width, 1e-6)
        self.attn_pool = AttentionPool(width, heads, inner, activation)

    def forward(self, pixels: torch.Tensor) -> torch.Tensor:
        x = self.patch_embed.proj(pixels)
        x = self.blocks(x.flatten(2).transpose(1, 2) + self.pos_embed)
        return self.attn_pool(self.norm(x))
