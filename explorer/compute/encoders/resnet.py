"""Residual networks: the plain one of ImageNet, and CLIP's with its own stem and a pooling by attention.

Plain torch, since torchvision is not needed for anything else. Layers are named as in the published weights.
ResNet: He et al., 2016, with the stride in the 3 × 3 convolution; CLIP's: Radford et al., 2021, section 2.4.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import nn
from torch.nn import functional

EXPANSION = 4


class Bottleneck(nn.Module):
    """Three convolutions beside a shortcut.

    Parameters
    ----------
    channels, width : int
        Going in, and inside; ``4 * width`` come out.
    stride : int
    pooled : bool
        Whether strides are taken by an average pool (CLIP) or by the convolutions (plain).
    """

    def __init__(self, channels: int, width: int, stride: int, pooled: bool) -> None:
        super().__init__()
        self.pool = nn.AvgPool2d(stride) if pooled and stride > 1 else nn.Identity()
        step = 1 if pooled else stride
        self.conv1 = nn.Conv2d(channels, width, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.conv2 = nn.Conv2d(width, width, 3, stride=step, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(width)
        self.conv3 = nn.Conv2d(width, EXPANSION * width, 1, bias=False)
        self.bn3 = nn.BatchNorm2d(EXPANSION * width)
        self.downsample: nn.Sequential | None = None
        if stride > 1 or channels != EXPANSION * width:
            convolution = nn.Conv2d(channels, EXPANSION * width, 1, stride=step, bias=False)
            self.downsample = nn.Sequential(convolution, nn.BatchNorm2d(EXPANSION * width))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Shape (n, channels, h, w) to (n, 4 * width, h / stride, w / stride)."""
        inner = functional.relu(self.bn1(self.conv1(x)))
        inner = functional.relu(self.bn2(self.conv2(inner)))
        inner = self.bn3(self.conv3(self.pool(inner)))
        shortcut = x if self.downsample is None else self.downsample(self.pool(x))
        return functional.relu(inner + shortcut)


class AttentionPool(nn.Module):
    """The mean of all places asks all places; its answer is the picture's vector."""

    def __init__(self, side: int, channels: int, heads: int, dim: int) -> None:
        super().__init__()
        self.heads = heads
        self.positional_embedding = nn.Parameter(torch.empty(side * side + 1, channels))
        self.q_proj = nn.Linear(channels, channels)
        self.k_proj = nn.Linear(channels, channels)
        self.v_proj = nn.Linear(channels, channels)
        self.c_proj = nn.Linear(channels, dim)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Shape (n, channels, side, side) to (n, dim)."""
        places = x.flatten(2).transpose(1, 2)
        places = torch.cat([places.mean(1, keepdim=True), places], 1) + self.positional_embedding
        query, keys, values = self.q_proj(places[:, :1]), self.k_proj(places), self.v_proj(places)
        split = [each.unflatten(2, (self.heads, -1)).transpose(1, 2) for each in (query, keys, values)]
        answer = functional.scaled_dot_product_attention(*split)
        return self.c_proj(answer.transpose(1, 2).flatten(2)[:, 0])  # type: ignore[no-any-return]


class ResNet(nn.Module):
    """A plain ResNet without its classifier.

    Parameters
    ----------
    layers : sequence of int
        Blocks in each of the four stages; 3, 4, 6, 3 for ResNet-50.
    """

    def __init__(self, layers: Sequence[int]) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(3, 64, 7, stride=2, padding=3, bias=False)
        self.bn1 = nn.BatchNorm2d(64)
        self.stages = _stages(self, layers, 64, pooled=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Shape (n, 3, h, w) to (n, 2048): the mean over all places."""
        return self.places(x).mean((2, 3))

    def places(self, x: torch.Tensor) -> torch.Tensor:
        """Shape (n, 3, h, w) to (n, 2048, h / 32, w / 32)."""
        x = functional.relu(self.bn1(self.conv1(x)))
        x = functional.max_pool2d(x, 3, stride=2, padding=1)
        for stage in self.stages:
            x = getattr(self, stage)(x)
        return x


class ModifiedResNet(nn.Module):
    """CLIP's ResNet.

    Parameters
    ----------
    layers : sequence of int
        Blocks in each of the four stages.
    width : int
        Channels after the stem.
    side : int
        Height and width in places before pooling: a 32nd of the picture's.
    heads : int
    dim : int
        Of the vectors.
    """

    def __init__(self, layers: Sequence[int], width: int, side: int, heads: int, dim: int) -> None:
        super().__init__()
        half = width // 2
        self.conv1 = nn.Conv2d(3, half, 3, stride=2, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(half)
        self.conv2 = nn.Conv2d(half, half, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(half)
        self.conv3 = nn.Conv2d(half, width, 3, padding=1, bias=False)
        self.bn3 = nn.BatchNorm2d(width)
        self.stages = _stages(self, layers, width, pooled=True)
        self.attnpool = AttentionPool(side, 8 * EXPANSION * width, heads, dim)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Shape (n, 3, 32 * side, 32 * side) to (n, dim)."""
        for convolution, norm in ((self.conv1, self.bn1), (self.conv2, self.bn2), (self.conv3, self.bn3)):
            x = functional.relu(norm(convolution(x)))
        x = functional.avg_pool2d(x, 2)
        for stage in self.stages:
            x = getattr(self, stage)(x)
        return self.attnpool(x)  # type: ignore[no-any-return]


def _stages(network: nn.Module, layers: Sequence[int], width: int, *, pooled: bool) -> tuple[str, ...]:
    """Add ``layer1`` to ``layer4`` to a network; their names."""
    channels, names = width, []
    for i, count in enumerate(layers):
        inner = width << i
        blocks = [Bottleneck(channels, inner, 1 if i == 0 else 2, pooled)]
        channels = EXPANSION * inner
        blocks += [Bottleneck(channels, inner, 1, pooled) for _ in range(count - 1)]
        names.append(f"layer{i + 1}")
        network.add_module(names[-1], nn.Sequential(*blocks))
    return tuple(names)
