"""One full-batch training step of RULER's MLP in PyTorch, on request.

Reads a number of steps per line from standard input, does them, and answers
with one JSON line. Arguments: rows, threads.
"""

torch = pytorch()
nn = torch.nn

ROWS, THREADS = int(sys.argv[1]), int(sys.argv[2])
FEATURES, CLASSES = 50, 2

torch.set_num_threads(THREADS)
torch.manual_seed(1)
x = torch.randn(ROWS, FEATURES)
y = torch.randint(0, CLASSES, (ROWS,))


def training(fused):
    model = networks(torch)["mlp"]()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, fused=fused)

    def step():
        optimizer.zero_grad(set_to_none=True)
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        return loss.item()

    return step


way, step = fastest(adams(training))
serve(step, ready=f"{name_of(torch)}, {way}")
