# Makes bert.json: what Hugging Face's BertForMaskedLM computes in float64, with weights that a
# formula gives. With a folder of MiniLM's weights as the second argument it makes minilm.json: those
# weights, and a head that the formula gives. Needs torch and transformers, and safetensors for
# MiniLM. golden_test.go has the same formulas.
import json, sys
import torch, transformers

folder = sys.argv[2] if len(sys.argv) > 2 else None
LAYERS, WIDTH, HEADS, HIDDEN, VOCABULARY, POSITIONS = (6, 384, 12, 1536, 30522, 512) if folder else (2, 128, 4, 256, 100, 16)
FIRST, TOKENS, STEP = (1000, 12, 3001) if folder else (5, 12, 9)
CLS, SEP = (101, 102) if folder else (2, 3)
LENGTHS = [12, 7, 10]                         # tokens of each record before the padding
MASKED = [[2, 5, 9], [1, 4], [3, 8]]          # positions whose tokens are predicted

def names():
    e = "bert.embeddings."
    out = [e + "word_embeddings.weight", e + "position_embeddings.weight", e + "token_type_embeddings.weight",
           e + "LayerNorm.weight", e + "LayerNorm.bias"]
    for l in range(LAYERS):
        b = f"bert.encoder.layer.{l}."
        out += [b + "attention.self." + n for n in ("query.weight", "query.bias", "key.weight", "value.weight", "value.bias")]
        for n in ("attention.output.dense", "attention.output.LayerNorm", "intermediate.dense", "output.dense", "output.LayerNorm"):
            out += [b + n + ".weight", b + n + ".bias"]
    h = "cls.predictions."
    return out + [h + "transform.dense.weight", h + "transform.dense.bias", h + "transform.LayerNorm.weight",
                  h + "transform.LayerNorm.bias", h + "bias"]

def fill(name, i, p):
    k = torch.arange(p.numel(), dtype=torch.float64)
    v = 0.12 * torch.sin(0.7 * k + 0.0013 * k * k / p.numel() + 1.3 * i + 0.5)
    if name.endswith("LayerNorm.weight"):
        v = 1 + v
    p.data = v.float().double().reshape(p.shape)   # float32 values, as Lethe has

torch.manual_seed(0)
config = transformers.BertConfig(vocab_size=VOCABULARY, hidden_size=WIDTH, num_hidden_layers=LAYERS, num_attention_heads=HEADS,
    intermediate_size=HIDDEN, max_position_embeddings=POSITIONS, attn_implementation="eager")
model = transformers.BertForMaskedLM(config).double().eval()
params = dict(model.named_parameters())
if "cls.predictions.decoder.bias" in params and "cls.predictions.bias" not in params:
    params["cls.predictions.bias"] = params["cls.predictions.decoder.bias"]
ours = names()
if folder:
    from safetensors.torch import load_file
    model.bert.load_state_dict({n: v.double() for n, v in load_file(folder + "/model.safetensors").items() if "position_ids" not in n}, strict=False)
for i, n in enumerate(ours):
    if not folder or n.startswith("cls."):
        fill(n, i, params[n])
for l in range(LAYERS):  # a bias of keys has no effect
    if not folder:
        fill("", 90 + l, params[f"bert.encoder.layer.{l}.attention.self.key.bias"])
unused = set(params) - set(ours)
print("not in Lethe:", unused, file=sys.stderr)

x = torch.zeros(len(LENGTHS), TOKENS, dtype=torch.long)
mask = torch.zeros(len(LENGTHS), TOKENS, dtype=torch.long)
for r, n in enumerate(LENGTHS):
    for k in range(n):
        x[r, k] = FIRST + (17 * k + 31 * r + 3 * k * k) % (VOCABULARY - FIRST)
        mask[r, k] = 1
    x[r, 0], x[r, n - 1] = CLS, SEP
out = model.bert(input_ids=x, attention_mask=mask).last_hidden_state
logits = model(input_ids=x, attention_mask=mask).logits
loss, picked = 0.0, []
for r, positions in enumerate(MASKED):
    for p in positions:
        target = (7 * r + 11 * p + 13) % VOCABULARY
        loss = loss - torch.log_softmax(logits[r, p], 0)[target] / (len(positions) * len(LENGTHS))
        picked.append([round(v, 7) for v in logits[r, p, ::STEP].tolist()])
loss.backward()
norms, shadows = [], []
for n in ours:
    g = params[n].grad.reshape(-1)
    k = torch.arange(g.numel(), dtype=torch.float64)
    norms.append(float(f"{g.norm().item():.7g}"))
    shadows.append(float(f"{(g * torch.sin(1.1 * k + 0.3)).sum().item():.7g}"))
json.dump({"made by": f"transformers {transformers.__version__}, torch {torch.__version__}, float64",
    "cls": [[round(v, 7) for v in out[r, 0, ::8].tolist()] for r in range(len(LENGTHS))],
    "logits": picked, "loss": float(f"{loss.item():.9g}"), "gradient norms": norms, "gradient projections": shadows},
    open(sys.argv[1], "w"), indent=1)
print("gelu", [float(f"{v:.8g}") for v in torch.nn.functional.gelu(torch.tensor([-6, -3, -1, -0.5, 0, 0.25, 1, 2, 6], dtype=torch.float64)).tolist()])
print("state dict:", [(k, tuple(v.shape)) for k, v in model.state_dict().items() if "layer" not in k])
