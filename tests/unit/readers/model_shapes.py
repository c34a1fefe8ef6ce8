"""Names and shapes of the tensors of the books' models, and the tables that each must offer.

A model's tensors stand in the order of its file; only those that could be mistaken for a table are complete,
layers stand for all of their kind. Its tables are ``(name, rows, dim, role)``, in the order of the offer.
"""

from __future__ import annotations

from dataclasses import dataclass

Shapes = dict[str, tuple[int, ...]]
Table = tuple[str, int, int, str]


@dataclass(frozen=True)
class Model:
    tensors: Shapes
    tables: list[Table]


def linear(name: str, outputs: int, inputs: int) -> Shapes:
    return {f"{name}.weight": (outputs, inputs), f"{name}.bias": (outputs,)}


def norm(name: str, dim: int) -> Shapes:
    return {f"{name}.weight": (dim,), f"{name}.bias": (dim,)}


def translator(source: int, target: int) -> Model:
    tensors: Shapes = {}
    for side in ("encoder", "decoder"):
        for attention in ("self_attn", "src_attn")[: 1 if side == "encoder" else 2]:
            for i in range(4):
                tensors |= linear(f"{side}.layers.0.{attention}.linears.{i}", 256, 256)
        tensors |= linear(f"{side}.layers.0.feed_forward.w_1", 1024, 256)
        tensors |= linear(f"{side}.layers.0.feed_forward.w_2", 256, 1024)
        tensors |= {
            f"{side}.layers.0.sublayer.0.norm.a_2": (256,),
            f"{side}.layers.0.sublayer.0.norm.b_2": (256,),
        }
        tensors |= {f"{side}.norm.a_2": (256,), f"{side}.norm.b_2": (256,)}
    tensors |= {
        "src_embed.0.lut.weight": (source, 256),
        "src_embed.1.pe": (1, 5000, 256),
        "tgt_embed.0.lut.weight": (target, 256),
        "tgt_embed.1.pe": (1, 5000, 256),
        **linear("generator.proj", target, 256),
    }
    return Model(
        tensors,
        [
            ("src_embed.0.lut.weight", source, 256, "token"),
            ("tgt_embed.0.lut.weight", target, 256, "token"),
            ("src_embed.1.pe", 5000, 256, "position"),
            ("tgt_embed.1.pe", 5000, 256, "position"),
            ("generator.proj.weight", target, 256, "output layer"),
        ],
    )


def decoder_only(tokens: int, positions: int, dim: int, mask: int) -> Model:
    tensors = {
        "transformer.wte.weight": (tokens, dim),
        "transformer.wpe.weight": (positions, dim),
        **norm("transformer.h.0.ln_1", dim),
        "transformer.h.0.attn.bias": (1, 1, mask, mask),
        **linear("transformer.h.0.attn.c_attn", 3 * dim, dim),
        **linear("transformer.h.0.attn.c_proj", dim, dim),
        **linear("transformer.h.0.mlp.c_fc", 4 * dim, dim),
        **norm("transformer.ln_f", dim),
        "lm_head.weight": (tokens, dim),
    }
    return Model(
        tensors,
        [
            ("transformer.wte.weight", tokens, dim, "token"),
            ("transformer.wpe.weight", positions, dim, "position"),
            ("lm_head.weight", tokens, dim, "output layer"),
        ],
    )


LSTM = Model(
    {
        "embedding.weight": (12778, 128),
        **{f"lstm.weight_{kind}_l{layer}": (512, 128) for layer in range(3) for kind in ("ih", "hh")},
        **{f"lstm.bias_{kind}_l{layer}": (512,) for layer in range(3) for kind in ("ih", "hh")},
        **linear("fc", 12778, 128),
    },
    [("embedding.weight", 12778, 128, "token"), ("fc.weight", 12778, 128, "output layer")],
)

VIT = Model(
    {
        "embedding.cls_token": (1, 1, 48),
        "embedding.position_embeddings": (1, 65, 48),
        "embedding.patch_embeddings.projection.weight": (48, 3, 4, 4),
        "embedding.patch_embeddings.projection.bias": (48,),
        **linear("encoder.blocks.0.attention.heads.0.query", 12, 48),
        **linear("encoder.blocks.0.attention.output_projection", 48, 48),
        **linear("encoder.blocks.0.mlp.dense_1", 192, 48),
        **norm("encoder.blocks.0.layernorm_1", 48),
        **linear("classifier", 10, 48),
    },
    [
        ("embedding.position_embeddings", 65, 48, "position"),
        ("embedding.patch_embeddings.projection.weight", 48, 48, "patch"),
        ("embedding.cls_token", 1, 48, "class token"),
        ("classifier.weight", 10, 48, "output layer"),
    ],
)

CAPTION = Model(
    {
        "encoder.pos_embedding": (1, 256, 192),
        **linear("encoder.fc_in", 192, 192),
        "encoder.blocks.0.attn1.multihead_attn.in_proj_weight": (576, 192),
        **linear("encoder.blocks.0.attn1.multihead_attn.out_proj", 192, 192),
        **linear("encoder.blocks.0.mlp.0", 768, 192),
        "decoder.embedding.weight": (8387, 192),
        "decoder.blocks.0.attn2.multihead_attn.in_proj_weight": (576, 192),
        **linear("decoder.fc_out", 8387, 192),
    },
    [
        ("decoder.embedding.weight", 8387, 192, "token"),
        ("encoder.pos_embedding", 256, 192, "position"),
        ("encoder.fc_in.weight", 192, 192, "patch"),
        ("decoder.fc_out.weight", 8387, 192, "output layer"),
    ],
)

CLIP_SCRATCH = Model(
    {
        "image_encoder.model.conv1.weight": (64, 3, 7, 7),
        "image_encoder.model.layer1.0.conv1.weight": (64, 64, 1, 1),
        **norm("image_encoder.model.layer1.0.bn1", 64),
        "text_encoder.model.embeddings.word_embeddings.weight": (30522, 768),
        "text_encoder.model.embeddings.position_embeddings.weight": (512, 768),
        **norm("text_encoder.model.embeddings.LayerNorm", 768),
        **linear("text_encoder.model.transformer.layer.0.attention.q_lin", 768, 768),
        **linear("text_encoder.model.transformer.layer.0.ffn.lin1", 3072, 768),
        **linear("image_projection.projection", 256, 2048),
        **linear("image_projection.fc", 256, 256),
        **norm("image_projection.layer_norm", 256),
        **linear("text_projection.projection", 256, 768),
        **linear("text_projection.fc", 256, 256),
    },
    [
        ("text_encoder.model.embeddings.word_embeddings.weight", 30522, 768, "token"),
        ("text_encoder.model.embeddings.position_embeddings.weight", 512, 768, "position"),
        ("image_projection.projection.weight", 256, 2048, "other"),
        ("text_projection.projection.weight", 256, 768, "other"),
    ],
)

BOOKS = {
    "word LSTM": LSTM,
    "en2fr": translator(11055, 11239),
    "de2en": translator(19214, 10837),
    "GPT": decoder_only(10600, 128, 256, 128),
    "music": decoder_only(390, 2048, 512, 2048),
    "ViT": VIT,
    "captions": CAPTION,
    "CLIP from scratch": CLIP_SCRATCH,
}
