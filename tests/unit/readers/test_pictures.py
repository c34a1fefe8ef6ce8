"""Pictures of every kind, and everything that can be wrong with one."""

from __future__ import annotations

import io
import os
import struct
import sys
import zlib
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageCms

from explorer.core.pictures import PictureError, Verdict
from explorer.readers.pictures import (
    BACKGROUND,
    decode_picture,
    is_picture_file,
    read_picture,
    thumbnail,
)

ENCODED = ("JPEG", "PNG", "WEBP", "GIF", "BMP", "TIFF", "AVIF")


def scene(width: int = 64, height: int = 48) -> Image.Image:
    """Red, green, blue and grey quarters."""
    pixels = np.full((height, width, 3), 128, np.uint8)
    pixels[: height // 2, : width // 2] = (220, 30, 30)
    pixels[: height // 2, width // 2 :] = (30, 200, 30)
    pixels[height // 2 :, : width // 2] = (30, 30, 210)
    return Image.fromarray(pixels)


def saved(image: Image.Image, kind: str, **options: object) -> bytes:
    stream = io.BytesIO()
    image.save(stream, kind, **options)
    return stream.getvalue()


def quarters(image: Image.Image) -> np.ndarray:
    """The colours in the middle of the four quarters, shape (4, 3)."""
    pixels = np.asarray(image).astype(int)
    height, width = pixels.shape[:2]
    return np.array(
        [pixels[y, x] for y in (height // 4, 3 * height // 4) for x in (width // 4, 3 * width // 4)]
    )


def fault(data: bytes) -> PictureError:
    with pytest.raises(PictureError) as caught:
        decode_picture(data, "a.jpg")
    return caught.value


@pytest.mark.parametrize("kind", ENCODED)
def test_that_every_kind_is_decoded_to_rgb(kind):
    picture = decode_picture(saved(scene(), kind), "a")
    assert (picture.image.mode, picture.image.size) == ("RGB", (64, 48))
    assert (picture.width, picture.height, picture.format, picture.animated) == (64, 48, kind, False)
    assert np.abs(quarters(picture.image) - quarters(scene())).max() <= 12


@pytest.mark.parametrize("orientation", range(1, 9))
@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP", "TIFF"])
def test_that_pictures_stand_upright(kind, orientation):
    # What a camera stores: the upright picture, turned by the inverse of what EXIF asks for.
    inverse = {2: 0, 3: 3, 4: 1, 5: 5, 6: 2, 7: 6, 8: 4}  # Image.Transpose of each
    stored = scene() if orientation == 1 else scene().transpose(Image.Transpose(inverse[orientation]))
    exif = Image.Exif()
    exif[0x0112] = orientation
    picture = decode_picture(saved(stored, kind, exif=exif), "a")
    assert (picture.width, picture.height) == picture.image.size == (64, 48)
    assert np.abs(quarters(picture.image) - quarters(scene())).max() <= 12


def test_that_broken_exif_does_not_spoil_a_picture():
    data = saved(scene(), "JPEG", exif=b"Exif\0\0II*\0\xff\xff\xff\xff broken")
    assert decode_picture(data, "a").image.size == (64, 48)


@pytest.mark.parametrize(("kind", "dtype"), [("PNG", "<u2"), ("TIFF", "<u2"), ("TIFF", ">u2")])
def test_that_16_bits_are_scaled_and_not_clipped(kind, dtype):
    values = np.linspace(0, 65535, 256).round().astype(dtype).reshape(16, 16)
    picture = decode_picture(saved(Image.fromarray(values), kind), "a")
    grey = np.asarray(picture.image)[..., 0].ravel()
    assert np.array_equal(grey, np.arange(256))


@pytest.mark.parametrize("top", [1.0, 255.0, 9e5])
def test_that_floating_point_values_are_scaled(top):
    values = np.linspace(0, top, 256, dtype=np.float32).reshape(16, 16)
    values[3, 3] = np.nan
    grey = np.asarray(decode_picture(saved(Image.fromarray(values), "TIFF"), "a").image)[..., 0].ravel()
    grey[51] = 51
    assert np.abs(grey.astype(int) - np.arange(256)).max() <= 1


@pytest.mark.parametrize("kind", ["PNG", "WEBP", "GIF", "TIFF", "AVIF"])
def test_that_transparent_pixels_lie_over_the_stated_background(kind):
    image = scene().convert("RGBA")
    image.putalpha(0)
    image.paste((220, 30, 30, 255), (0, 0, 32, 48))
    colours = quarters(decode_picture(saved(image, kind), "a").image)
    assert np.abs(colours[[0, 2]] - (220, 30, 30)).max() <= 12
    assert np.abs(colours[[1, 3]] - BACKGROUND).max() <= 12


def test_that_half_transparency_and_transparent_colours_count():
    half = Image.new("RGBA", (8, 8), (0, 0, 0, 128))
    assert decode_picture(saved(half, "PNG"), "a").image.getpixel((3, 3)) == (127, 127, 127)
    grey = Image.new("LA", (8, 8), (0, 0))
    assert decode_picture(saved(grey, "PNG"), "a").image.getpixel((3, 3)) == BACKGROUND
    keyed = saved(Image.new("RGB", (8, 8), (9, 9, 9)), "PNG", transparency=(9, 9, 9))
    assert decode_picture(keyed, "a").image.getpixel((3, 3)) == BACKGROUND
    palette = Image.new("P", (8, 8), 4)
    palette.putpalette([5] * 24)
    assert decode_picture(saved(palette, "PNG", transparency=4), "a").image.getpixel((3, 3)) == BACKGROUND


@pytest.mark.parametrize("kind", ["JPEG", "TIFF"])
def test_that_cmyk_becomes_the_colours_that_it_stands_for(kind):
    picture = decode_picture(saved(scene().convert("CMYK"), kind), "a")
    assert picture.image.mode == "RGB"
    assert np.abs(quarters(picture.image) - quarters(scene())).max() <= 12


def test_that_lab_becomes_rgb():
    to_lab = ImageCms.buildTransform(
        ImageCms.createProfile("sRGB"), ImageCms.createProfile("LAB"), "RGB", "LAB"
    )
    lab = ImageCms.applyTransform(scene(), to_lab)
    assert lab is not None
    colours = quarters(decode_picture(saved(lab, "TIFF"), "a").image)
    assert np.abs(colours - quarters(scene())).max() <= 12


def test_that_a_profile_that_is_none_does_not_spoil_a_cmyk_picture():
    data = saved(scene().convert("CMYK"), "JPEG", icc_profile=b"no profile at all")
    assert np.abs(quarters(decode_picture(data, "a").image) - quarters(scene())).max() <= 12


@pytest.mark.parametrize("kind", ["GIF", "PNG", "WEBP", "AVIF"])
def test_that_an_animation_gives_its_first_frame_and_is_marked(kind):
    frames = [Image.new("RGB", (32, 32), (10, 10, 200)), Image.new("RGB", (32, 32), (200, 10, 10))]
    data = saved(scene(32, 32), kind, save_all=True, append_images=frames, duration=50)
    picture = decode_picture(data, "a")
    assert picture.animated
    assert np.abs(quarters(picture.image) - quarters(scene(32, 32))).max() <= 12


def test_that_the_pages_of_a_scan_are_no_animation():
    data = saved(scene(), "TIFF", save_all=True, append_images=[scene()])
    assert not decode_picture(data, "a").animated


@pytest.mark.parametrize("kind", ENCODED)
@pytest.mark.parametrize("share", [0.9, 0.5, 0.2])
def test_that_a_picture_that_is_cut_off_is_told(kind, share):
    noise = np.random.default_rng(3).integers(0, 256, (60, 80, 3), dtype=np.uint8)
    data = saved(Image.fromarray(noise), kind)
    found = fault(data[: int(len(data) * share)])
    assert found.verdict is Verdict.CUT_OFF
    assert "a.jpg" in found.message


def test_that_a_progressive_picture_that_is_cut_off_is_told():
    data = saved(scene(200, 200), "JPEG", progressive=True)
    assert fault(data[: len(data) // 2]).verdict is Verdict.CUT_OFF


def png_of(width: int, height: int) -> bytes:
    """A PNG that claims a size and holds next to nothing."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    idat = chunk(b"IDAT", zlib.compress(b"\0" * 10_000))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + idat + chunk(b"IEND", b"")


@pytest.mark.parametrize("side", [12_000, 30_000, 200_000])
def test_that_a_decompression_bomb_is_refused_by_its_header(side):
    found = fault(png_of(side, side))
    assert found.verdict is Verdict.TOO_LARGE
    assert "pixels" in found.reason


@pytest.mark.skipif(sys.platform != "linux", reason="peak memory is read from /proc")
def test_that_a_bomb_costs_no_memory():
    before = _peak()
    fault(png_of(30_000, 30_000))
    assert _peak() - before < 50e6


def test_that_a_very_large_jpeg_is_decoded_at_half_its_size(monkeypatch):
    monkeypatch.setattr("explorer.readers.pictures.MOST_PIXELS", 50_000)
    picture = decode_picture(saved(scene(400, 300), "JPEG"), "a")
    assert (picture.width, picture.height, picture.image.size) == (400, 300, (200, 150))
    assert np.abs(quarters(picture.image) - quarters(scene())).max() <= 12
    assert fault(saved(scene(400, 300), "PNG")).verdict is Verdict.TOO_LARGE


@pytest.mark.parametrize("data", [b"<html>not found</html>", b"\0" * 4096, b"%!PS-Adobe-3.0 EPSF-3.0\n"])
def test_that_what_is_no_picture_is_told(data):
    assert fault(data).verdict is Verdict.NOT_A_PICTURE


def test_that_a_damaged_picture_is_told():
    data = bytearray(saved(scene(), "JPEG"))
    data[20:200] = b"\x5a" * 180
    found = fault(bytes(data))
    assert (found.verdict, found.reason) == (
        Verdict.UNREADABLE,
        "it is a damaged JPEG, or one of a rare form",
    )


def test_that_heic_is_decoded_or_says_what_it_needs():
    data = b"\0\0\0\x18ftypheic\0\0\0\0mif1heic" + b"\0\0\0\x08free" * 4
    found = fault(data)
    assert found.verdict is Verdict.UNREADABLE
    try:
        import pillow_heif  # noqa: F401
    except ImportError:
        assert "pillow-heif" in found.reason


def test_that_files_that_cannot_be_read_are_told(tmp_path):
    (tmp_path / "empty.jpg").touch()
    (tmp_path / "folder.jpg").mkdir()
    verdicts = {}
    for name in ("empty.jpg", "absent.jpg", "folder.jpg", "empty.jpg/below.jpg"):
        with pytest.raises(PictureError) as caught:
            read_picture(tmp_path / name)
        verdicts[name] = caught.value.verdict
    assert verdicts == {
        "empty.jpg": Verdict.EMPTY,
        "absent.jpg": Verdict.GONE,
        "folder.jpg": Verdict.UNREADABLE,
        "empty.jpg/below.jpg": Verdict.GONE,
    }


@pytest.mark.skipif(sys.platform == "win32", reason="pipes with names")
def test_that_a_pipe_is_refused_and_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe.jpg")
    with pytest.raises(PictureError, match="it is a pipe or a device"):
        read_picture(tmp_path / "pipe.jpg")
    with pytest.raises(PictureError, match="it is a pipe or a device"):
        read_picture(Path("/dev/zero"))


@pytest.mark.skipif(sys.platform != "linux", reason="names of any bytes")
def test_that_a_name_that_is_no_text_can_be_read(tmp_path):
    path = Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9.png"))
    path.write_bytes(saved(scene(), "PNG"))
    assert read_picture(path).image.size == (64, 48)


def test_that_thumbnails_are_small_jpegs_of_the_same_picture():
    for size in ((2000, 1500), (300, 1400), (40, 30), (5000, 1)):
        small = Image.open(io.BytesIO(thumbnail(scene(*size) if min(size) > 1 else Image.new("RGB", size))))
        assert small.format == "JPEG"
        assert max(small.size) == min(256, max(size))
        if min(size) > 1:
            assert np.abs(quarters(small) - quarters(scene())).max() <= 12


def test_that_pictures_are_told_from_other_files_by_name_or_content(tmp_path):
    (tmp_path / "page.JPG").write_text("<html>")
    (tmp_path / "1000268201").write_bytes(saved(scene(), "WEBP"))
    (tmp_path / "notes").write_text("no picture")
    (tmp_path / "a.txt").write_bytes(saved(scene(), "PNG"))
    found = {path.name for path in tmp_path.iterdir() if is_picture_file(path)}
    assert found == {"page.JPG", "1000268201"}


def _peak() -> int:
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM")) * 1024


def test_that_a_jpeg_is_decoded_no_larger_than_it_is_needed():
    wide = Image.new("RGB", (3000, 1500), (200, 30, 40))
    jpeg, png = saved(wide, "JPEG"), saved(wide, "PNG")
    sizes = {side: decode_picture(jpeg, "a.jpg", side).image.size for side in (200, 300, 1000, 5000)}
    assert sizes == {200: (375, 188), 300: (375, 188), 1000: (1500, 750), 5000: (3000, 1500)}
    small = decode_picture(jpeg, "a.jpg", 200)
    assert (small.width, small.height) == (3000, 1500)
    assert decode_picture(png, "a.png", 200).image.size == (3000, 1500)
