"""Training steps of BlindU's information bottleneck for MNIST in PyTorch, on request.

Reads a number of repetitions per line from standard input, does them, and
answers with one JSON line: seconds per step. Arguments: images per step, steps per
repetition, threads.
"""

torch = pytorch()
nn = torch.nn

BATCH, STEPS, THREADS = map(int, sys.argv[1:4])
PIXELS, HIDDEN, LATENT, CLASSES, BETA = 784, 96, 49, 10, 1e-3


def mlp(inputs, outputs):
    return nn.Sequential(nn.Linear(inputs, HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, outputs))


class Bottleneck(nn.Module):
    def __init__(self):
        super().__init__()
        self.compressor, self.approximator = mlp(PIXELS, 2 * LATENT), mlp(LATENT, CLASSES)

    def forward(self, x):
        mu, r = self.compressor(x).chunk(2, 1)
        sigma = nn.functional.softplus(r)
        return self.approximator(mu + sigma * torch.randn_like(mu)), mu, sigma


torch.set_num_threads(THREADS)
torch.manual_seed(1)
x, y = torch.rand(BATCH * STEPS, PIXELS), torch.randint(0, CLASSES, (BATCH * STEPS,))


def training(fused):
    model = Bottleneck()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, fused=fused)

    def loss(rows):
        logits, mu, sigma = model(x[rows])
        divergence = -0.5 * (1 + 2 * sigma.log() - mu**2 - sigma**2).mean()
        return nn.functional.cross_entropy(logits, y[rows]) + BETA * divergence

    return epochs(torch, len(x), BATCH, optimizer, loss, lambda: nn.utils.clip_grad_norm_(model.parameters(), 1.0))


serve_training(torch, adams(training), STEPS, Bottleneck())
