"""Makes torch.json: what PyTorch computes for the methods of SDE's tables.

Weights, data and labels follow integer formulas that the Go test repeats; the
random labels follow Lethe's rule, SHA-256 of seed, stream, epoch and record
number, written out anew. Everything is float64; a batch holds a whole set.

    python golden_torch.py > torch.json
"""

import hashlib
import json
import struct

import torch
import torch.nn.functional as F

torch.set_default_dtype(torch.float64)
FEATURES, HIDDEN, CLASSES, RETAIN, FORGET, SEED, EPOCHS = 3, 4, 3, 10, 4, 100, 3


def weights(offset):
    shapes = [(HIDDEN, FEATURES), (HIDDEN,), (HIDDEN, HIDDEN), (HIDDEN,), (CLASSES, HIDDEN), (CLASSES,)]
    out = []
    for k, shape in enumerate(shapes):
        n = torch.Size(shape).numel()
        flat = [((i * i * 13 + i * 29 + k * 53 + offset) % 97 - 42) / 64 for i in range(n)]
        out.append(torch.tensor(flat).reshape(shape).requires_grad_())
    return out


def forward(p, x):
    h = torch.relu(F.linear(x, p[0], p[1]))
    h = torch.relu(F.linear(h, p[2], p[3]))
    return F.linear(h, p[4], p[5])


n = RETAIN + FORGET
X = torch.tensor([[((i * 31 + j * 17 + 5) % 61 - 30) / 16 for j in range(FEATURES)] for i in range(n)])
Y = torch.tensor([(i // 2 + i % 3) % CLASSES for i in range(n)])
XR, YR, XF, YF = X[:RETAIN], Y[:RETAIN], X[RETAIN:], Y[RETAIN:]


def random_labels(epoch):
    def label(record):
        text = struct.pack("<q", SEED) + b"random-label\0" + struct.pack("<QQ", epoch, record)
        return struct.unpack("<Q", hashlib.sha256(text).digest()[:8])[0] % CLASSES

    return torch.tensor([label(i) for i in range(RETAIN, n)])


def random_label(epoch, p):
    yield lambda: F.cross_entropy(forward(p, XF), random_labels(epoch))
    yield lambda: F.cross_entropy(forward(p, XR), YR)


def together(epoch, p):
    yield lambda: F.cross_entropy(forward(p, X), torch.cat([YR, random_labels(epoch)]))


def sparsity(epoch, p):
    gamma = 5e-4 * (1 - epoch / EPOCHS)
    yield lambda: F.cross_entropy(forward(p, XR), YR) + gamma * torch.cat([w.view(-1) for w in p]).abs().sum()


def fine_tuning(epoch, p):
    yield lambda: F.cross_entropy(forward(p, XR), YR)


def ascent(epoch, p):
    yield lambda: -F.cross_entropy(forward(p, XF), YF)


def saliency_mask(ratio=0.5):
    p = weights(7)
    F.cross_entropy(forward(p, XF), YF).backward()
    all = torch.cat([w.grad.abs().flatten() for w in p])
    ranks = torch.argsort(torch.argsort(-all, stable=True))
    flat = (ranks < int(len(all) * ratio)).double()
    return [m.reshape(w.shape) for m, w in zip(flat.split([w.numel() for w in p]), p)]


def fit(passes, lr, mask=None, restore=False):
    p = weights(7)
    optimiser = torch.optim.SGD(p, lr=lr, momentum=0.9, weight_decay=5e-4)
    losses = []
    for epoch in range(EPOCHS):
        steps = []
        for loss in passes(epoch, p):
            before = [w.detach().clone() for w in p]
            optimiser.zero_grad()
            value = loss()
            value.backward()
            if mask:
                for w, m in zip(p, mask):
                    w.grad *= m
            optimiser.step()
            if restore:
                with torch.no_grad():
                    for w, b, m in zip(p, before, mask):
                        w.copy_(torch.where(m > 0, w, b))
                        optimiser.state[w]["momentum_buffer"].mul_(m)
            steps.append(value.item())
        losses.append(sum(steps) / len(steps))
    return {"losses": losses, "weights": flat(p)}


def flat(p):
    return [[round(v, 9) for v in w.flatten().tolist()] for w in p]


def unroll(times):
    early, p = weights(23), weights(7)
    F.cross_entropy(forward(early, XF), YF, reduction="sum").backward()
    with torch.no_grad():
        return {"losses": [], "weights": flat([w + times * 0.01 / 32 * e.grad for w, e in zip(p, early)])}


MASK = saliency_mask()
print(json.dumps({"torch": torch.__version__, "methods": {
    "random-label": fit(random_label, 0.013),
    "random-label together": fit(together, 0.013),
    "salun": fit(random_label, 0.013, MASK),
    "salun restored": fit(random_label, 0.013, MASK, True),
    "l1-sparsity": fit(sparsity, 0.01),
    "fine-tuning": fit(fine_tuning, 0.01),
    "gradient-ascent": fit(ascent, 1e-4),
    "unroll": unroll(1),
    "unroll 50 times": unroll(50),
}}, indent=1))
