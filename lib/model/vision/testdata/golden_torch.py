"""Writes torch.json: what PyTorch makes of the three networks.

Weights are sines of their place, pixels of its square, so that the test can make the
same ones. Every network runs one forward pass in evaluation mode, then two steps of
SGD with momentum and weight decay, then evaluation mode again.

    python golden_torch.py > torch.json
"""

import json

import torch
from torch import nn
from torch.nn import functional as F


class Small(nn.Module):
    def __init__(s, width, hidden, side, norm):
        super().__init__()
        s.norm, c = norm, 1
        for i in range(3):
            setattr(s, f"conv{i+1}", nn.Conv2d(c, width << i, 3, padding=1, bias=not norm))
            c = width << i
            if norm:
                setattr(s, f"bn{i+1}", nn.BatchNorm2d(c))
        s.hidden = nn.Linear(c * (side // 8) ** 2, hidden)
        s.head = nn.Linear(hidden, 10)

    def forward(s, x):
        for i in range(3):
            x = getattr(s, f"conv{i+1}")(x)
            if s.norm:
                x = getattr(s, f"bn{i+1}")(x)
            x = F.max_pool2d(F.relu(x), 2)
        return s.head(F.relu(s.hidden(x.flatten(1))))


class All(nn.Module):
    def __init__(s, width, plain):
        super().__init__()
        s.plain, c = plain, 3
        for i, (w, k, st) in enumerate([(1, 3, 1), (1, 3, 1), (1, 3, 2), (2, 3, 1), (2, 3, 1), (2, 3, 2), (2, 3, 1), (2, 1, 1)]):
            setattr(s, f"conv{i+1}", nn.Conv2d(c, w * width, k, st, k // 2, bias=plain))
            c = w * width
            if not plain:
                setattr(s, f"bn{i+1}", nn.BatchNorm2d(c))
        s.head = nn.Linear(c, 10)

    def forward(s, x):
        for i in range(8):
            x = getattr(s, f"conv{i+1}")(x)
            if not s.plain:
                x = getattr(s, f"bn{i+1}")(x)
            x = F.relu(x)
        return s.head(x.mean((2, 3)))


class Shortcut(nn.Module):
    def __init__(s, i, o, stride):
        super().__init__()
        s.conv, s.bn = nn.Conv2d(i, o, 1, stride, bias=False), nn.BatchNorm2d(o)

    def forward(s, x):
        return s.bn(s.conv(x))


class Block(nn.Module):
    def __init__(s, i, o, stride):
        super().__init__()
        s.conv1, s.bn1 = nn.Conv2d(i, o, 3, stride, 1, bias=False), nn.BatchNorm2d(o)
        s.conv2, s.bn2 = nn.Conv2d(o, o, 3, 1, 1, bias=False), nn.BatchNorm2d(o)
        s.shortcut = Shortcut(i, o, stride) if stride != 1 or i != o else nn.Identity()

    def forward(s, x):
        return F.relu(s.bn2(s.conv2(F.relu(s.bn1(s.conv1(x))))) + s.shortcut(x))


class ResNet(nn.Module):
    def __init__(s, width):
        super().__init__()
        s.conv1, s.bn1, c = nn.Conv2d(3, width, 3, 1, 1, bias=False), nn.BatchNorm2d(width), width
        for i in range(4):
            o = width << i
            setattr(s, f"layer{i+1}", nn.Sequential(Block(c, o, 1 if i == 0 else 2), Block(o, o, 1)))
            c = o
        s.head = nn.Linear(c, 10)

    def forward(s, x):
        x = F.relu(s.bn1(s.conv1(x)))
        for i in range(4):
            x = getattr(s, f"layer{i+1}")(x)
        return s.head(x.mean((2, 3)))


def wave(shape, phase, step):
    n = 1
    for d in shape:
        n *= d
    return torch.sin(step * torch.arange(n, dtype=torch.float64) + phase).reshape(shape)


def run(name, model, channels, side, rows=20):
    state = {k: v for k, v in model.state_dict().items() if not k.endswith("num_batches_tracked")}
    for i, (k, v) in enumerate(state.items()):
        w = wave(v.shape, i, 1.7)
        if v.dim() > 1:
            w = w / v[0].numel() ** 0.5
        elif k.endswith(".running_var") or (k.endswith(".weight") and "bn" in k):
            w = 1 + 0.3 * w
        else:
            w = 0.2 * w
        v.copy_(w.float())
    # Pixels for which the last bit decides nothing: with sines of the place itself an
    # error of 1e-7 moves ResNet's batch statistics, and with them its logits by 1e-3.
    place = torch.arange(rows * channels * side * side, dtype=torch.float64)
    x = torch.sin(0.008 * place * place + 0.5).reshape(rows, channels, side, side).float()
    y = torch.arange(rows) * 7 % 10
    opt = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9, weight_decay=5e-4)
    out = {"before": [], "losses": [], "tensors": {}, "after": []}
    model.eval()
    with torch.no_grad():
        out["before"] = model(x).flatten().tolist()
    model.train()
    for _ in range(2):
        opt.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        opt.step()
        out["losses"].append(loss.item())
    for k, v in state.items():
        flat = v.flatten()
        out["tensors"][k] = flat[:: max(1, flat.numel() // 12)].tolist()
    model.eval()
    with torch.no_grad():
        out["after"] = model(x).flatten().tolist()
    return out


torch.set_num_threads(1)
print(json.dumps({
    "torch": torch.__version__,
    "small": run("small", Small(4, 9, 16, False), 1, 16),
    "small norm": run("small norm", Small(4, 9, 16, True), 1, 16),
    "all": run("all", All(6, False), 3, 16),
    "all plain": run("all plain", All(6, True), 3, 16),
    "resnet": run("resnet", ResNet(4), 3, 16),
}))
