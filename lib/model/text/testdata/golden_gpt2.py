# Makes decoder.json: what Hugging Face's GPT2LMHeadModel computes in float64, with weights that a
# formula gives. Needs torch and transformers. decoder_golden_test.go has the same formulas.
import json, sys
import torch, transformers

LAYERS, WIDTH, HEADS, HIDDEN, VOCABULARY, POSITIONS, TOKENS = 2, 64, 4, 256, 100, 16, 12
LENGTHS, GIVEN = [12, 7, 10], [0, 3, 6]       # tokens of each record before the padding, and those of the question

torch.manual_seed(0)
config = transformers.GPT2Config(vocab_size=VOCABULARY, n_positions=POSITIONS, n_embd=WIDTH, n_layer=LAYERS, n_head=HEADS, n_inner=HIDDEN,
    attn_implementation="eager")
model = transformers.GPT2LMHeadModel(config).double().eval()
params = dict(model.named_parameters())

def ours(of):
    """The tensors in Lethe's order and layout [out, in], of(name) being Hugging Face's."""
    t = "transformer."
    out = [("token", of(t + "wte.weight")), ("position", of(t + "wpe.weight"))]
    for l in range(LAYERS):
        b = f"{t}h.{l}."
        out += [(f"gain{l}", of(b + "ln_1.weight")), ("", of(b + "ln_1.bias"))]
        w, c = of(b + "attn.c_attn.weight").T, of(b + "attn.c_attn.bias")
        q, k, v = w[:WIDTH], w[WIDTH:2 * WIDTH], w[2 * WIDTH:]
        out += [("", q), ("", c[:WIDTH]), ("", k), ("", v), ("", c[2 * WIDTH:])]
        out += [("", of(b + "attn.c_proj.weight").T), ("", of(b + "attn.c_proj.bias"))]
        out += [("gain", of(b + "ln_2.weight")), ("", of(b + "ln_2.bias"))]
        for n in ("mlp.c_fc", "mlp.c_proj"):
            out += [("", of(b + n + ".weight").T), ("", of(b + n + ".bias"))]
    return out + [("gain", of(t + "ln_f.weight")), ("", of(t + "ln_f.bias"))]

def wave(i, n):
    k = torch.arange(n, dtype=torch.float64)
    return 0.2 * torch.sin(0.7 * k + 0.0013 * k * k / n + 1.3 * i + 0.5)

with torch.no_grad():
    for i, (name, p) in enumerate(ours(lambda n: params[n].data)):
        v = wave(i, p.numel()) + (1 if name.startswith("gain") else 0)
        p.copy_(v.float().double().reshape(p.shape))   # float32 values, as Lethe has; p is a view
    for l in range(LAYERS):  # a bias of keys has no effect
        params[f"transformer.h.{l}.attn.c_attn.bias"].data[WIDTH:2 * WIDTH] = wave(90 + l, WIDTH)

x = torch.zeros(len(LENGTHS), TOKENS, dtype=torch.long)
mask = torch.zeros(len(LENGTHS), TOKENS, dtype=torch.long)
for r, n in enumerate(LENGTHS):
    for k in range(n):
        x[r, k] = (17 * k + 31 * r + 3 * k * k) % VOCABULARY
        mask[r, k] = 1
hidden = model.transformer(input_ids=x, attention_mask=mask).last_hidden_state
logits = model(input_ids=x, attention_mask=mask).logits
loss, picked = 0.0, []
for r, n in enumerate(LENGTHS):
    first = max(1, GIVEN[r])
    for p in range(first, n):
        loss = loss - torch.log_softmax(logits[r, p - 1], 0)[x[r, p]] / ((n - first) * len(LENGTHS))
        picked.append([round(v, 7) for v in logits[r, p - 1, ::9].tolist()])
loss.backward()
norms, projections = [], []
for _, g in ours(lambda n: params[n].grad):
    g = g.reshape(-1)
    k = torch.arange(g.numel(), dtype=torch.float64)
    norms.append(float(f"{g.norm().item():.7g}"))
    projections.append(float(f"{(g * torch.sin(1.1 * k + 0.3)).sum().item():.7g}"))
json.dump({"made by": f"transformers {transformers.__version__}, torch {torch.__version__}, float64",
    "embedding": [[round(v, 7) for v in hidden[r, n - 2, ::8].tolist()] for r, n in enumerate(LENGTHS)],
    "logits": picked, "loss": float(f"{loss.item():.9g}"), "gradient norms": norms, "gradient projections": projections},
    open(sys.argv[1], "w"), indent=1)
print("state dict:", [(k, tuple(v.shape)) for k, v in model.state_dict().items() if "h.1" not in k])
