"""Makes critics.json: what PyTorch makes of the adversarial methods of single cells.

A variational autoencoder of 6 genes whose posteriors are too sharp for a draw to
matter, 4 cells to forget, 36 to retain, 20 held out, three critics. Weights and
cells follow integer formulas that the Go test repeats. Everything is float64; a
batch holds a whole set, so that an epoch is a step.

    python critics_torch.py > critics.json
"""

import json

import torch
import torch.nn.functional as F

torch.set_default_dtype(torch.float64)
GENES, LATENT, HIDDEN, CRITIC = 6, 2, 7, 6
SEEN = [3 + 2 * LATENT + 2, 3 + 2 * LATENT, 3]  # features of the three critics


def place(n, k):
    return torch.tensor([((i * i * 13 + i * 29 + k * 53 + 7) % 97 - 42) / 64 for i in range(n)])


def cells(n, offset, shift):
    flat = [((i * i * 7 + i * 23 + offset) % 89) / 32 + (shift if i % GENES % 2 else 0) for i in range(n * GENES)]
    return torch.tensor(flat).reshape(n, GENES)


FORGET, RETAIN, HELD_OUT = cells(4, 3, 2.0), cells(36, 11, 0.0), cells(20, 29, 0.25)


def shapes(spectral):
    vae = {"encoder.0.weight": (HIDDEN, GENES), "encoder.0.bias": (HIDDEN,), "encoder.0.norm.weight": (HIDDEN,), "encoder.0.norm.bias": (HIDDEN,),
           "mean.weight": (LATENT, HIDDEN), "mean.bias": (LATENT,), "log_variance.weight": (LATENT, HIDDEN), "log_variance.bias": (LATENT,),
           "decoder.0.weight": (HIDDEN, LATENT), "decoder.0.bias": (HIDDEN,), "decoder.0.norm.weight": (HIDDEN,), "decoder.0.norm.bias": (HIDDEN,),
           "proportion.weight": (GENES, HIDDEN), "proportion.bias": (GENES,), "dispersion.weight": (GENES, HIDDEN), "dispersion.bias": (GENES,)}
    out = dict(vae)
    out["view.mean"], out["view.factor"] = (SEEN[0],), (SEEN[0],)
    for k, n in enumerate(SEEN):
        for layer, (rows, cols) in enumerate([(CRITIC, n), (CRITIC, CRITIC), (1, CRITIC)]):
            name = f"critic{k + 1}.layer{layer + 1}."
            out[name + "weight"], out[name + "bias"] = (rows, cols), (rows,)
            if spectral:
                out[name + "weight_u"], out[name + "weight_v"] = (rows,), (cols,)
    return list(vae), out


def start(spectral):
    own, all_shapes = shapes(spectral)
    p = {}
    for k, (name, shape) in enumerate(all_shapes.items()):
        v = place(torch.Size(shape).numel(), k)
        if name.endswith("norm.weight") or name == "view.factor":
            v = 1 + 0.3 * v
        elif name == "log_variance.bias":
            v = v - 30
        elif name.endswith(("_u", "_v")):
            v = v / v.norm()
        p[name] = v.reshape(shape).clone()
    learned = [n for n in p if n.startswith("critic") and not n.endswith(("_u", "_v"))]
    return p, own, learned


def layer(p, name, x):
    h = F.linear(x, p[name + ".weight"], p[name + ".bias"])
    return F.relu(F.layer_norm(h, (HIDDEN,), p[name + ".norm.weight"], p[name + ".norm.bias"]))


def said(p, x):
    h = layer(p, "encoder.0", x)
    mu, s = F.linear(h, p["mean.weight"], p["mean.bias"]), F.linear(h, p["log_variance.weight"], p["log_variance.bias"])
    proportion = F.softmax(F.linear(layer(p, "decoder.0", mu), p["proportion.weight"], p["proportion.bias"]), 1)
    recon = ((proportion * x.sum(1, keepdim=True) - x) ** 2).sum(1)
    kl = (0.5 * (mu**2 + s.exp() - s - 1)).sum(1)
    features = torch.cat([torch.stack([recon, kl, recon + kl], 1), mu, s, mu.norm(dim=1, keepdim=True), s.norm(dim=1, keepdim=True)], 1)
    return recon, kl, features


def turned(p):
    """One turn of the power iteration in every layer with a spectral norm."""
    out = {}
    with torch.no_grad():
        for name in p:
            if name.endswith("weight_u"):
                w = p[name[:-2]]
                v = w.T @ p[name]
                v = v / v.norm()
                u = w @ v
                out[name], out[name[:-1] + "v"] = u / u.norm(), v
    return out


def logits(p, features, powers):
    f, out = (features - p["view.mean"]) * p["view.factor"], []
    for k, n in enumerate(SEEN):
        h = f[:, :n]
        for i in (1, 2, 3):
            name = f"critic{k + 1}.layer{i}.weight"
            w = p[name]
            if name + "_u" in powers:
                w = w / (powers[name + "_u"] @ w @ powers[name + "_v"])
            h = F.linear(h, w, p[name[:-6] + "bias"])
            h = F.relu(h) if i < 3 else h
        out.append(h[:, 0])
    return torch.stack(out, 1)


def grad(p, names, value):
    at = {n: p[n].clone().requires_grad_() for n in names}
    v = value({**p, **at})
    return v.item(), dict(zip(names, torch.autograd.grad(v, list(at.values()), allow_unused=True)))


class Adam:
    def __init__(self, rate):
        self.rate, self.t, self.m, self.v = rate, 0, {}, {}

    def step(self, p, g, ahead=False):
        t, out = self.t + 1, {}
        for n, d in g.items():
            if d is None:  # the head that no loss looks at
                continue
            m, v = 0.9 * self.m.get(n, 0) + 0.1 * d, 0.999 * self.v.get(n, 0) + 0.001 * d * d
            out[n] = p[n] - self.rate * (m / (1 - 0.9**t)) / ((v / (1 - 0.999**t)).sqrt() + 1e-8)
            if not ahead:
                self.m[n], self.v[n] = m, v
        self.t += 0 if ahead else 1
        return {**p, **out}


def frozen(weight, divergence, clip, epochs=4):
    p, own, _ = start(spectral=False)
    adam, values, lengths = Adam(1e-2), [], []

    def value(p):
        recon, kl, _ = said(p, RETAIN)
        surest = logits(p, said(p, FORGET)[2], {}).max(1).values
        return F.softplus(surest).mean() + weight / GENES * recon.mean() + divergence * 0.5 * kl.mean()

    for _ in range(epochs):
        v, g = grad(p, own, value)
        length = torch.sqrt(sum((d**2).sum() for d in g.values() if d is not None)).item()
        if clip and length > clip:
            g = {n: d if d is None else d * clip / length for n, d in g.items()}
        p = adam.step(p, g)
        values.append(v)
        lengths.append(length)
    return {"values": values, "lengths": lengths, "after": {n: p[n].flatten().tolist() for n in own}}


def extra_gradient(weight, rate, epochs=5):
    p, own, learned = start(spectral=True)
    adam, values = Adam(1e-2), []
    for _ in range(epochs):
        powers = turned(p)

        def model(p):
            recon, kl, _ = said(p, RETAIN)
            surest = logits(p, said(p, FORGET)[2], powers).max(1).values
            return torch.sigmoid(surest).mean() + weight * (recon.mean() / GENES + 0.5 * kl.mean())

        v, g = grad(p, own, model)
        p = adam.step({**p, **powers}, g)
        values.append(v)
        for _ in range(2):
            powers = turned(p)

            def all_critics(p):
                yes, no = logits(p, said(p, FORGET)[2], powers), logits(p, said(p, RETAIN)[2], powers)
                return (0.5 * F.softplus(-yes).mean(0) + 0.5 * F.softplus(no).mean(0)).sum()

            _, g = grad(p, learned, all_critics)
            p = {**p, **powers, **{n: p[n] - rate * d for n, d in g.items()}}
    return {"values": values, "after": {n: p[n].flatten().tolist() for n in own}}


def extra_gradient_true(weight, faster, epochs=3):
    p, own, learned = start(spectral=True)
    slow, fast, values = Adam(1e-2), Adam(1e-2 * faster), []

    def gradients(p):
        powers = turned(p)

        def accusation(p):
            yes, no = logits(p, said(p, FORGET)[2], powers), logits(p, said(p, HELD_OUT)[2], powers)
            return (0.5 * F.softplus(-yes).mean(0) + 0.5 * F.softplus(no).mean(0)).mean()

        def model(p):
            recon, kl, _ = said(p, RETAIN)
            return recon.mean() + 0.5 * kl.mean() - weight * accusation(p)

        v, down = grad(p, own, model)
        a, up = grad(p, learned, accusation)
        return (v, a), down, up, powers

    for _ in range(epochs):
        _, down, up, powers = gradients(p)
        there = {**p, **powers}
        there = fast.step(slow.step(there, down, ahead=True), up, ahead=True)
        v, down, up, powers = gradients(there)
        p = fast.step(slow.step({**p, **powers}, down), up)
        values.append(v)
    return {"values": values, "after": {n: p[n].flatten().tolist() for n in own}}


torch.set_num_threads(1)
print(json.dumps({
    "torch": torch.__version__.split("+")[0],
    "frozen": frozen(0.5, 0.5 / LATENT, 1),
    "frozen, unclipped": frozen(0.5, 0.5 / LATENT, 0),
    "frozen, sum": frozen(3, 3 / GENES, 1),
    "extra-gradient": extra_gradient(0.3, 0.3),
    "extra-gradient, true": extra_gradient_true(10, 5),
}))
