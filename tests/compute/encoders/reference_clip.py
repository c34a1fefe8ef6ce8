"""CLIP as OpenAI and OpenCLIP lay it out, in torch's own modules: what the encoders are compared with.

Written for these tests from the paper (Radford et al., 2021) and the names in published checkpoints.
"""

from __future__ import annotations

from collections import OrderedDict

import torch
from torch import nn


class QuickGELU(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * torch.sigmoid(1.702 * x)


class Block(nn.Module):
    def __init__(self, width: int, heads: int, activation: nn.Module, inner: int, eps: float) -> None:
        super().__init__()
        self.ln_1 = nn.LayerNorm(width, eps)
        self.attn = nn.MultiheadAttention(width, heads, batch_first=True)
        self.ln_2 = nn.LayerNorm(width, eps)
        layers = [("c_fc", nn.Linear(width, inner)), ("act", activation), ("c_proj", nn.Linear(inner, width))]
        self.mlp = nn.Sequential(OrderedDict(layers))

    def forward(self, x: torch.Tensor, mask: torch.Tensor | None) -> torch.Tensor:
        y = self.ln_1(x)
        x = x + self.attn(y, y, y, need_weights=False, attn_mask=mask)[0]
        return x + self.mlp(self.ln_2(x))


class Blocks(nn.Module):
    def __init__(
        self, width: int, layers: int, heads: int, activation: nn.Module, inner: int, eps: float
    ) -> None:
        super().__init__()
        self.resblocks = nn.ModuleList(Block(width, heads, activation, inner, eps) for _ in range(layers))

    def forward(self, x: torch.Tensor, mask: torch.Tensor | None = None) -> list[torch.Tensor]:
        states = [x]
        for block in self.resblocks:
            states.append(block(states[-1], mask))
        return states


class Text(nn.Module):
    """The text tower; SigLIP's sees both ways and is pooled at its last token."""

    def __init__(
        self,
        *,
        width: int,
        layers: int,
        heads: int,
        dim: int,
        activation: nn.Module,
        vocabulary: int = 49_408,
        context: int = 77,
        causal: bool = True,
        linear: bool = False,
        eps: float = 1e-5,
    ) -> None:
        super().__init__()
        self.transformer = Blocks(width, layers, heads, activation, 4 * width, eps)
        self.token_embedding = nn.Embedding(vocabulary, width)
        self.positional_embedding = nn.Parameter(torch.randn(context, width) * 0.1)
        self.ln_final = nn.LayerNorm(width, eps)
        if linear:
            self.text_projection: nn.Module | nn.Parameter = nn.Linear(width, dim)
        else:
            self.text_projection = nn.Parameter(torch.randn(width, dim) * width**-0.5)
        self.causal = causal

    def states(self, ids: torch.Tensor) -> list[torch.Tensor]:
        x = self.token_embedding(ids) + self.positional_embedding[: ids.shape[1]]
        mask = torch.full((ids.shape[1],) * 2, -torch.inf, dtype=x.dtype).triu(1) if self.causal else None
        return self.transformer(x, mask)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        x = self.ln_final(self.states(ids)[-1])
        pooled = x[torch.arange(len(ids)), ids.argmax(-1)] if self.causal else x[:, -1]
        head = self.text_projection
        return head(pooled) if isinstance(head, nn.Linear) else pooled @ head


class Vision(nn.Module):
    def __init__(
        self,
        *,
        width: int,
        layers: int,
        heads: int,
        dim: int,
        activation: nn.Module,
        image: int,
        patch: int,
        inner: int,
    ) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(3, width, patch, patch, bias=False)
        self.class_embedding = nn.Parameter(torch.randn(width) * 0.1)
        self.positional_embedding = nn.Parameter(torch.randn((image // patch) ** 2 + 1, width) * 0.1)
        self.ln_pre = nn.LayerNorm(width)
        self.transformer = Blocks(width, layers, heads, activation, inner, 1e-5)
        self.ln_post = nn.LayerNorm(width)
        self.proj = nn.Parameter(torch.randn(width, dim) * width**-0.5)

    def forward(self, pixels: torch.Tensor) -> torch.Tensor:
        x = self.conv1(pixels).flatten(2).transpose(1, 2)
        x = torch.cat([self.class_embedding.expand(len(x), 1, -1), x], 1) + self.positional_embedding
        x = self.transformer(self.ln_pre(x))[-1]
        return self.ln_post(x[:, 0]) @ self.proj


class Bottleneck(nn.Module):
    def __init__(self, channels: int, width: int, stride: int) -> None:
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(channels, width, 1, bias=False), nn.BatchNorm2d(width)
        self.conv2, self.bn2 = nn.Conv2d(width, width, 3, padding=1, bias=False), nn.BatchNorm2d(width)
        self.conv3, self.bn3 = nn.Conv2d(width, 4 * width, 1, bias=False), nn.BatchNorm2d(4 * width)
        self.avgpool = nn.AvgPool2d(stride) if stride > 1 else nn.Identity()
        self.downsample = nn.Identity()
        if stride > 1 or channels != 4 * width:
            layers = [
                ("-1", nn.AvgPool2d(stride)),
                ("0", nn.Conv2d(channels, 4 * width, 1, bias=False)),
                ("1", nn.BatchNorm2d(4 * width)),
            ]
            self.downsample = nn.Sequential(OrderedDict(layers))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = torch.relu(self.bn1(self.conv1(x)))
        y = self.avgpool(torch.relu(self.bn2(self.conv2(y))))
        return torch.relu(self.bn3(self.conv3(y)) + self.downsample(x))


class AttentionPool(nn.Module):
    def __init__(self, side: int, channels: int, heads: int, dim: int) -> None:
        super().__init__()
        self.positional_embedding = nn.Parameter(torch.randn(side**2 + 1, channels) * 0.1)
        self.k_proj, self.q_proj = nn.Linear(channels, channels), nn.Linear(channels, channels)
        self.v_proj, self.c_proj = nn.Linear(channels, channels), nn.Linear(channels, dim)
        self.heads = heads

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x.flatten(2).permute(2, 0, 1)
        x = torch.cat([x.mean(0, keepdim=True), x]) + self.positional_embedding[:, None]
        biases = torch.cat([self.q_proj.bias, self.k_proj.bias, self.v_proj.bias])
        answer, _ = nn.functional.multi_head_attention_forward(
            x[:1],
            x,
            x,
            x.shape[-1],
            self.heads,
            None,
            biases,
            None,
            None,
            False,
            0.0,
            self.c_proj.weight,
            self.c_proj.bias,
            training=False,
            need_weights=False,
            use_separate_proj_weight=True,
            q_proj_weight=self.q_proj.weight,
            k_proj_weight=self.k_proj.weight,
            v_proj_weight=self.v_proj.weight,
        )
        return answer[0]


class ResNet(nn.Module):
    def __init__(self, *, layers: tuple[int, ...], width: int, image: int, dim: int) -> None:
        super().__init__()
        half = width // 2
        self.conv1, self.bn1 = nn.Conv2d(3, half, 3, 2, 1, bias=False), nn.BatchNorm2d(half)
        self.conv2, self.bn2 = nn.Conv2d(half, half, 3, 1, 1, bias=False), nn.BatchNorm2d(half)
        self.conv3, self.bn3 = nn.Conv2d(half, width, 3, 1, 1, bias=False), nn.BatchNorm2d(width)
        self.avgpool = nn.AvgPool2d(2)
        channels = width
        for i, count in enumerate(layers):
            inner = width * 2**i
            blocks = [Bottleneck(channels, inner, 1 if i == 0 else 2)]
            channels = 4 * inner
            blocks += [Bottleneck(channels, inner, 1) for _ in range(count - 1)]
            self.add_module(f"layer{i + 1}", nn.Sequential(*blocks))
        self.attnpool = AttentionPool(image // 32, channels, channels // 64, dim)
        _trained(self)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for i in (1, 2, 3):
            x = torch.relu(getattr(self, f"bn{i}")(getattr(self, f"conv{i}")(x)))
        x = self.avgpool(x)
        for i in (1, 2, 3, 4):
            x = getattr(self, f"layer{i}")(x)
        return self.attnpool(x)


def _trained(module: nn.Module) -> None:
    """Batch norms as training leaves them: no two alike, none the identity."""
    for norm in module.modules():
        if isinstance(norm, nn.BatchNorm2d):
            nn.init.normal_(norm.running_mean, std=0.1)
            nn.init.uniform_(norm.running_var, 0.5, 2.0)
            nn.init.uniform_(norm.weight, 0.5, 1.5)
            nn.init.normal_(norm.bias, std=0.1)


class Clip(nn.Module):
    """Both towers under OpenAI's names: the text tower's stand bare."""

    def __init__(self, text: Text, visual: nn.Module) -> None:
        super().__init__()
        self.visual = visual
        self.transformer = text.transformer
        self.token_embedding = text.token_embedding
        self.positional_embedding = text.positional_embedding
        self.ln_final = text.ln_final
        self.text_projection = text.text_projection
        self.logit_scale = nn.Parameter(torch.tensor(4.6052))
        self.causal = text.causal

    states, encode_text = Text.states, Text.forward

    def forward(self, pixels: torch.Tensor) -> torch.Tensor:
        return self.visual(pixels)


def small_clip(activation: nn.Module, *, dim: int = 32, width: int = 128, image: int = 32) -> Clip:
    """A CLIP of few layers, whose heads are 64 wide as in all published ones."""
    torch.manual_seed(5)
    text = Text(width=width, layers=3, heads=width // 64, dim=dim, activation=activation)
    vision = Vision(
        width=width,
        layers=2,
        heads=width // 64,
        dim=dim,
        activation=activation,
        image=image,
        patch=8,
        inner=4 * width,
    )
    return Clip(text, vision).eval()


def small_resnet_clip(*, dim: int = 32) -> Clip:
    torch.manual_seed(6)
    text = Text(width=64, layers=2, heads=1, dim=dim, activation=QuickGELU())
    return Clip(text, ResNet(layers=(1, 2, 1, 2), width=16, image=64, dim=dim)).eval()
