"""Writes what "lethe audit FOLDER" reads, from models in PyTorch."""
import pathlib

import numpy
import torch


def save(folder, model, x, layers=(), batch=512):
    """Writes outputs, embedding (what goes into the last Linear) and named layers of records x."""
    folder = pathlib.Path(folder)
    (folder / "activations").mkdir(parents=True, exist_ok=True)
    found = {"outputs": [], "embedding": []} | {f"activations/{name}": [] for name in layers}

    def keep(name):
        return lambda values: found[name].append(values.flatten(1).cpu().numpy())

    last = [m for m in model.modules() if isinstance(m, torch.nn.Linear)][-1]
    hooks = [last.register_forward_pre_hook(lambda _, given: keep("embedding")(given[0]))]
    for name in layers:
        hooks.append(model.get_submodule(name).register_forward_hook(lambda _m, _x, y, name=name: keep(f"activations/{name}")(y)))
    model.eval()  # dropout off, batch norm with its moving means
    with torch.no_grad():
        for part in x.split(batch):
            keep("outputs")(model(part))
    for hook in hooks:
        hook.remove()
    for name, parts in found.items():
        numpy.save(folder / f"{name}.npy", numpy.concatenate(parts))


def records(folder, labels, forget, retain, heldout):
    """Writes the labels of all records, and the row numbers of the three sets."""
    for name, values in {"labels": labels, "forget": forget, "retain": retain, "heldout": heldout}.items():
        numpy.save(pathlib.Path(folder) / f"{name}.npy", numpy.asarray(values))


if __name__ == "__main__":  # an example: python lethe_pytorch.py FOLDER
    import sys

    torch.manual_seed(0)
    x, y = torch.randn(300, 20), torch.randint(0, 2, (300,))  # labels to be learned by heart
    forget, retain, heldout = torch.arange(40), torch.arange(40, 200), torch.arange(200, 300)

    def train(rows):
        torch.manual_seed(1)
        model = torch.nn.Sequential(torch.nn.Linear(20, 64), torch.nn.ReLU(), torch.nn.Linear(64, 2))
        optimizer = torch.optim.Adam(model.parameters(), 0.01)
        for _ in range(200):
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(model(x[rows]), y[rows]).backward()
            optimizer.step()
        return model

    original = train(torch.cat([forget, retain]))
    save(sys.argv[1] + "/original", original, x, layers=["0"])
    save(sys.argv[1] + "/unlearned", original, x, layers=["0"])  # yours goes here; this one has forgotten nothing
    # Models saved while it unlearns go into checkpoint-1, checkpoint-2, ... in the same way.
    save(sys.argv[1] + "/retrained", train(retain), x, layers=["0"])
    records(sys.argv[1], y, forget, retain, heldout)
