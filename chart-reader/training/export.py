"""Writes a checkpoint as the pair of GGUF files that llama.cpp loads.

    python export.py CHECKPOINT PREFIX
"""

import json
import pathlib
import sys

import gguf
import numpy as np
import torch

from model import Shape

HERE = pathlib.Path(__file__).parent
# What a layer's weights are called here, and in the file.
LAYER_NAMES = {
    "n1.w": "attn_norm", "n2.w": "ffn_norm", "q.weight": "attn_q", "k.weight": "attn_k",
    "v.weight": "attn_v", "o.weight": "attn_output", "g.weight": "ffn_gate",
    "u.weight": "ffn_up", "dn.weight": "ffn_down",
}  # fmt: skip


def main(checkpoint, prefix):
    weights = torch.load(checkpoint, map_location="cpu")["model"]
    weights = {name: tensor.float().numpy() for name, tensor in weights.items()}
    language(weights, prefix + ".gguf")
    vision(weights, prefix + "-mmproj.gguf")


def put(writer, name, array, exact=False):
    half = array.ndim > 1 and not exact
    writer.add_tensor(name, np.ascontiguousarray(array).astype(np.float16 if half else np.float32))


def finish(writer):
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def language(weights, path):
    tokenizer = json.loads((HERE / "tokenizer.json").read_text())
    vocabulary = tokenizer["model"]["vocab"]
    tokens = sorted(vocabulary, key=vocabulary.get)
    merges = [" ".join(m) if isinstance(m, list) else m for m in tokenizer["model"]["merges"]]
    special = {token["content"] for token in tokenizer["added_tokens"]}
    kinds = gguf.TokenType
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_name("photic chart reader")
    writer.add_context_length(8192)
    writer.add_embedding_length(Shape.width)
    writer.add_block_count(Shape.layers)
    writer.add_feed_forward_length(Shape.hidden)
    writer.add_head_count(Shape.heads)
    writer.add_head_count_kv(Shape.heads)
    writer.add_layer_norm_rms_eps(Shape.epsilon)
    writer.add_rope_dimension_count(Shape.width // Shape.heads)
    writer.add_rope_freq_base(Shape.theta)
    writer.add_vocab_size(len(tokens))
    writer.add_file_type(gguf.LlamaFileType.MOSTLY_F16)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list(tokens)
    writer.add_token_types([kinds.CONTROL if t in special else kinds.NORMAL for t in tokens])
    writer.add_token_merges(merges)
    writer.add_bos_token_id(vocabulary["<|endoftext|>"])
    writer.add_eos_token_id(vocabulary["<|im_end|>"])
    writer.add_pad_token_id(vocabulary["<|endoftext|>"])
    writer.add_add_bos_token(False)
    writer.add_chat_template((HERE / "template.jinja").read_text())
    put(writer, "token_embd.weight", weights["emb.weight"], exact=True)
    put(writer, "output_norm.weight", weights["norm.w"])
    for layer in range(Shape.layers):
        for ours, theirs in LAYER_NAMES.items():
            put(writer, f"blk.{layer}.{theirs}.weight", weights[f"lb.{layer}.{ours}"])
    finish(writer)


def vision(weights, path):
    writer = gguf.GGUFWriter(path, "clip")
    writer.add_name("photic chart reader, vision")
    writer.add_file_type(gguf.LlamaFileType.MOSTLY_F16)
    writer.add_bool("clip.has_vision_encoder", True)
    writer.add_string("clip.projector_type", "yasa2")
    writer.add_bool("clip.use_gelu", True)
    last = Shape.channels[-1]
    numbers = {
        "image_size": Shape.size, "patch_size": Shape.patch, "embedding_length": last,
        "feed_forward_length": 4 * last, "block_count": 0, "projection_dim": Shape.width,
        "attention.head_count": 1,
    }  # fmt: skip
    for name, number in numbers.items():
        writer.add_uint32("clip.vision." + name, number)
    writer.add_float32("clip.vision.attention.layer_norm_epsilon", Shape.vision_epsilon)
    writer.add_array("clip.vision.image_mean", [0.5, 0.5, 0.5])
    writer.add_array("clip.vision.image_std", [0.5, 0.5, 0.5])
    patches = weights["patch.weight"].reshape(Shape.stem, 3, Shape.patch, Shape.patch)
    put(writer, "v.patch_embd.weight", patches)
    put(writer, "v.patch_embd.bias", weights["patch.bias"])
    both = ("weight", "bias")
    for part in both:
        put(writer, f"v.patch_ln.{part}", weights[f"pln.{part}"])
    for stage, depth in enumerate(Shape.depths):
        for part in both:
            put(writer, f"v.stage.{stage}.down.ln.{part}", weights[f"dl.{stage}.{part}"])
            put(writer, f"v.stage.{stage}.down.conv.{part}", weights[f"dc.{stage}.{part}"])
        for block in range(depth):
            ours, theirs = f"st.{stage}.{block}", f"v.stage.{stage}.blk.{block}"
            for name in ("dw", "ln", "pw1", "pw2"):
                for part in both:
                    put(writer, f"{theirs}.{name}.{part}", weights[f"{ours}.{name}.{part}"])
            put(writer, f"{theirs}.grn.weight", weights[f"{ours}.gw"])
            put(writer, f"{theirs}.grn.bias", weights[f"{ours}.gb"])
    put(writer, "v.vision_pos_embed", weights["pos"], exact=True)
    for part in both:
        put(writer, f"mm.0.{part}", weights[f"m0.{part}"])
        put(writer, f"mm.2.{part}", weights[f"m2.{part}"])
    finish(writer)


if __name__ == "__main__":
    main(*sys.argv[1:3])
