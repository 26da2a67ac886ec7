"""SDE's decision on subsets in PyTorch, written as the paper describes it, on
request.

Reads a number of repetitions per line from standard input, does them, and
answers with one JSON line. It computes the first subsets only and scales the time to
all of them: the two references once, and the mean time of a subset for each.

Arguments: folder, records per set, activations per record, subsets, subsets
to compute, number type, threads. The folder holds activations.f32, rows of float32:
a pool, the in-training and the out-of-training reference; and subsets.i64, rows
of the pool.
"""

torch = needs("torch", "PyTorch")

FOLDER = sys.argv[1]
SIZE, DIM, SUBSETS, JUDGED = map(int, sys.argv[2:6])
TYPE, THREADS = getattr(torch, sys.argv[6]), int(sys.argv[7])
PERMUTATIONS, BINS = 200, 50


def read(name, dtype, columns):
    path = os.path.join(FOLDER, name)
    count = os.path.getsize(path) // torch.empty(0, dtype=dtype).element_size()
    return torch.from_file(path, size=count, dtype=dtype).view(-1, columns)


torch.set_num_threads(THREADS)
torch.manual_seed(1)
activations = read("activations.f32", torch.float32, DIM).to(TYPE)
subsets = read("subsets.i64", torch.int64, SIZE)
pool, inside, outside = activations.split([len(activations) - 2 * SIZE, SIZE, SIZE])


def kernel(x):
    k = torch.exp(-torch.cdist(x, x).square() / (2 * DIM))
    return k - k.mean(0, keepdim=True) - k.mean(1, keepdim=True) + k.mean()


def draws(x):
    n = len(x) // 2
    k, l = kernel(x[:n]), kernel(x[n : 2 * n])
    out = torch.empty(PERMUTATIONS, dtype=TYPE)
    for t in range(PERMUTATIONS):
        p = torch.randperm(n)
        out[t] = (k * l[p][:, p]).sum() / (n - 1) ** 2
    return out


def histogram(values, low, high):
    h = torch.histogram(values, BINS, range=(low, high)).hist
    return h / h.sum()


def divergence(p, q):
    m = (p + q) / 2
    return ((torch.xlogy(p, p / m).nan_to_num() + torch.xlogy(q, q / m).nan_to_num()).sum() / 2).item()


def verdict(target, inside, outside):
    everything = torch.cat([target, inside, outside])
    low, high = everything.min().item(), everything.max().item()
    t, i, o = (histogram(v, low, high) for v in (target, inside, outside))
    return divergence(t, i), divergence(t, o)


def judge(judged):
    began = time.perf_counter()
    references = draws(inside), draws(outside)
    once = time.perf_counter()
    total = sum(verdict(draws(pool[rows]), *references)[1] for rows in subsets[:judged])
    took = (time.perf_counter() - once) * SUBSETS / judged
    return once - began + took, total / judged


judge(1)
say(
    ready=f"PyTorch {torch.__version__}, {sys.argv[6]}, {torch.get_num_threads()} threads"
    + (f", time of {JUDGED} subsets scaled up to {SUBSETS}" if JUDGED < SUBSETS else "")
)
for line in sys.stdin:
    n = int(line)
    runs = [judge(JUDGED) for _ in range(n)]
    say(seconds=sum(r[0] for r in runs) / n, value=runs[-1][1])
