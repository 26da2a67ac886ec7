"""Training steps of a network for images in PyTorch, on request.

Reads a number of repetitions per line from standard input, does them, and
answers with one JSON line: seconds per step. Arguments: network, records per
step, steps per repetition, threads.
"""

torch = pytorch()
nn = torch.nn

NETWORK = sys.argv[1]
BATCH, STEPS, THREADS = map(int, sys.argv[2:5])

torch.set_num_threads(THREADS)
torch.manual_seed(1)
make = networks(torch)[NETWORK]
shape = (1, 28, 28) if NETWORK == "small-cnn" else (3, 32, 32)
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
