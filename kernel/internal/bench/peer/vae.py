"""Training steps of the variational autoencoder of single cells in PyTorch, on request.

Reads a number of repetitions per line from standard input, does them, and
answers with one JSON line: seconds per step. Arguments: likelihood, cells per
step, steps per repetition, counts of a hundred that are not 0, threads.
"""

torch = pytorch()
nn = torch.nn

LIKELIHOOD = sys.argv[1]
BATCH, STEPS, NONZERO, THREADS = map(int, sys.argv[2:6])
GENES, HIDDEN, LATENT, EPS = 2000, (1024, 512, 128), 32, 1e-8


def blocks(*widths):
    layers = []
    for a, b in zip(widths, widths[1:]):
        layers += [nn.Linear(a, b), nn.LayerNorm(b), nn.ReLU(), nn.Dropout(0.1)]
    return nn.Sequential(*layers)


class Cells(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = blocks(GENES, *HIDDEN)
        self.mean, self.log_variance = nn.Linear(HIDDEN[-1], LATENT), nn.Linear(HIDDEN[-1], LATENT)
        self.decoder = blocks(LATENT, *HIDDEN[::-1])
        self.proportion, self.dispersion = nn.Linear(HIDDEN[0], GENES), nn.Linear(HIDDEN[0], GENES)

    def forward(self, x):
        h = self.encoder(x)
        mu, s = self.mean(h), self.log_variance(h)
        g = self.decoder(mu + torch.exp(s / 2) * torch.randn_like(mu))
        return torch.softmax(self.proportion(g), 1), g, mu, s


def loss_of(model, x):
    p, g, mu, s = model(x)
    m = p * x.sum(1, keepdim=True)
    if LIKELIHOOD == "nb":
        d = torch.exp(model.dispersion(g))
        both = torch.log(d + m + EPS)
        each = -(
            d * (torch.log(d + EPS) - both) + x * (torch.log(m + EPS) - both)
            + torch.lgamma(x + d) - torch.lgamma(d) - torch.lgamma(x + 1)
        )
    else:
        each = (m - x) ** 2
    divergence = (mu**2 + s.exp() - s - 1) / 2
    return (each.sum(1) + divergence.sum(1)).mean()


torch.set_num_threads(THREADS)
torch.manual_seed(1)
x = torch.distributions.Geometric(torch.tensor(1 - NONZERO / 100)).sample((BATCH * STEPS, GENES))
x[:, 0] += 1


def training(fused):
    model = Cells()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4, fused=fused)
    return epochs(torch, len(x), BATCH, optimizer, lambda rows: loss_of(model, x[rows]))


serve_training(torch, adams(training), STEPS, Cells())
