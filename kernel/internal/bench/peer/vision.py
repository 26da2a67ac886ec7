"""Training steps of a network for images in PyTorch, on request.

Reads a number of repetitions per line from standard input, does them, and
answers with one JSON line: seconds per step. Arguments: network, records per
step, steps per repetition, threads.
"""

torch = pytorch()
nn = torch.nn

NETWORK = sys.argv[1]
BATCH, STEPS, THREADS = map(int, sys.argv[2:5])


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


class Block(nn.Module):
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
        layers += [Block(channels, width, 1 if width == 64 else 2), Block(width, width, 1)]
        channels = width
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels, 10))


torch.set_num_threads(THREADS)
torch.manual_seed(1)
make, shape = {
    "small-cnn": (small_cnn, (1, 28, 28)),
    "all-cnn": (all_cnn, (3, 32, 32)),
    "resnet-18": (resnet_18, (3, 32, 32)),
}[NETWORK]
x = torch.randn(BATCH * STEPS, *shape)
y = torch.randint(0, 10, (BATCH * STEPS,))


def training(layout, fused):
    model, images = make().to(memory_format=layout), x.to(memory_format=layout)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9, weight_decay=5e-4, fused=fused)
    return epochs(torch, len(x), BATCH, optimizer, lambda rows: nn.functional.cross_entropy(model(images[rows]), y[rows]))


layouts = {"channels first": torch.contiguous_format, "channels last": torch.channels_last}
optimizers = {"SGD": False, "fused SGD": True}
ways = {
    f"{layout}, {optimizer}": lambda layout=layout, optimizer=optimizer: training(layouts[layout], optimizers[optimizer])
    for layout in layouts for optimizer in optimizers
}
serve_training(torch, ways, STEPS, make())
