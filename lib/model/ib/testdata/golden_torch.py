"""Writes torch.json: what PyTorch makes of bottlenecks for images, in float64.

Weights and pixels are sines of the squares of their places, so that the test can make the same
ones. Every network runs once in evaluation mode and once in training mode, with
given draws, of whose loss, cross-entropy + 0.5 KLmean, the gradient is taken.

    python golden_torch.py > torch.json
"""

import json

import torch
from torch import nn
from torch.nn import functional as F

torch.set_default_dtype(torch.float64)
torch.set_num_threads(1)


class Shortcut(nn.Module):
    def __init__(s, i, o, stride):
        super().__init__()
        s.conv, s.bn = nn.Conv2d(i, o, 1, stride, bias=False), nn.BatchNorm2d(o)

    def forward(s, x):
        return s.bn(s.conv(x))


class Block(nn.Module):
    def __init__(s, i, o, stride, size):
        super().__init__()
        s.conv1, s.bn1 = nn.Conv2d(i, o, 3, stride, 1, bias=False), nn.BatchNorm2d(o)
        s.conv2, s.bn2 = nn.Conv2d(o, o, size, 1, size // 2, bias=False), nn.BatchNorm2d(o)
        s.shortcut = Shortcut(i, o, stride) if stride != 1 or i != o else nn.Identity()

    def forward(s, x):
        return F.relu(s.bn2(s.conv2(F.relu(s.bn1(s.conv1(x))))) + s.shortcut(x))


class ResNet(nn.Module):
    def __init__(s, channels, width, standard, out):
        super().__init__()
        s.channels, s.standard = channels, standard
        size, c = 3 if standard else 1, width
        s.conv1, s.bn1 = nn.Conv2d(channels, c, size, 1, size // 2, bias=False), nn.BatchNorm2d(c)
        for i in range(4):
            o = width << i
            setattr(s, f"layer{i+1}", nn.Sequential(Block(c, o, 1 if i == 0 else 2, size), Block(o, o, 1, size)))
            c = o
        s.head = nn.Linear(c, out)

    def forward(s, x):
        x = s.bn1(s.conv1(x))
        if s.standard:
            x = F.relu(x)
        for i in range(4):
            x = getattr(s, f"layer{i+1}")(x)
        return s.head(x.mean((2, 3)))

    def ours(s):
        return [(k, v) for k, v in s.state_dict(keep_vars=True).items() if not k.endswith("num_batches_tracked")]


class ViT(nn.Module):
    def __init__(s, channels, side, patch, width, heads, hidden, blocks, out):
        super().__init__()
        s.channels = channels
        s.cut = nn.Conv2d(channels, width, patch, patch)
        s.places = nn.Parameter(torch.zeros((side // patch) ** 2 + 1, width))
        s.blocks = nn.ModuleList(
            nn.TransformerEncoderLayer(width, heads, hidden, dropout=0.0, activation="relu", batch_first=True, norm_first=True)
            for _ in range(blocks)
        )
        s.norm, s.head = nn.LayerNorm(width), nn.Linear(width, out)
        for b in s.blocks:  # a bias of keys changes nothing, so that ours have none
            b.self_attn.in_proj_bias.data[width : 2 * width] = 0.7

    def forward(s, x):
        h = s.cut(x).flatten(2).transpose(1, 2)
        h = torch.cat([h, torch.zeros_like(h[:, :1])], 1) + s.places
        for b in s.blocks:
            h = b(h)
        return s.head(s.norm(h[:, -1]))

    def ours(s):
        """The tensors in our order; those of queries, keys and values are parts of PyTorch's."""
        out = [("patches.weight", s.cut.weight), ("patches.bias", s.cut.bias), ("places", s.places)]
        for b in s.blocks:
            a, d = b.self_attn, s.places.shape[1]
            out += [("norm.weight", b.norm1.weight), ("norm.bias", b.norm1.bias)]
            out += [("query.weight", (a.in_proj_weight, 0, d)), ("query.bias", (a.in_proj_bias, 0, d)), ("key.weight", (a.in_proj_weight, d, 2 * d))]
            out += [("value.weight", (a.in_proj_weight, 2 * d, 3 * d)), ("value.bias", (a.in_proj_bias, 2 * d, 3 * d))]
            out += [("out.weight", a.out_proj.weight), ("out.bias", a.out_proj.bias)]
            out += [("norm.weight", b.norm2.weight), ("norm.bias", b.norm2.bias)]
            out += [("up.weight", b.linear1.weight), ("up.bias", b.linear1.bias)]
            out += [("down.weight", b.linear2.weight), ("down.bias", b.linear2.bias)]
        out += [("norm.weight", s.norm.weight), ("norm.bias", s.norm.bias)]
        return out + [("head.weight", s.head.weight), ("head.bias", s.head.bias)]


def wave(shape, phase, pace):
    """Sines of the places' squares: those of the places would make kernels of rank 2."""
    k = torch.arange(torch.Size(shape).numel())
    return torch.sin(pace * (k * k) + phase).reshape(shape)


def value(of, k, v):
    w = wave(v.shape, of, 0.37)
    if v.dim() > 1:
        w = w / v[0].numel() ** 0.5
    elif k.endswith(".running_var") or k.endswith(".weight"):
        w = 1 + 0.3 * w
    else:
        w = 0.2 * w
    return w.float().double()


def plain(v):
    return [round(x, 8) for x in v.flatten().tolist()]


def some(v):
    v = v.flatten()
    return plain(v[:: max(1, v.numel() // 12)])


def part(v, of):
    return of if not isinstance(v, tuple) else of[v[1] : v[2]]


def whole(v):
    return v[0] if isinstance(v, tuple) else v


def run(front, back, side, latent, code):
    tensors = front.ours() + back.ours()
    for i, (k, v) in enumerate(tensors):
        to = part(v, whole(v).data)
        flat = to.flatten(1) if to.dim() > 2 else to  # a patch's kernel is a matrix for us, of the same fan-in
        to.copy_(value(i, k, flat).reshape(to.shape))
    rows, classes = 16, 4
    x = wave((rows, front.channels, side, side), 0.5, 0.011).float().double()
    eps, y = wave((rows, latent), 0.2, 2.1).float().double(), torch.arange(rows) * 3 % classes

    def forward(eps):
        mu, r = front(x).split(latent, 1)
        sigma = F.softplus(r)
        z = mu + sigma * eps
        return mu, 2 * sigma.log(), back(z.reshape(rows, back.channels, code, code))

    out = {}
    front.eval(), back.eval()
    with torch.no_grad():
        for name, v in zip(("mean", "logvar", "logits"), forward(torch.zeros(rows, latent))):
            out[name] = some(v)
    front.train(), back.train()
    mu, logvar, logits = forward(eps)
    loss = F.cross_entropy(logits, y) + 0.5 * (-0.5 * (1 + logvar - mu**2 - logvar.exp())).mean()
    loss.backward()
    out["loss"], out["drawn"], out["tensors"] = loss.item(), plain(logits), []
    for k, v in tensors:
        t = whole(v)
        flat = part(v, t if t.grad is None else t.grad).flatten()
        out["tensors"].append(some(flat))
    return out


print(json.dumps({
    "torch": torch.__version__,
    "program": run(ResNet(3, 4, False, 54), ResNet(3, 4, False, 4), 16, 27, 3),
    "standard": run(ResNet(3, 4, True, 54), ResNet(3, 4, True, 4), 16, 27, 3),
    "hybrid": run(ResNet(1, 4, False, 18), ViT(1, 3, 1, 8, 2, 12, 2, 4), 7, 9, 3),
    "transformers": run(ViT(2, 6, 3, 8, 2, 12, 3, 16), ViT(2, 2, 2, 8, 4, 6, 1, 4), 6, 8, 2),
}))
