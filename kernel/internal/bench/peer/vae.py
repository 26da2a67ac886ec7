"""Training steps of the variational autoencoder of single cells in PyTorch, on request.

Reads a number of repetitions per line from standard input, does them, and
answers with one JSON line: seconds per step. Arguments: likelihood, cells per
step, steps per repetition, counts of a hundred that are not 0, threads.
"""

torch = pytorch()

LIKELIHOOD = sys.argv[1]
BATCH, STEPS, NONZERO, THREADS = map(int, sys.argv[2:6])
GENES = 2000

torch.set_num_threads(THREADS)
torch.manual_seed(1)
Cells = networks(torch)["cells"]
x = torch.distributions.Geometric(torch.tensor(1 - NONZERO / 100)).sample((BATCH * STEPS, GENES))
x[:, 0] += 1


def training(fused):
    model = Cells(LIKELIHOOD == "nb")
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4, fused=fused)
    return epochs(torch, len(x), BATCH, optimizer, lambda rows: cells_loss(torch, model, x[rows]))


serve_training(torch, adams(training), STEPS, Cells(LIKELIHOOD == "nb"))
