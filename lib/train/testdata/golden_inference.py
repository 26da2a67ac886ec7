"""Makes inference.json: gradients that PyTorch computes in evaluation mode.

A convolutional network with batch normalisation, weights and running statistics
by integer formulas that the Go test repeats, float64. The sum is over batches
of 4 of 10 images, of which the last has 2.

    python golden_inference.py > inference.json
"""

import json

import torch
import torch.nn.functional as F

torch.set_default_dtype(torch.float64)
SIDE, WIDTH, HIDDEN, CLASSES, RECORDS, BATCH = 8, 2, 4, 3, 10, 4

names, shapes, c = [], [], 1
for i in range(3):
    out = WIDTH << i
    shapes += [(out, c, 3, 3), (out,), (out,), (out,), (out,)]
    names += [f"conv{i + 1}.weight"] + [f"bn{i + 1}.{s}" for s in ("weight", "bias", "running_mean", "running_var")]
    c = out
shapes += [(HIDDEN, c), (HIDDEN,), (CLASSES, HIDDEN), (CLASSES,)]
names += ["hidden.weight", "hidden.bias", "head.weight", "head.bias"]

p = {}
for k, (name, shape) in enumerate(zip(names, shapes)):
    n = torch.Size(shape).numel()
    flat = [((i * i * 13 + i * 29 + k * 53 + 7) % 97 - 42) / 64 for i in range(n)]
    w = torch.tensor(flat).reshape(shape)
    p[name] = w.abs() + 0.25 if name.endswith("running_var") else w.requires_grad_("running" not in name)

X = torch.tensor([[((i * 31 + j * 17 + 5) % 61 - 30) / 16 for j in range(SIDE * SIDE)] for i in range(RECORDS)])
Y = torch.tensor([(i // 2 + i % 3) % CLASSES for i in range(RECORDS)])


def forward(x):
    h = x.reshape(-1, 1, SIDE, SIDE)
    for i in (1, 2, 3):
        h = F.conv2d(h, p[f"conv{i}.weight"], padding=1)
        bn = [p[f"bn{i}.{s}"] for s in ("running_mean", "running_var", "weight", "bias")]
        h = F.relu(F.max_pool2d(F.batch_norm(h, *bn, training=False), 2))
    h = F.relu(F.linear(h.flatten(1), p["hidden.weight"], p["hidden.bias"]))
    return F.linear(h, p["head.weight"], p["head.bias"])


for first in range(0, RECORDS, BATCH):
    F.cross_entropy(forward(X[first:first + BATCH]), Y[first:first + BATCH]).backward()
grads = {k: [round(v, 12) for v in w.grad.flatten().tolist()] for k, w in p.items() if w.requires_grad}
print(json.dumps({"torch": torch.__version__, "grads": grads}, indent=1))
