"""Models of the ``transformers`` library: built from a configuration and weights that are at hand.

The library is imported here only, when first needed, and kept from asking a network or running a file's code:
classes are named in this package, never taken from a file, and weights come as tensors that were read before.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import torch

from explorer.compute.encoders.weights import Weights
from explorer.core.errors import ExplorerError

# Entries of a configuration that could make the library fetch or run something, or have no effect here.
_DROPPED = (
    "auto_map",
    "attn_implementation",
    "_attn_implementation",
    "_attn_implementation_internal",
    "_name_or_path",
    "custom_pipelines",
    "quantization_config",
    "compression_config",
    "use_kernels",
    "torch_dtype",
    "dtype",
    "transformers_version",
    "architectures",
    "model_type",
    "_commit_hash",
)
_MOST_LAYERS = 256
_LARGEST_SIZE = 1 << 24
_UNNEEDED = ("logit_scale", "logit_bias")


def library() -> Any:
    """The ``transformers`` package, quiet and without a network."""
    os.environ["HF_HUB_OFFLINE"] = "1"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import transformers
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    return transformers


def warm_up() -> None:
    """Import what the library's models have in common: most of what it takes to load the first one."""
    with _quiet():
        library().CLIPModel  # noqa: B018 - imported by being named


def configuration(name: str, values: Mapping[str, Any]) -> Any:
    """A configuration, without whatever in it could reach beyond the model.

    Parameters
    ----------
    name : str
        The class, e.g. ``"CLIPConfig"``.
    values : mapping
        As a ``config.json`` holds them.

    Raises
    ------
    ExplorerError
        The values are of no use.
    """
    with _translated("Its configuration is of no use."), _quiet():
        return getattr(library(), name).from_dict(_checked(values))


def build(
    name: str,
    config: Any,
    state: Mapping[str, torch.Tensor],
    weights: Weights,
    optional: tuple[str, ...] = (),
) -> Any:
    """A model with all its weights, ready to compute in float32 on the CPU.

    Parameters
    ----------
    name : str
        The class, e.g. ``"CLIPModel"``.
    config : transformers.PreTrainedConfig
    state : mapping of str to tensor
    weights : Weights
        Where they come from, for messages.
    optional : tuple of str
        Beginnings of names that may be missing.

    Raises
    ------
    ExplorerError
        Weights are missing or have the wrong shapes: nothing is ever filled in at random.
    """
    where = weights.path.name
    with _translated(f"The weights in {where} do not fit their configuration."), _quiet():
        model, report = getattr(library(), name).from_pretrained(
            None,
            config=config,
            state_dict=dict(state),
            output_loading_info=True,
            dtype=torch.float32,
        )
    missing = sorted(key for key in report["missing_keys"] if not key.startswith((*_UNNEEDED, *optional)))
    if missing:
        raise ExplorerError(
            f"{where} lacks {len(missing)} of the encoder's tensors.",
            "Save the whole model in its usual form.",
            "Missing: " + ", ".join(missing[:10]) + (" …" if len(missing) > 10 else ""),
        )
    return model.eval()


def telling(values: Mapping[str, Any]) -> dict[str, Any]:
    """What of a configuration decides the output: without versions, names and storage types."""
    return _checked(values)


def _checked(values: Mapping[str, Any], depth: int = 0) -> dict[str, Any]:
    """Plain values of believable size: a million layers would be built before the weights contradict."""
    checked: dict[str, Any] = {}
    for key, value in values.items():
        if key in _DROPPED and (depth or key != "model_type"):
            continue
        if isinstance(value, Mapping):
            value = _checked(value, depth + 1) if depth < 8 else {}
        elif type(value) is int:
            limit = _MOST_LAYERS if "layers" in key else _LARGEST_SIZE
            if abs(value) > limit:
                raise ExplorerError(f"The configuration asks for {key} = {value}, which cannot be right.")
        checked[key] = value
    return checked


@contextmanager
def _translated(message: str) -> Iterator[None]:
    """The library's many errors as one of ours."""
    try:
        yield
    except ExplorerError:
        raise
    except Exception as error:  # it raises whatever its parts raise
        raise ExplorerError(message, "Download the whole model again.", str(error)[:2000]) from error


@contextmanager
def _quiet() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
