"""Training steps of the FT-Transformer for tables in PyTorch, on request.

Reads a number of repetitions per line from standard input, does them, and
answers with one JSON line: seconds per step. Arguments: records per step, columns,
steps per repetition, threads.
"""

torch = pytorch()
nn = torch.nn

BATCH, FEATURES, STEPS, THREADS = map(int, sys.argv[1:5])
WIDTH, HEADS, HIDDEN, BLOCKS, CLASSES = 128, 4, 170, 3, 2


class Block(nn.Module):
    def __init__(self, first, last):
        super().__init__()
        self.last = last
        self.before = nn.Identity() if first else nn.LayerNorm(WIDTH)
        self.query, self.key = nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, WIDTH, bias=False)
        self.value, self.out = nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, WIDTH)
        self.between = nn.LayerNorm(WIDTH)
        self.up, self.gate, self.down = nn.Linear(WIDTH, HIDDEN), nn.Linear(WIDTH, HIDDEN), nn.Linear(HIDDEN, WIDTH)
        self.drop = nn.Dropout(0.1)

    def heads(self, x):
        return x.unflatten(2, (HEADS, WIDTH // HEADS)).transpose(1, 2)

    def forward(self, h):
        x = self.before(h)
        asking = x
        if self.last:  # only the CLS token is read after it
            asking, h = x[:, -1:], h[:, -1:]
        q, k, v = self.heads(self.query(asking)), self.heads(self.key(x)), self.heads(self.value(x))
        a = nn.functional.scaled_dot_product_attention(q, k, v, dropout_p=0.2)
        h = h + self.out(a.transpose(1, 2).flatten(2))
        x = self.between(h)
        return h + self.down(self.drop(torch.relu(self.up(x)) * self.gate(x)))


class Transformer(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.randn(FEATURES, WIDTH) / 10), nn.Parameter(torch.randn(FEATURES, WIDTH) / 10)
        self.cls = nn.Parameter(torch.randn(1, WIDTH) / 10)
        self.blocks = nn.Sequential(*(Block(k == 0, k == BLOCKS - 1) for k in range(BLOCKS)))
        self.norm, self.head = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, CLASSES)

    def forward(self, x):
        tokens = x[:, :, None] * self.weight + self.bias
        h = self.blocks(torch.cat([tokens, self.cls.expand(len(x), 1, WIDTH)], 1))
        return self.head(torch.relu(self.norm(h[:, 0])))


torch.set_num_threads(THREADS)
torch.manual_seed(1)
x, y = torch.randn(BATCH * STEPS, FEATURES), torch.randint(0, CLASSES, (BATCH * STEPS,))


def training(fused):
    model = Transformer()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, fused=fused)
    return epochs(torch, len(x), BATCH, optimizer, lambda rows: nn.functional.cross_entropy(model(x[rows]), y[rows]))


serve_training(torch, adams(training), STEPS, Transformer())
