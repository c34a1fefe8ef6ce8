"""The CLIP trained from scratch: ResNet-50, DistilBERT and heads, in torch's modules under its names."""

from __future__ import annotations

from typing import Any

import torch
from made_models import transformers
from torch import nn


class Block(nn.Module):
    """A bottleneck whose stride is in its 3 × 3 convolution."""

    def __init__(self, channels: int, width: int, stride: int) -> None:
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(channels, width, 1, bias=False), nn.BatchNorm2d(width)
        self.conv2 = nn.Conv2d(width, width, 3, stride, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(width)
        self.conv3, self.bn3 = nn.Conv2d(width, width * 4, 1, bias=False), nn.BatchNorm2d(width * 4)
        self.relu = nn.ReLU()
        self.downsample = None
        if stride != 1 or channels != width * 4:
            self.downsample = nn.Sequential(
                nn.Conv2d(channels, width * 4, 1, stride, bias=False), nn.BatchNorm2d(width * 4)
            )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.relu(self.bn1(self.conv1(x)))
        y = self.relu(self.bn2(self.conv2(y)))
        y = self.bn3(self.conv3(y))
        return self.relu(y + (x if self.downsample is None else self.downsample(x)))


class ResNet50(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64)
        self.relu, self.maxpool = nn.ReLU(), nn.MaxPool2d(3, 2, 1)
        channels = 64
        for stage, count in enumerate((3, 4, 6, 3)):
            width = 64 * 2**stage
            blocks = []
            for i in range(count):
                blocks.append(Block(channels, width, 2 if stage and i == 0 else 1))
                channels = width * 4
            setattr(self, f"layer{stage + 1}", nn.Sequential(*blocks))
        self.pool = nn.AdaptiveAvgPool2d(1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
        for layer in (self.layer1, self.layer2, self.layer3, self.layer4):
            x = layer(x)
        return self.pool(x).flatten(1)


class Wrapped(nn.Module):
    """The book's encoders keep their network under ``model``."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model


class Head(nn.Module):
    def __init__(self, inner: int, dim: int = 256) -> None:
        super().__init__()
        self.projection, self.gelu = nn.Linear(inner, dim), nn.GELU()
        self.fc, self.layer_norm = nn.Linear(dim, dim), nn.LayerNorm(dim)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        projected = self.projection(x)
        return self.layer_norm(self.fc(self.gelu(projected)) + projected)


class ScratchClip(nn.Module):
    """In its real sizes."""

    def __init__(self, layers: int = 6) -> None:
        super().__init__()
        self.image_encoder = Wrapped(ResNet50())
        self.text_encoder = Wrapped(_distilbert(layers))
        self.image_projection, self.text_projection = Head(2048), Head(768)

    def encode_text(self, ids: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        output: Any = self.text_encoder.model(input_ids=ids, attention_mask=mask)
        return self.text_projection(output.last_hidden_state[:, 0, :])

    def encode_image(self, pixels: torch.Tensor) -> torch.Tensor:
        return self.image_projection(self.image_encoder.model(pixels))


def _distilbert(layers: int) -> nn.Module:
    model: nn.Module = transformers.DistilBertModel(transformers.DistilBertConfig(n_layers=layers))
    return model


def scratch_clip() -> ScratchClip:
    """Batch norms as training leaves them."""
    torch.manual_seed(8)
    model = ScratchClip()
    for norm in model.modules():
        if isinstance(norm, nn.BatchNorm2d):
            nn.init.normal_(norm.running_mean, std=0.1)
            nn.init.uniform_(norm.running_var, 0.5, 2.0)
            nn.init.uniform_(norm.weight, 0.5, 1.0)
            nn.init.normal_(norm.bias, std=0.1)
    return model.eval()
