"""Trains the chart reader.

    python train.py MINUTES --out CHECKPOINT [--start CHECKPOINT] [--rate R] [--threads N] [--only look|copy]

`--only look` trains the encoder alone, by what stands at each image token; `--only copy` trains
copying alone; without it the whole model learns from talks. The learning rate falls along a cosine
over MINUTES by the clock, so that a busy machine gets fewer steps and not a torn schedule. --start takes a
checkpoint, or the prefix of exported weights. README.md has the recipe.
"""

import argparse
import copy
import math
import pathlib
import random
import time

import numpy as np
import torch
import torch.nn.functional as F
from tokenizers import Tokenizer

import charts
import talks
import weights
from model import ChartReader, Shape

HERE = pathlib.Path(__file__).parent
TOKENIZER = Tokenizer.from_file(str(HERE / "tokenizer.json"))
# Talks are cut into batches of so many tokens at most, padding included.
TOKENS_AT_ONCE = 7500
END, OPEN, CLOSE = (TOKENIZER.token_to_id(t) for t in ("<|im_end|>", "<image>", "</image>"))


def encoded(text):
    return TOKENIZER.encode(text).ids if text else []


def tokens(prompt):
    """The ids of a prompt, and where image tokens stand."""
    ids, places = [], []
    for index, text in enumerate(prompt.split(talks.PICTURE)):
        if index:
            ids += [OPEN] + [0] * Shape.image_tokens + [CLOSE]
            places += [False] + [True] * Shape.image_tokens + [False]
        more = encoded(text)
        ids += more
        places += [False] * len(more)
    return ids, places


class Talks(torch.utils.data.IterableDataset):
    """Batches without end: talks until there are enough pictures among them."""

    def __init__(self, batch, seed, only):
        self.batch, self.seed, self.only = batch, seed, only

    def __iter__(self):
        worker = torch.utils.data.get_worker_info()
        random.seed(self.seed * 100 + (worker.id if worker else 0))
        np.random.seed(random.randrange(2**31))
        while True:
            if self.only == "look":
                yield self.pictures()
            elif self.only == "copy":
                yield stacked([repeated(20) for _ in range(self.batch * 3 // 2)])
            else:
                yield from self.talks()

    def pictures(self):
        seen = [charts.code() if random.random() < 0.65 else talks.some_chart() for _ in range(self.batch)]
        return pixels(seen), guesses(seen)

    def talks(self):
        """Talks of like length go together: what pads the shorter ones is computed for nothing."""
        pool, room = [], 8 * self.batch
        while room > 0:
            talk = talks.some()
            ids, places = tokens(talk.prompt)
            pool.append((ids, places, encoded(talk.answer) + [END], talk.charts))
            room -= max(len(talk.charts), 0.4)
        pool.sort(key=lambda row: len(row[0]) + len(row[2]))
        batches = []
        while pool:
            count = images = 0
            while count < len(pool) and images < self.batch and (count + 1) * len(pool[count][0]) < TOKENS_AT_ONCE:
                images += max(len(pool[count][3]), 0.4)
                count += 1
            count = max(count, 1)
            batches.append(pool[:count])
            pool = pool[count:]
        random.shuffle(batches)
        return [stacked(batch) for batch in batches]


def repeated(length):
    start, word, end, times = talks.repeated(length)
    # Tokens are joined by hand: a word must be the same tokens every time.
    once = encoded(word) + encoded(end)
    start = encoded(start) + once
    return start, [False] * len(start), once * (times - 1), []


def stacked(rows):
    length = max(len(ids) + len(answer) - 1 for ids, _, answer, _ in rows)
    ids = torch.zeros(len(rows), length, dtype=torch.long)
    places = torch.zeros(len(rows), length, dtype=torch.bool)
    row_of, place_of, wanted, weight = [], [], [], []
    for row, (start, image_places, answer, _) in enumerate(rows):
        whole = start + answer[:-1]
        ids[row, : len(whole)] = torch.tensor(whole)
        places[row, : len(image_places)] = torch.tensor(image_places)
        row_of += [row] * len(answer)
        place_of += range(len(start) - 1, len(whole))
        wanted += answer
        # Long answers count for more than short ones, but not by their length.
        weight += [len(answer) ** -0.5] * len(answer)
    seen = [chart for *_, charts in rows for chart in charts]
    indices = torch.tensor(row_of), torch.tensor(place_of)
    return ids, places, pixels(seen), indices, torch.tensor(wanted), torch.tensor(weight), guesses(seen)


def pixels(seen):
    return torch.from_numpy(np.stack([chart.pixels for chart in seen])) if seen else None


def guesses(seen):
    return torch.from_numpy(np.stack([chart.guesses for chart in seen])).reshape(-1) if seen else None


def guess_loss(model, features, wanted):
    """How well single image tokens tell what stands there; letters, blanks and colors count alike."""
    scores = model.aux(features.reshape(-1, features.shape[-1])).float()
    each = F.cross_entropy(scores, wanted.clamp(min=0), reduction="none")
    total = 0
    nothing = charts.NOTHING
    for mask, share in (((wanted >= 0) & (wanted < nothing), 1.0), (wanted == nothing, 0.4), (wanted > nothing, 0.6)):
        if mask.any():
            total = total + share * each[mask].mean()
    return total


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("minutes", type=float)
    parser.add_argument("--out", required=True)
    parser.add_argument("--start")
    parser.add_argument("--rate", type=float, default=1.5e-3)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", choices=["look", "copy"])
    options = parser.parse_args()

    torch.set_num_threads(options.threads)
    torch.manual_seed(options.seed)
    model = ChartReader()
    if options.start:
        known = torch.load(options.start)["model"] if options.start.endswith(".pt") else weights.load(options.start)
        model.load_state_dict(known)
    matrices = [p for p in model.parameters() if p.dim() > 1]
    vectors = [p for p in model.parameters() if p.dim() <= 1]
    groups = [{"params": matrices, "weight_decay": 0.05}, {"params": vectors, "weight_decay": 0.0}]
    optimizer = torch.optim.AdamW(groups, betas=(0.9, 0.98))
    # Weights are kept in 32 bits; a copy in 16 does the work.
    half = copy.deepcopy(model).bfloat16()
    pairs = list(zip(model.parameters(), half.parameters()))
    batches = iter(torch.utils.data.DataLoader(Talks(options.batch, options.seed, options.only), batch_size=None, num_workers=1, prefetch_factor=12))

    begun, history, step, gone = time.time(), [], 0, 0.0
    while gone < 1:
        gone = (time.time() - begun) / 60 / options.minutes
        warm, fallen = min(1, (step + 1) / 150), 0.5 * (1 + math.cos(math.pi * min(gone, 1)))
        for group in optimizer.param_groups:
            group["lr"] = options.rate * warm * (0.97 * fallen + 0.03)
        with torch.no_grad():
            for exact, short in pairs:
                short.copy_(exact)
        if options.only == "look":
            seen, wanted = next(batches)
            loss = guess_loss(half, half.see(seen), wanted)
            history.append((0, loss.item(), 0))
        else:
            ids, places, seen, indices, wanted, weight, guessed = next(batches)
            hidden, features = half(ids, places, seen)
            scores = half.words(hidden[tuple(indices)]).float()
            said = (F.cross_entropy(scores, wanted, reduction="none") * weight).sum() / weight.sum()
            looked = guess_loss(half, features, guessed) if features is not None else said * 0
            loss = said + 0.5 * looked
            right = (scores.argmax(-1) == wanted).float().mean()
            history.append((said.item(), float(looked.detach()), right.item()))
        loss.backward()
        for exact, short in pairs:
            exact.grad = None if short.grad is None else short.grad.float()
            short.grad = None
        if torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0).isfinite():
            optimizer.step()
        step += 1
        if step % 50 == 0:
            said, looked, right = np.mean(history[-50:], 0)
            print(f"{step} said {said:.4f} looked {looked:.4f} right {right:.4f} {time.time() - begun:.0f}s", flush=True)
        if step % 200 == 0 or gone >= 1:
            torch.save({"model": model.state_dict(), "step": step}, options.out)


if __name__ == "__main__":
    main()
