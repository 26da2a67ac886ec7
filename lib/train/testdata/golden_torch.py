"""Makes torch.json: what PyTorch computes for the objectives of the methods.

Weights, data and labels follow integer formulas that the Go test repeats, so
that no random numbers have to travel. Everything is float64, dropout is off.

    python golden_torch.py > torch.json
"""

import json

import torch
import torch.nn.functional as F

torch.set_default_dtype(torch.float64)
FEATURES, HIDDEN, CLASSES, RETAIN, FORGET = 3, 4, 2, 10, 4


def weights(offset):
    shapes = [(HIDDEN, FEATURES), (HIDDEN,), (HIDDEN, HIDDEN), (HIDDEN,), (CLASSES, HIDDEN), (CLASSES,)]
    out = []
    for k, shape in enumerate(shapes):
        n = torch.Size(shape).numel()
        flat = [((i * i * 13 + i * 29 + k * 53 + offset) % 97 - 42) / 64 for i in range(n)]
        out.append(torch.tensor(flat).reshape(shape))
    return out


def forward(p, x):
    h = torch.relu(F.linear(x, p[0], p[1]))
    h = torch.relu(F.linear(h, p[2], p[3]))
    return F.linear(h, p[4], p[5])


n = RETAIN + FORGET
X = torch.tensor([[((i * 31 + j * 17 + 5) % 61 - 30) / 16 for j in range(FEATURES)] for i in range(n)])
Y = torch.tensor([(i // 2 + i % 3) % 2 for i in range(n)])
XR, YR, XF, YF = X[:RETAIN], Y[:RETAIN], X[RETAIN:], Y[RETAIN:]
TEACHER = weights(40)


def kl(student, teacher, t=2.0):
    return F.kl_div(F.log_softmax(student / t, 1), F.softmax(teacher / t, 1), reduction="batchmean") * t * t


def taught(p, x):
    return kl(forward(p, x), forward(TEACHER, x))


OBJECTIVES = {
    "cross-entropy": (1e-3, lambda p: F.cross_entropy(forward(p, XR), YR)),
    "fine-tuning": (5e-4, lambda p: F.cross_entropy(forward(p, XR), YR)),
    "gradient-ascent": (5e-4, lambda p: -F.cross_entropy(forward(p, XF), YF)),
    "neggrad": (5e-4, lambda p: 0.6 * F.cross_entropy(forward(p, XR), YR) - 0.4 * F.cross_entropy(forward(p, XF), YF)),
    "scrub": (5e-4, lambda p: 0.6 * taught(p, XR) - 0.4 * taught(p, XF)),
    "bad-teacher": (5e-4, lambda p: 0.6 * F.cross_entropy(forward(p, XR), YR) + 0.4 * taught(p, XR) + taught(p, XF)),
}


def fit(lr, objective, steps=10):
    p = [w.clone().requires_grad_() for w in weights(7)]
    optimiser = torch.optim.Adam(p, lr=lr)
    losses = []
    for _ in range(steps):
        optimiser.zero_grad()
        loss = objective(p)
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
    return {"lr": lr, "losses": losses, "weights": [[round(v, 9) for v in w.flatten().tolist()] for w in p]}


print(json.dumps({"torch": torch.__version__, "fits": {k: fit(*v) for k, v in OBJECTIVES.items()}}, indent=1))
