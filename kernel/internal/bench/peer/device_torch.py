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


def mlp():
    return nn.Sequential(
        nn.Linear(50, 128), nn.ReLU(), nn.Dropout(0.2), nn.Linear(128, 128), nn.ReLU(), nn.Dropout(0.2), nn.Linear(128, 2))


class Block(nn.Module):
    WIDTH, HEADS, HIDDEN = 128, 4, 170

    def __init__(self, first, last):
        super().__init__()
        width, hidden, self.last = self.WIDTH, self.HIDDEN, last
        self.before = nn.Identity() if first else nn.LayerNorm(width)
        self.query, self.key = nn.Linear(width, width), nn.Linear(width, width, bias=False)
        self.value, self.out = nn.Linear(width, width), nn.Linear(width, width)
        self.between = nn.LayerNorm(width)
        self.up, self.gate, self.down = nn.Linear(width, hidden), nn.Linear(width, hidden), nn.Linear(hidden, width)
        self.drop = nn.Dropout(0.1)

    def split(self, x):
        return x.unflatten(2, (self.HEADS, self.WIDTH // self.HEADS)).transpose(1, 2)

    def forward(self, h):
        x = self.before(h)
        asking = x
        if self.last:  # only the CLS token is read after it
            asking, h = x[:, -1:], h[:, -1:]
        q, k, v = self.split(self.query(asking)), self.split(self.key(x)), self.split(self.value(x))
        h = h + self.out(F.scaled_dot_product_attention(q, k, v, dropout_p=0.2).transpose(1, 2).flatten(2))
        x = self.between(h)
        return h + self.down(self.drop(torch.relu(self.up(x)) * self.gate(x)))


class Transformer(nn.Module):
    def __init__(self, features=14, width=Block.WIDTH, blocks=3):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(features, width) / 10)
        self.bias = nn.Parameter(torch.randn(features, width) / 10)
        self.cls = nn.Parameter(torch.randn(1, width) / 10)
        self.blocks = nn.Sequential(*(Block(k == 0, k == blocks - 1) for k in range(blocks)))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, 2)

    def forward(self, x):
        tokens = x[:, :, None] * self.weight + self.bias
        h = self.blocks(torch.cat([tokens, self.cls.expand(len(x), 1, -1)], 1))
        return self.head(torch.relu(self.norm(h[:, 0])))


def small_cnn():
    layers, channels = [], 1
    for width in (32, 64, 128):
        layers += [nn.Conv2d(channels, width, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2)]
        channels = width
    return nn.Sequential(*layers, nn.Flatten(), nn.Linear(128 * 3 * 3, 128), nn.ReLU(), nn.Linear(128, 10))


def all_cnn():
    layers, channels = [], 3
    for width, size, stride in (
        (96, 3, 1), (96, 3, 1), (96, 3, 2), (192, 3, 1), (192, 3, 1), (192, 3, 2), (192, 3, 1), (192, 1, 1),
    ):
        layers += [nn.Conv2d(channels, width, size, stride, size // 2, bias=False), nn.BatchNorm2d(width), nn.ReLU()]
        channels = width
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels, 10))


class Residual(nn.Module):
    def __init__(self, channels, width, stride):
        super().__init__()
        self.inner = nn.Sequential(
            nn.Conv2d(channels, width, 3, stride, 1, bias=False), nn.BatchNorm2d(width), nn.ReLU(),
            nn.Conv2d(width, width, 3, 1, 1, bias=False), nn.BatchNorm2d(width),
        )
        self.shortcut = nn.Identity()
        if stride != 1 or channels != width:
            self.shortcut = nn.Sequential(nn.Conv2d(channels, width, 1, stride, bias=False), nn.BatchNorm2d(width))

    def forward(self, x):
        return torch.relu(self.inner(x) + self.shortcut(x))


def resnet_18():
    layers, channels = [nn.Conv2d(3, 64, 3, 1, 1, bias=False), nn.BatchNorm2d(64), nn.ReLU()], 64
    for width in (64, 128, 256, 512):
        layers += [Residual(channels, width, 1 if width == 64 else 2), Residual(width, width, 1)]
        channels = width
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels, 10))


class Cells(nn.Module):
    GENES, HIDDEN, LATENT = 2000, (1024, 512, 128), 32

    def __init__(self):
        super().__init__()
        genes, hidden, latent = self.GENES, self.HIDDEN, self.LATENT
        self.encoder, self.decoder = self.layers(genes, *hidden), self.layers(latent, *hidden[::-1])
        self.mean, self.log_variance = nn.Linear(hidden[-1], latent), nn.Linear(hidden[-1], latent)
        self.proportion, self.dispersion = nn.Linear(hidden[0], genes), nn.Linear(hidden[0], genes)

    def layers(self, *widths):
        layers = []
        for a, b in zip(widths, widths[1:]):
            layers += [nn.Linear(a, b), nn.LayerNorm(b), nn.ReLU(), nn.Dropout(0.1)]
        return nn.Sequential(*layers)

    def forward(self, x):
        h = self.encoder(x)
        mu, s = self.mean(h), self.log_variance(h)
        g = self.decoder(mu + torch.exp(s / 2) * torch.randn_like(mu))
        return torch.softmax(self.proportion(g), 1), self.dispersion(g), mu, s


def cross_entropy(model, x, y):
    return F.cross_entropy(model(x), y)


def negative_binomial(model, x, y, tiny=1e-8):
    p, dispersion, mu, s = model(x)
    m, d = p * x.sum(1, keepdim=True), torch.exp(dispersion)
    both = torch.log(d + m + tiny)
    each = -(
        d * (torch.log(d + tiny) - both) + x * (torch.log(m + tiny) - both)
        + torch.lgamma(x + d) - torch.lgamma(d) - torch.lgamma(x + 1)
    )
    divergence = (mu**2 + s.exp() - s - 1) / 2
    return (each.sum(1) + divergence.sum(1)).mean()


def adam(rate):
    return lambda weights: torch.optim.Adam(weights, lr=rate, fused=True, capturable=GPU)


def sgd(weights):
    return torch.optim.SGD(weights, lr=0.01, momentum=0.9, weight_decay=5e-4, fused=True)


def normal(*shape):
    return torch.randn(RECORDS, *shape, device=DEVICE)


def counts():
    x = torch.empty(RECORDS, Cells.GENES, device=DEVICE).geometric_(1 - 0.09) - 1
    x[:, 0] += 1
    return x


make, draw, classes, loss_of, optimizer_of = {
    "mlp": (mlp, lambda: normal(50), 2, cross_entropy, adam(1e-3)),
    "ft-transformer": (Transformer, lambda: normal(14), 2, cross_entropy, adam(1e-3)),
    "small-cnn": (small_cnn, lambda: normal(1, 28, 28), 10, cross_entropy, sgd),
    "all-cnn": (all_cnn, lambda: normal(3, 32, 32), 10, cross_entropy, sgd),
    "resnet-18": (resnet_18, lambda: normal(3, 32, 32), 10, cross_entropy, sgd),
    "cells": (Cells, counts, 2, negative_binomial, adam(1e-4)),
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
