"""Names and shapes of the tensors of public families of models, and the tables that each must offer."""

from __future__ import annotations

from model_shapes import Model, Shapes, Table, linear, norm

_CLIP_TEXT = {
    "embeddings.token_embedding.weight": (49408, 768),
    "embeddings.position_embedding.weight": (77, 768),
    **linear("encoder.layers.0.self_attn.k_proj", 768, 768),
    **linear("encoder.layers.0.mlp.fc1", 3072, 768),
    **norm("final_layer_norm", 768),
}


def prefixed(prefix: str, shapes: Shapes) -> Shapes:
    return {prefix + name: shape for name, shape in shapes.items()}


def clip_text(prefix: str) -> list[Table]:
    return [
        (f"{prefix}embeddings.token_embedding.weight", 49408, 768, "token"),
        (f"{prefix}embeddings.position_embedding.weight", 77, 768, "position"),
    ]


_OPENAI = {
    "positional_embedding": (77, 512),
    "text_projection": (512, 512),
    "logit_scale": (),
    "visual.class_embedding": (768,),
    "visual.positional_embedding": (50, 768),
    "visual.proj": (768, 512),
    "visual.conv1.weight": (768, 3, 32, 32),
    **norm("visual.ln_pre", 768),
    "visual.transformer.resblocks.0.attn.in_proj_weight": (2304, 768),
    **linear("visual.transformer.resblocks.0.mlp.c_fc", 3072, 768),
    **linear("transformer.resblocks.0.attn.out_proj", 512, 512),
    "token_embedding.weight": (49408, 512),
}

FAMILIES = {
    "CLIP": Model(
        {
            "logit_scale": (),
            **prefixed("text_model.", _CLIP_TEXT),
            "vision_model.embeddings.class_embedding": (768,),
            "vision_model.embeddings.patch_embedding.weight": (768, 3, 32, 32),
            "vision_model.embeddings.position_embedding.weight": (50, 768),
            "visual_projection.weight": (512, 768),
            "text_projection.weight": (512, 768),
        },
        [
            ("text_model.embeddings.token_embedding.weight", 49408, 768, "token"),
            ("text_model.embeddings.position_embedding.weight", 77, 768, "position"),
            ("vision_model.embeddings.position_embedding.weight", 50, 768, "position"),
            ("vision_model.embeddings.patch_embedding.weight", 768, 3072, "patch"),
            ("vision_model.embeddings.class_embedding", 1, 768, "class token"),
            ("visual_projection.weight", 512, 768, "other"),
            ("text_projection.weight", 512, 768, "other"),
        ],
    ),
    "CLIP text, new names": Model(_CLIP_TEXT, clip_text("")),
    "CLIP text, old names": Model(prefixed("text_model.", _CLIP_TEXT), clip_text("text_model.")),
    "OpenAI CLIP": Model(
        _OPENAI,
        [
            ("token_embedding.weight", 49408, 512, "token"),
            ("positional_embedding", 77, 512, "position"),
            ("visual.positional_embedding", 50, 768, "position"),
            ("visual.conv1.weight", 768, 3072, "patch"),
            ("visual.class_embedding", 1, 768, "class token"),
            ("text_projection", 512, 512, "other"),
            ("visual.proj", 768, 512, "other"),
        ],
    ),
    "OpenAI CLIP, ResNet": Model(
        {
            "positional_embedding": (77, 512),
            "text_projection": (512, 1024),
            "visual.conv1.weight": (32, 3, 3, 3),
            "visual.layer1.0.conv1.weight": (64, 64, 1, 1),
            "visual.attnpool.positional_embedding": (50, 2048),
            **linear("visual.attnpool.k_proj", 2048, 2048),
            "token_embedding.weight": (49408, 512),
        },
        [
            ("token_embedding.weight", 49408, 512, "token"),
            ("positional_embedding", 77, 512, "position"),
            ("visual.attnpool.positional_embedding", 50, 2048, "position"),
            ("text_projection", 512, 1024, "other"),
        ],
    ),
    "OpenCLIP SigLIP": Model(
        {
            "logit_scale": (),
            "logit_bias": (),
            "visual.trunk.pos_embed": (1, 196, 768),
            "visual.trunk.patch_embed.proj.weight": (768, 3, 16, 16),
            "visual.trunk.patch_embed.proj.bias": (768,),
            "visual.trunk.attn_pool.latent": (1, 1, 768),
            "text.token_embedding.weight": (32000, 768),
            "text.positional_embedding": (64, 768),
            **linear("text.text_projection", 768, 768),
        },
        [
            ("text.token_embedding.weight", 32000, 768, "token"),
            ("visual.trunk.pos_embed", 196, 768, "position"),
            ("text.positional_embedding", 64, 768, "position"),
            ("visual.trunk.patch_embed.proj.weight", 768, 768, "patch"),
            ("text.text_projection.weight", 768, 768, "other"),
        ],
    ),
    "Stable Diffusion 1": Model(
        {
            "model.diffusion_model.time_embed.0.weight": (1280, 320),
            "model.diffusion_model.time_embed.0.bias": (1280,),
            "model.diffusion_model.input_blocks.0.0.weight": (320, 4, 3, 3),
            **linear("model.diffusion_model.input_blocks.1.0.emb_layers.1", 320, 1280),
            "model.diffusion_model.input_blocks.1.1.transformer_blocks.0.attn2.to_k.weight": (320, 768),
            "first_stage_model.encoder.conv_in.weight": (128, 3, 3, 3),
            "first_stage_model.post_quant_conv.weight": (4, 4, 1, 1),
            **prefixed("cond_stage_model.transformer.text_model.", _CLIP_TEXT),
        },
        clip_text("cond_stage_model.transformer.text_model."),
    ),
    "Stable Diffusion 2": Model(
        prefixed("cond_stage_model.model.", {k: v for k, v in _OPENAI.items() if "visual" not in k}),
        [
            ("cond_stage_model.model.token_embedding.weight", 49408, 512, "token"),
            ("cond_stage_model.model.positional_embedding", 77, 512, "position"),
            ("cond_stage_model.model.text_projection", 512, 512, "other"),
        ],
    ),
    "Stable Diffusion XL": Model(
        {
            **prefixed("conditioner.embedders.0.transformer.text_model.", _CLIP_TEXT),
            "conditioner.embedders.1.model.positional_embedding": (77, 1280),
            "conditioner.embedders.1.model.token_embedding.weight": (49408, 1280),
            **linear("model.diffusion_model.label_emb.0.0", 1280, 2816),
        },
        [
            (
                "conditioner.embedders.0.transformer.text_model.embeddings.token_embedding.weight",
                49408,
                768,
                "token",
            ),
            ("conditioner.embedders.1.model.token_embedding.weight", 49408, 1280, "token"),
            (
                "conditioner.embedders.0.transformer.text_model.embeddings.position_embedding.weight",
                77,
                768,
                "position",
            ),
            ("conditioner.embedders.1.model.positional_embedding", 77, 1280, "position"),
        ],
    ),
    "Stable Diffusion 3 text encoders": Model(
        {
            **prefixed("text_encoders.clip_l.transformer.text_model.", _CLIP_TEXT),
            "text_encoders.t5xxl.transformer.shared.weight": (32128, 4096),
            "text_encoders.t5xxl.transformer.encoder.block.0.layer.0.SelfAttention.q.weight": (4096, 4096),
        },
        [
            (
                "text_encoders.clip_l.transformer.text_model.embeddings.token_embedding.weight",
                49408,
                768,
                "token",
            ),
            ("text_encoders.t5xxl.transformer.shared.weight", 32128, 4096, "token"),
            (
                "text_encoders.clip_l.transformer.text_model.embeddings.position_embedding.weight",
                77,
                768,
                "position",
            ),
        ],
    ),
    "GPT-2": Model(
        {
            "wte.weight": (50257, 1600),
            "wpe.weight": (1024, 1600),
            "h.0.attn.bias": (1, 1, 1024, 1024),
            "h.0.attn.c_attn.weight": (1600, 4800),
            "h.0.attn.c_attn.bias": (4800,),
        },
        [("wte.weight", 50257, 1600, "token"), ("wpe.weight", 1024, 1600, "position")],
    ),
    "BERT": Model(
        {
            "bert.embeddings.word_embeddings.weight": (30522, 768),
            "bert.embeddings.position_embeddings.weight": (512, 768),
            "bert.embeddings.token_type_embeddings.weight": (2, 768),
            **linear("bert.encoder.layer.0.attention.self.query", 768, 768),
            **linear("bert.pooler.dense", 768, 768),
            **linear("cls.predictions.transform.dense", 768, 768),
            **linear("cls.predictions.decoder", 30522, 768),
        },
        [
            ("bert.embeddings.word_embeddings.weight", 30522, 768, "token"),
            ("bert.embeddings.position_embeddings.weight", 512, 768, "position"),
            ("cls.predictions.decoder.weight", 30522, 768, "output layer"),
            ("bert.embeddings.token_type_embeddings.weight", 2, 768, "other"),
        ],
    ),
    "Llama": Model(
        {
            "model.embed_tokens.weight": (32000, 4096),
            "model.layers.0.self_attn.q_proj.weight": (4096, 4096),
            "model.layers.0.mlp.up_proj.weight": (11008, 4096),
            "model.norm.weight": (4096,),
            "lm_head.weight": (32000, 4096),
        },
        [
            ("model.embed_tokens.weight", 32000, 4096, "token"),
            ("lm_head.weight", 32000, 4096, "output layer"),
        ],
    ),
    "T5": Model(
        {
            "shared.weight": (32128, 512),
            "encoder.block.0.layer.0.SelfAttention.q.weight": (512, 512),
            "encoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight": (32, 8),
            "lm_head.weight": (32128, 512),
        },
        [("shared.weight", 32128, 512, "token"), ("lm_head.weight", 32128, 512, "output layer")],
    ),
    "Marian": Model(
        {
            "final_logits_bias": (1, 65001),
            "model.shared.weight": (65001, 512),
            "model.encoder.embed_positions.weight": (512, 512),
            "model.decoder.embed_positions.weight": (512, 512),
        },
        [
            ("model.shared.weight", 65001, 512, "token"),
            ("model.encoder.embed_positions.weight", 512, 512, "position"),
            ("model.decoder.embed_positions.weight", 512, 512, "position"),
        ],
    ),
    "XLM": Model(
        {
            "position_embeddings.weight": (512, 2048),
            "embeddings.weight": (64139, 2048),
            **linear("attentions.0.q_lin", 2048, 2048),
            **linear("pred_layer.proj", 64139, 2048),
        },
        [
            ("embeddings.weight", 64139, 2048, "token"),
            ("position_embeddings.weight", 512, 2048, "position"),
            ("pred_layer.proj.weight", 64139, 2048, "output layer"),
        ],
    ),
    "timm ViT": Model(
        {
            "cls_token": (1, 1, 768),
            "pos_embed": (1, 197, 768),
            "patch_embed.proj.weight": (768, 3, 16, 16),
            "patch_embed.proj.bias": (768,),
            **linear("blocks.0.attn.qkv", 2304, 768),
            **linear("head", 1000, 768),
        },
        [
            ("pos_embed", 197, 768, "position"),
            ("patch_embed.proj.weight", 768, 768, "patch"),
            ("cls_token", 1, 768, "class token"),
            ("head.weight", 1000, 768, "output layer"),
        ],
    ),
    "Hugging Face ViT": Model(
        {
            "vit.embeddings.cls_token": (1, 1, 768),
            "vit.embeddings.position_embeddings": (1, 197, 768),
            "vit.embeddings.patch_embeddings.projection.weight": (768, 3, 16, 16),
            **linear("vit.encoder.layer.0.attention.attention.query", 768, 768),
            **linear("vit.pooler.dense", 768, 768),
        },
        [
            ("vit.embeddings.position_embeddings", 197, 768, "position"),
            ("vit.embeddings.patch_embeddings.projection.weight", 768, 768, "patch"),
            ("vit.embeddings.cls_token", 1, 768, "class token"),
        ],
    ),
    "torchvision ViT": Model(
        {
            "class_token": (1, 1, 768),
            "conv_proj.weight": (768, 3, 16, 16),
            "encoder.pos_embedding": (1, 197, 768),
            **linear("encoder.layers.encoder_layer_0.mlp.0", 3072, 768),
            **linear("heads.head", 1000, 768),
        },
        [
            ("encoder.pos_embedding", 197, 768, "position"),
            ("conv_proj.weight", 768, 768, "patch"),
            ("class_token", 1, 768, "class token"),
            ("heads.head.weight", 1000, 768, "output layer"),
        ],
    ),
    "Whisper": Model(
        {
            "encoder.positional_embedding": (1500, 512),
            "encoder.conv1.weight": (512, 80, 3),
            "decoder.token_embedding.weight": (51865, 512),
            "decoder.positional_embedding": (448, 512),
        },
        [
            ("decoder.token_embedding.weight", 51865, 512, "token"),
            ("encoder.positional_embedding", 1500, 512, "position"),
            ("decoder.positional_embedding", 448, 512, "position"),
        ],
    ),
    "language model tutorial": Model(
        {
            "pos_encoder.pe": (5000, 1, 200),
            "transformer_encoder.layers.0.self_attn.in_proj_weight": (600, 200),
            "encoder.weight": (28782, 200),
            **linear("decoder", 28782, 200),
        },
        [
            ("encoder.weight", 28782, 200, "token"),
            ("pos_encoder.pe", 5000, 200, "position"),
            ("decoder.weight", 28782, 200, "output layer"),
        ],
    ),
    "sequence to sequence": Model(
        {
            "decoder.embedding.weight": (6000, 256),
            **linear("decoder.fc_out", 6000, 256),
            "encoder.embedding.weight": (8000, 256),
            "encoder.rnn.weight_ih_l0": (1536, 256),
        },
        [
            ("encoder.embedding.weight", 8000, 256, "token"),
            ("decoder.embedding.weight", 6000, 256, "token"),
            ("decoder.fc_out.weight", 6000, 256, "output layer"),
        ],
    ),
    "skip-gram": Model(
        {"in_embed.weight": (5000, 64), "out_embed.weight": (5000, 64)},
        [("in_embed.weight", 5000, 64, "token"), ("out_embed.weight", 5000, 64, "output layer")],
    ),
    "matrix factorisation": Model(
        {"user_emb.weight": (500, 32), "item_emb.weight": (800, 32)},
        [("user_emb.weight", 500, 32, "other"), ("item_emb.weight", 800, 32, "other")],
    ),
    "ResNet": Model(
        {"conv1.weight": (64, 3, 7, 7), "layer1.0.conv1.weight": (64, 64, 3, 3), **linear("fc", 1000, 512)},
        [("fc.weight", 1000, 512, "output layer")],
    ),
}
