"""Models with the names of the real ones and fewer rows, and what a person does in the stages panel."""

from __future__ import annotations

import pickle
import sys
from pathlib import Path

from pytestqt.qtbot import QtBot

from explorer.commands import Session
from explorer.core.layout import LayoutSettings
from explorer.document import LayoutStage
from explorer.views.panels.stages import StagesPanel

# The makers stand beside the tests that compare the models' arithmetic with torch's.
sys.path.append(str(Path(__file__).parents[1] / "compute" / "stages"))
from picture_checkpoints import captioning, cifar_vit
from stage_checkpoints import decoder_only, save, translator

SOURCE = ("PAD", "UNK", ".</w>", "BOS", "EOS", "wie</w>", "geht</w>", "es</w>", "dir</w>", "ge", "hen</w>")
TARGET = ("PAD", "UNK", "BOS", "EOS", "how</w>", "are</w>", "you</w>")
CAPTION = ("<pad>", "<start>", "<end>", "<unk>", "a", "red", "circle", "above", "blue", "square")


def a_translator(folder: Path) -> Path:
    """A translator with its vocabularies beside it."""
    sides = tuple({name: row for row, name in enumerate(names)} for names in (SOURCE, TARGET))
    both = [part for side in sides for part in (side, {row: name for name, row in side.items()})]
    (folder / "dict.p").write_bytes(pickle.dumps(tuple(both)))
    return save(translator(len(SOURCE), len(TARGET), dim=32, inner=64, layers=2), folder / "de2en.pth")


def a_gpt(folder: Path) -> Path:
    """A GPT without a vocabulary."""
    return save(decoder_only(60, 16, 32, 2), folder / "GPTe10.pth")


def a_music_model(folder: Path) -> Path:
    """A music transformer, told by its 390 events."""
    return save(decoder_only(390, 64, 32, 2), folder / "musicTrans.pth")


def a_vit(folder: Path) -> Path:
    """A ViT for pictures of 32 pixels."""
    return save(cifar_vit(layers=2, heads=2, dim=16), folder / "ViT.pth")


def a_captioning_model(folder: Path) -> Path:
    """A captioning model with its vocabulary beside it."""
    (folder / "words.txt").write_text("\n".join(CAPTION) + "\n")
    return save(captioning(len(CAPTION), dim=32, layers=2), folder / "caption.pth")


def opened(qtbot: QtBot, session: Session, path: str | Path, **labels: str) -> Session:
    """Open a file and wait for its map."""
    session.document.set_settings(LayoutSettings(method="pca"))
    session.opening.open([str(path)], **labels)
    qtbot.waitUntil(
        lambda: (
            session.document.stage is LayoutStage.DONE
            and session.document.table is not None
            and session.document.table.path == str(path)
        )
    )
    return session


def shown(qtbot: QtBot, session: Session) -> StagesPanel:
    """The panel, with the file's model opened."""
    made = StagesPanel(session)
    # What is still under way must not tell a panel that is gone.
    qtbot.addWidget(made, before_close_func=lambda _panel: session.close())
    made.resize(360, 800)
    made.show()
    qtbot.waitUntil(lambda: session.document.model_view.model is not None)
    return made


def type_in(qtbot: QtBot, panel: StagesPanel, text: str) -> None:
    """Type, and wait for what the model makes of it."""
    panel.form.field.clear()
    qtbot.keyClicks(panel.form.field, text)
    qtbot.waitUntil(lambda: ran(panel) == text)


def ran(panel: StagesPanel) -> str | None:
    """The text that was run; None while it is still to come."""
    view = panel._session.document.model_view
    done = view.run is not None and not panel._session.staging.is_running and not panel.is_waiting
    return view.given.text if done else None
