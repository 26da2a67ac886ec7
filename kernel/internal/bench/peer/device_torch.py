"""Epochs of training in PyTorch, on request, in several ways: eager, with torch.compile, and
with the whole step as a CUDA graph.

The device is a GPU if PyTorch finds one. Arguments: network, records per step, steps per
epoch, threads, fastest or deterministic, ways (separated by commas).
"""

NETWORK = sys.argv[1]
BATCH, STEPS, THREADS = map(int, sys.argv[2:5])
DETERMINISTIC = sys.argv[5] == "deterministic"
WAYS = sys.argv[6].split(",")
RECORDS = BATCH * STEPS

if DETERMINISTIC:
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
torch = needs("torch", "PyTorch")
nn = torch.nn
F = nn.functional

torch.set_num_threads(THREADS)
torch.manual_seed(1)
torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
torch.backends.cudnn.benchmark = True
torch.use_deterministic_algorithms(DETERMINISTIC)
torch.utils.deterministic.fill_uninitialized_memory = False  # costs time and changes no result
GPU = torch.cuda.is_available()
DEVICE = torch.device("cuda" if GPU else "cpu")


def cross_entropy(model, x, y):
    return F.cross_entropy(model(x), y)


def negative_binomial(model, x, y):
    return cells_loss(torch, model, x)


def adam(rate):
    return lambda weights: torch.optim.Adam(weights, lr=rate, fused=True, capturable=GPU)


def sgd(weights):
    return torch.optim.SGD(weights, lr=0.01, momentum=0.9, weight_decay=5e-4, fused=True)


def normal(*shape):
    return torch.randn(RECORDS, *shape, device=DEVICE)


def counts():
    x = torch.empty(RECORDS, 2000, device=DEVICE).geometric_(1 - 0.09) - 1
    x[:, 0] += 1
    return x


make = networks(torch)[NETWORK]
draw, classes, loss_of, optimizer_of = {
    "mlp": (lambda: normal(50), 2, cross_entropy, adam(1e-3)),
    "ft-transformer": (lambda: normal(14), 2, cross_entropy, adam(1e-3)),
    "small-cnn": (lambda: normal(1, 28, 28), 10, cross_entropy, sgd),
    "all-cnn": (lambda: normal(3, 32, 32), 10, cross_entropy, sgd),
    "resnet-18": (lambda: normal(3, 32, 32), 10, cross_entropy, sgd),
    "cells": (counts, 2, negative_binomial, adam(1e-4)),
}[NETWORK]
x, y = draw(), torch.randint(0, classes, (RECORDS,), device=DEVICE)


class Training:
    """A network with its optimiser. A step's graph is of fixed memory: its rows, and the sum of
    the losses."""

    def __init__(self, layout):
        self.model = make().to(DEVICE)
        if layout is not None:
            self.model = self.model.to(memory_format=layout)
        self.forward = self.model
        self.optimizer = optimizer_of(self.model.parameters())
        self.rows, self.total = torch.arange(BATCH, device=DEVICE), torch.zeros((), device=DEVICE)

    def backward(self, rows):
        loss = loss_of(self.forward, x[rows], y[rows])
        loss.backward()
        self.optimizer.step()
        self.total += loss.detach()

    def step(self, rows):
        self.optimizer.zero_grad(set_to_none=True)
        self.backward(rows)

    def epoch(self, step, steps=STEPS):
        self.total.zero_()
        order = torch.randperm(RECORDS, device=DEVICE)
        for rows in order.split(BATCH)[:steps]:
            step(rows)
        return self.total.item() / steps  # waits for the device


def eager(layout):
    t = Training(layout)
    return lambda: t.epoch(t.step)


def compiled(layout):
    t = Training(layout)
    t.forward = torch.compile(t.model, mode="reduce-overhead")
    return lambda: t.epoch(t.step)


def cuda_graph(layout):
    if not GPU:
        raise RuntimeError("needs a GPU")
    t, stream, graph = Training(layout), torch.cuda.Stream(), torch.cuda.CUDAGraph()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(4):
            t.step(t.rows)
    torch.cuda.current_stream().wait_stream(stream)
    t.optimizer.zero_grad(set_to_none=True)
    with torch.cuda.graph(graph):
        t.backward(t.rows)

    def step(rows):
        t.rows.copy_(rows)
        graph.replay()

    return lambda: t.epoch(step)


def faster_layout():
    """Return the faster layout of images in a few steps, None for other records, and lay the
    records out so."""
    global x
    if x.dim() != 4:
        return None
    times = {}
    for layout in (torch.contiguous_format, torch.channels_last):
        x = x.contiguous(memory_format=layout)
        t, steps = Training(layout), min(8, STEPS)
        t.epoch(t.step, steps)
        times[layout] = min(seconds(lambda: t.epoch(t.step, steps)) for _ in range(2))
    best = min(times, key=times.get)
    x = x.contiguous(memory_format=best)
    return best


known = {"eager": eager, "compile": compiled, "graph": cuda_graph}
try:
    layout = faster_layout()
except RuntimeError:  # a way says why it does not run
    layout = None
name = f"PyTorch {torch.__version__}"
if layout is torch.channels_last:
    name += ", channels last"
serve_epochs(
    {way: lambda way=way: known[way](layout) for way in WAYS}, STEPS, ready=name,
    weights=sum(p.numel() for p in make().parameters()),
    device=torch.cuda.get_device_name(DEVICE) if GPU else "cpu",
)
