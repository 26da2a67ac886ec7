"""Writes torch.json: the U-Net's output, encoding and gradients by PyTorch.

Run with torch 2.15.0:  python golden_torch.py > torch.json
"""
import json
import math

import torch
import torch.nn.functional as F

torch.set_default_dtype(torch.float64)
SIDE, WIDTH, LEVELS, ROWS = 8, 8, 3, 5


def wave(n, phase, step):
    return torch.sin(step * torch.arange(n, dtype=torch.float64) + phase)


names, shapes = [], []


def add(name, *shape):
    names.append(name)
    shapes.append(shape)


def conv(name, i, o, k):
    add(name + ".weight", o, i, k, k)
    add(name + ".bias", o)


def dense(name, i, o):
    add(name + ".weight", o, i)
    add(name + ".bias", o)


def norm(name, c):
    add(name + ".weight", c)
    add(name + ".bias", c)


def block(name, i, o, e):
    norm(name + ".norm1", i)
    conv(name + ".conv1", i, o, 3)
    dense(name + ".noise", e, o)
    norm(name + ".norm2", o)
    conv(name + ".conv2", o, o, 3)
    if i != o:
        conv(name + ".skip", i, o, 1)


E = 4 * WIDTH
dense("noise1", WIDTH, E)
dense("noise2", E, E)
conv("in", 1, WIDTH, 3)
c = WIDTH
for l in range(LEVELS):
    block(f"encoder{l + 1}", c, WIDTH << l, E)
    c = WIDTH << l
block("middle", c, c, E)
for l in range(LEVELS - 2, -1, -1):
    block(f"decoder{l + 1}", c + (WIDTH << l), WIDTH << l, E)
    c = WIDTH << l
norm("out.norm", c)
conv("out", c, 1, 3)

P = {}
for i, (name, shape) in enumerate(zip(names, shapes)):
    n = math.prod(shape)
    w = wave(n, float(i), 1.7)
    if len(shape) > 1:
        w = w / math.sqrt(n // shape[0])
    elif "norm" in name and name.endswith("weight"):
        w = 1 + 0.3 * w
    else:
        w = 0.2 * w
    P[name] = w.to(torch.float32).to(torch.float64).reshape(shape).requires_grad_()


def lin(name, x):
    return F.linear(x, P[name + ".weight"], P[name + ".bias"])


def cnv(name, x, pad):
    return F.conv2d(x, P[name + ".weight"], P[name + ".bias"], padding=pad)


def nrm(name, x):
    return F.group_norm(x, x.shape[1] // 4, P[name + ".weight"], P[name + ".bias"], eps=1e-5)


def blk(name, x, e):
    h = cnv(name + ".conv1", F.silu(nrm(name + ".norm1", x)), 1)
    h = h + lin(name + ".noise", e)[:, :, None, None]
    h = cnv(name + ".conv2", F.silu(nrm(name + ".norm2", h)), 1)
    return h + (cnv(name + ".skip", x, 0) if name + ".skip.weight" in P else x)


x = wave(ROWS * (SIDE * SIDE + 1), 0.5, 0.37).to(torch.float32).to(torch.float64).reshape(ROWS, -1)
noise, image = x[:, -1:], x[:, :-1].reshape(ROWS, 1, SIDE, SIDE)
k = WIDTH // 2
freq = torch.tensor([16 ** (i / (k - 1)) for i in range(k)])
e = torch.cat([torch.cos(noise * freq), torch.sin(noise * freq)], 1)
e = F.silu(lin("noise2", F.silu(lin("noise1", e))))
h = cnv("in", image, 1)
levels = []
for l in range(LEVELS):
    if l > 0:
        h = F.avg_pool2d(h, 2)
    h = blk(f"encoder{l + 1}", h, e)
    levels.append(h)
encoded = h.reshape(ROWS, -1)
h = blk("middle", h, e)
for l in range(LEVELS - 2, -1, -1):
    h = torch.cat([F.interpolate(h, scale_factor=2, mode="nearest"), levels[l]], 1)
    h = blk(f"decoder{l + 1}", h, e)
out = cnv("out", F.silu(nrm("out.norm", h)), 1).reshape(ROWS, -1)
v = wave(out.numel(), 0.1, 0.73).reshape(out.shape)
(out * v).sum().backward()

result = {
    "tensors": names,
    "output": out.detach().flatten().tolist()[::7],
    "encoded": encoded.detach().flatten().tolist()[::7],
    "gradients": {n: P[n].grad.flatten().tolist()[:: max(1, P[n].numel() // 8)] for n in names},
}
round_ = lambda v: float(f"{v:.9g}")
for key in ("output", "encoded"):
    result[key] = [round_(v) for v in result[key]]
result["gradients"] = {n: [round_(v) for v in g] for n, g in result["gradients"].items()}
print(json.dumps(result))
