"""RULER's M4 over all retained records in NumPy, on request, in float64 as the
metric is defined and as Lethe's result is.

Reads a number of repetitions per line from standard input, does them, and
answers with one JSON line. Arguments: npy file with embeddings, number of
forget records (the first rows; all others are retained).
"""

np = needs("numpy", "NumPy")

embeddings = np.load(sys.argv[1], allow_pickle=False).astype(np.float64)
forgotten = int(sys.argv[2])
CHUNK = 1024


def nearest(queries, gallery, itself):
    out = np.empty(len(queries))
    for i in range(0, len(queries), CHUNK):
        s = queries[i : i + CHUNK] @ gallery.T
        if itself:
            k = np.arange(len(s))
            s[k, i + k] = -np.inf
        out[i : i + CHUNK] = s.max(axis=1)
    return out


def m4():
    u = embeddings / np.linalg.norm(embeddings, axis=1, keepdims=True)
    forget, retain = u[:forgotten], u[forgotten:]
    q = np.sort(nearest(retain, retain, True))
    p = nearest(forget, retain, False)
    return float(np.mean(np.searchsorted(q, p, side="right") / len(q)))


m4()
serve(m4, ready=f"NumPy {np.__version__}, float64")
