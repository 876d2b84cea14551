"""The model: a ConvNeXt-V2 encoder and a small llama, both in shapes that llama.cpp can run.

The encoder is llama.cpp's `yasa2` projector graph: 256×256 pixels become 8×8 image tokens. About two
million parameters. `guess` reads single image tokens; it is trained with the rest, because it teaches
the encoder fast, and is left out of the weights.
"""

import torch
import torch.nn.functional as F
from torch import nn


class Shape:
    size = 256  # pixels across
    patch = 8
    stem = 32
    channels = (96, 192)
    depths = (2, 3)
    image_tokens = 64
    width = 128
    layers = 4
    heads = 2
    hidden = 352
    vocabulary = 577
    epsilon = 1e-5
    vision_epsilon = 1e-6
    theta = 10000.0
    guesses = 49  # 32 letters, nothing, 16 colors


class LayerNorm(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(channels))
        self.bias = nn.Parameter(torch.zeros(channels))

    def forward(self, x):
        return F.layer_norm(x, (x.shape[-1],), self.weight, self.bias, Shape.vision_epsilon)


class ConvBlock(nn.Module):
    """A ConvNeXt-V2 block, channels last."""

    def __init__(self, channels):
        super().__init__()
        self.dw = nn.Conv2d(channels, channels, 7, padding=3, groups=channels)
        self.ln = LayerNorm(channels)
        self.pw1 = nn.Linear(channels, 4 * channels)
        self.pw2 = nn.Linear(4 * channels, channels)
        self.gw = nn.Parameter(torch.zeros(4 * channels))
        self.gb = nn.Parameter(torch.zeros(4 * channels))

    def forward(self, x):
        y = self.dw(x.permute(0, 3, 1, 2)).permute(0, 2, 3, 1)
        y = F.gelu(self.pw1(self.ln(y)))
        # Not below: the root of nothing has no slope.
        energy = y.float().pow(2).sum((1, 2)).clamp(min=1e-12).sqrt()
        share = energy / energy.mean(-1, keepdim=True).clamp(min=1e-6)
        y = y + self.gw * (y * share.to(y.dtype)[:, None, None]) + self.gb
        return x + self.pw2(y)


class RMSNorm(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.ones(Shape.width))

    def forward(self, x):
        return F.rms_norm(x, (x.shape[-1],), self.w.to(x.dtype), Shape.epsilon)


class Layer(nn.Module):
    """A llama layer."""

    def __init__(self):
        super().__init__()
        width, hidden = Shape.width, Shape.hidden
        self.n1, self.n2 = RMSNorm(), RMSNorm()
        self.q, self.k, self.v, self.o = (nn.Linear(width, width, bias=False) for _ in range(4))
        self.g, self.u = (nn.Linear(width, hidden, bias=False) for _ in range(2))
        self.dn = nn.Linear(hidden, width, bias=False)

    def forward(self, x, rotation):
        batch, length, width = x.shape
        y = self.n1(x)
        heads = lambda t: t.view(batch, length, Shape.heads, -1).transpose(1, 2)
        q, k = rotate(heads(self.q(y)), *rotation), rotate(heads(self.k(y)), *rotation)
        y = F.scaled_dot_product_attention(q, k, heads(self.v(y)), is_causal=True)
        x = x + self.o(y.transpose(1, 2).reshape(batch, length, width))
        y = self.n2(x)
        return x + self.dn(F.silu(self.g(y)) * self.u(y))


def rotate(x, cosine, sine, turn):
    # A product with a fixed matrix turns neighbors by a right angle faster than slices do.
    return x * cosine + (x @ turn) * sine


def rotation(length, like):
    """What turns queries and keys by their places: neighbors in pairs, as llama.cpp does."""
    half = Shape.width // Shape.heads
    frequency = Shape.theta ** (-torch.arange(0, half, 2, dtype=torch.float32) / half)
    angle = torch.arange(length, dtype=torch.float32)[:, None] * frequency.repeat_interleave(2)
    turn = torch.zeros(half, half)
    for even in range(0, half, 2):
        turn[even + 1, even], turn[even, even + 1] = -1, 1
    return tuple(part.to(like.dtype) for part in (angle.cos(), angle.sin(), turn))


class ChartReader(nn.Module):
    def __init__(self):
        super().__init__()
        self.patch = nn.Linear(3 * Shape.patch**2, Shape.stem)
        self.pln = LayerNorm(Shape.stem)
        self.dl, self.dc, self.st = nn.ModuleList(), nn.ModuleList(), nn.ModuleList()
        before = Shape.stem
        for channels, depth in zip(Shape.channels, Shape.depths):
            self.dl.append(LayerNorm(before))
            self.dc.append(nn.Conv2d(before, channels, 2, stride=2))
            self.st.append(nn.ModuleList(ConvBlock(channels) for _ in range(depth)))
            before = channels
        self.pos = nn.Parameter(torch.randn(Shape.image_tokens, before) * 0.02)
        self.aux = nn.Linear(before, Shape.guesses)
        self.m0 = nn.Linear(before, Shape.width * 2)
        self.m2 = nn.Linear(Shape.width * 2, Shape.width)
        self.emb = nn.Embedding(Shape.vocabulary, Shape.width)
        self.lb = nn.ModuleList(Layer() for _ in range(Shape.layers))
        self.norm = RMSNorm()
        for module in self.modules():
            if isinstance(module, nn.Linear):
                nn.init.trunc_normal_(module.weight, std=0.04)
            if isinstance(module, (nn.Linear, nn.Conv2d)) and module.bias is not None:
                nn.init.zeros_(module.bias)
        nn.init.normal_(self.emb.weight, std=0.02)

    def see(self, pixels):
        """What the encoder makes of pictures: features by image token."""
        count, side = pixels.shape[0], Shape.size // Shape.patch
        x = (pixels.float() / 127.5 - 1).to(self.patch.weight.dtype)
        x = x.view(count, side, Shape.patch, side, Shape.patch, 3)
        x = x.permute(0, 1, 3, 5, 2, 4).reshape(count, side, side, 3 * Shape.patch**2)
        x = self.pln(self.patch(x))
        for norm, down, blocks in zip(self.dl, self.dc, self.st):
            x = down(norm(x).permute(0, 3, 1, 2)).permute(0, 2, 3, 1)
            for block in blocks:
                x = block(x)
        return x.reshape(count, -1, x.shape[-1]) + self.pos

    def forward(self, ids, image_places, pixels):
        """The last hidden states, and the encoder's features (None without pictures)."""
        x, features = self.emb(ids), None
        if pixels is not None:
            features = self.see(pixels)
            tokens = self.m2(F.gelu(self.m0(features))).reshape(-1, Shape.width).to(x.dtype)
            x = x.masked_scatter(image_places.unsqueeze(-1).expand_as(x), tokens)
        turned = rotation(ids.shape[1], x)
        for layer in self.lb:
            x = layer(x, turned)
        return self.norm(x), features

    def words(self, hidden):
        return hidden @ self.emb.weight.T
