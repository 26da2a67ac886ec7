"""Training steps of masked language modelling with BERT in PyTorch, on request.

Reads a number of repetitions per line from standard input, does them, and
answers with one JSON line: seconds per step. Arguments: texts per step, tokens of a text,
steps per repetition, threads.
"""

torch = pytorch()
nn, F = torch.nn, torch.nn.functional

BATCH, TOKENS, STEPS, THREADS = map(int, sys.argv[1:5])
LAYERS, WIDTH, HEADS, HIDDEN, VOCABULARY, POSITIONS, DROPOUT = 6, 384, 12, 1536, 30522, 512, 0.1
PREDICTED = (15 * TOKENS + 99) // 100
CLS, SEP, MASK, FIRST = 101, 102, 103, 1000

torch.set_num_threads(THREADS)
torch.manual_seed(1)


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.query, self.key = nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, WIDTH, bias=False)
        self.value, self.out = nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, WIDTH)
        self.up, self.down = nn.Linear(WIDTH, HIDDEN), nn.Linear(HIDDEN, WIDTH)
        self.after, self.last = nn.LayerNorm(WIDTH, eps=1e-12), nn.LayerNorm(WIDTH, eps=1e-12)
        self.drop = nn.Dropout(DROPOUT)

    def split(self, x):
        return x.unflatten(2, (HEADS, WIDTH // HEADS)).transpose(1, 2)

    def forward(self, h, present):
        q, k, v = self.split(self.query(h)), self.split(self.key(h)), self.split(self.value(h))
        attended = F.scaled_dot_product_attention(q, k, v, attn_mask=present, dropout_p=DROPOUT)
        h = self.after(h + self.drop(self.out(attended.transpose(1, 2).flatten(2))))
        return self.last(h + self.drop(self.down(F.gelu(self.up(h)))))


class BERT(nn.Module):
    def __init__(self):
        super().__init__()
        self.token, self.position, self.kind = (nn.Embedding(n, WIDTH) for n in (VOCABULARY, POSITIONS, 2))
        self.norm, self.drop = nn.LayerNorm(WIDTH, eps=1e-12), nn.Dropout(DROPOUT)
        self.layers = nn.ModuleList(Layer() for _ in range(LAYERS))
        self.dense, self.between = nn.Linear(WIDTH, WIDTH), nn.LayerNorm(WIDTH, eps=1e-12)
        self.bias = nn.Parameter(torch.zeros(VOCABULARY))

    def forward(self, x, hidden):
        h = self.token(x) + self.position.weight[:TOKENS] + self.kind.weight[0]
        h = self.drop(self.norm(h))
        present = (x != 0)[:, None, None]
        for layer in self.layers:
            h = layer(h, present)
        h = h.gather(1, hidden[:, :, None].expand(-1, -1, WIDTH)).flatten(0, 1)
        return F.linear(self.between(F.gelu(self.dense(h))), self.token.weight, self.bias)


texts = torch.randint(FIRST, VOCABULARY, (BATCH * STEPS, TOKENS))
texts[:, 0], texts[:, -1] = CLS, SEP


def training(fused):
    model = BERT()
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-5, weight_decay=0.01, fused=fused)

    def loss(rows):
        x = texts[rows]
        hidden = torch.rand(len(x), TOKENS - 2).topk(PREDICTED).indices + 1
        return F.cross_entropy(model(x.scatter(1, hidden, MASK), hidden), x.gather(1, hidden).flatten())

    return epochs(torch, len(texts), BATCH, optimizer, loss)


serve_training(torch, adams(training), STEPS, BERT())
