"""Weights from a pair of GGUF files, to go on training where they were left: the reverse of export.py.

The encoder's guesses are not in them; they are learned again within minutes.
"""

import gguf
import torch

from export import LAYER_NAMES
from model import ChartReader, Shape


def load(prefix):
    found = {}
    for path in (prefix + ".gguf", prefix + "-mmproj.gguf"):
        for tensor in gguf.GGUFReader(path).tensors:
            found[tensor.name] = torch.from_numpy(tensor.data.astype("float32").copy())
    names = {"emb.weight": "token_embd.weight", "norm.w": "output_norm.weight", "pos": "v.vision_pos_embed"}
    both = ("weight", "bias")
    for layer in range(Shape.layers):
        for ours, theirs in LAYER_NAMES.items():
            names[f"lb.{layer}.{ours}"] = f"blk.{layer}.{theirs}.weight"
    for part in both:
        names |= {f"patch.{part}": f"v.patch_embd.{part}", f"pln.{part}": f"v.patch_ln.{part}"}
        names |= {f"m0.{part}": f"mm.0.{part}", f"m2.{part}": f"mm.2.{part}"}
        for stage, depth in enumerate(Shape.depths):
            names[f"dl.{stage}.{part}"] = f"v.stage.{stage}.down.ln.{part}"
            names[f"dc.{stage}.{part}"] = f"v.stage.{stage}.down.conv.{part}"
            for block in range(depth):
                for name in ("dw", "ln", "pw1", "pw2"):
                    names[f"st.{stage}.{block}.{name}.{part}"] = f"v.stage.{stage}.blk.{block}.{name}.{part}"
                names[f"st.{stage}.{block}.g{part[0]}"] = f"v.stage.{stage}.blk.{block}.grn.{part}"
    state = ChartReader().state_dict()
    for ours, theirs in names.items():
        state[ours] = found[theirs].reshape(state[ours].shape)
    return state
