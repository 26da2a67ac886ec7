"""Writes state_dicts of three networks and what PyTorch makes of some records.

    python golden.py ../../../../docs/guide/state-dicts.md

wants torch, torchvision, safetensors and rtdl_revisiting_models. The MLP is the class of
docs/guide/state-dicts.md; the residual network is made of torchvision's own parts, with a
stem for small images and few channels; the transformer is its authors'.
"""
import re
import sys

import numpy
import safetensors.torch
import torch
import torchvision
from rtdl_revisiting_models import FTTransformer
from torch import nn

exec(re.search("```python\n(.*?)```", open(sys.argv[1]).read(), re.S)[1])
torch.manual_seed(0)
torch.set_num_threads(1)


def resnet(width, outputs):
    model = torchvision.models.resnet18(num_classes=outputs)
    model.conv1, model.bn1, model.maxpool = nn.Conv2d(3, width, 3, padding=1, bias=False), nn.BatchNorm2d(width), nn.Identity()
    model.inplanes = width
    for s in range(4):
        setattr(model, f"layer{s + 1}", model._make_layer(torchvision.models.resnet.BasicBlock, width << s, 2, stride=1 if s == 0 else 2))
    model.fc = nn.Linear(8 * width, outputs)
    return model


def write(name, model, x, last):
    for p in model.parameters():  # no norm at its start, no bias at 0
        p.data += 0.3 * torch.randn_like(p)
    model.train()
    for _ in range(3):  # which moves running statistics
        model(1 + 2 * torch.randn_like(x))
    model.eval()
    given = []
    last(model).register_forward_pre_hook(lambda _, z: given.append(z[0]))
    with torch.no_grad():
        y = model(x)
    safetensors.torch.save_file(model.state_dict(), f"{name}.safetensors")
    for what, value in {"x": x, "y": y, "embedding": given[0]}.items():
        numpy.save(f"{name}.{what}.npy", value.numpy())


class Continuous(nn.Module):
    """The transformer of continuous features alone, by one argument."""

    def __init__(self, of):
        super().__init__()
        self.of = of

    def forward(self, x):
        return self.of(x, None)

    def state_dict(self, *a, **k):
        return self.of.state_dict(*a, **k)


write("mlp", MLP(4, 3, 5), torch.randn(7, 4), lambda m: m.head)
write("resnet18", resnet(2, 3), torch.randn(3, 3, 8, 8), lambda m: m.fc)
ft = FTTransformer(n_cont_features=3, cat_cardinalities=[], d_out=2, n_blocks=2, d_block=8, attention_n_heads=2, attention_dropout=0.2,
                   ffn_d_hidden=None, ffn_d_hidden_multiplier=4 / 3, ffn_dropout=0.1, residual_dropout=0.0)
write("ft-transformer", Continuous(ft), torch.randn(5, 3), lambda m: m.of.backbone.output.linear)
