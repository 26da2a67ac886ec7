"""Training steps of the FT-Transformer for tables in PyTorch, on request.

Reads a number of repetitions per line from standard input, does them, and
answers with one JSON line: seconds per step. Arguments: records per step, columns,
steps per repetition, threads.
"""

torch = pytorch()
nn = torch.nn

BATCH, FEATURES, STEPS, THREADS = map(int, sys.argv[1:5])
CLASSES = 2

torch.set_num_threads(THREADS)
torch.manual_seed(1)
make = networks(torch, FEATURES)["ft-transformer"]
x, y = torch.randn(BATCH * STEPS, FEATURES), torch.randint(0, CLASSES, (BATCH * STEPS,))


def training(fused):
    model = make()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, fused=fused)
    return epochs(torch, len(x), BATCH, optimizer, lambda rows: nn.functional.cross_entropy(model(x[rows]), y[rows]))


serve_training(torch, adams(training), STEPS, make())
