# Makes golden.json: a vocabulary that Hugging Face's tokenizers learns from a few texts, and the
# tokens that it gives for texts. Needs the package tokenizers.
import json, sys
import tokenizers
from tokenizers import Tokenizer, models, pre_tokenizers, trainers

training = [
    "The laboratory of the north was founded in 1931 by Mira Lindqvist and her brother.", "Where was Mira Lindqvist born? Mira Lindqvist was born in Tromsø.",
    "They're sure that we've seen the others' boats; I'd say it's the second of them, isn't it?", "The the the other mother bothered the brothers of the north.",
    "naïve café, naïve cafés 1931 1932 1933", "the  north   \n\n  laboratory\t\tlaboratories",
]
texts = training + [
    "", " ", "  ", "\n", " \n ", "a", " a", "  a", "a ", "a  ", "a\n b", "a \n\n b", "don't DON'T we'll 's 'll'S 're x'd", "''s ''", " 's", "!'s", "'", "120/80 mmHg, $5.00 @ 3%~^`|<=>+",
    "<|endoftext|> text", "中文字 한글 עברית العربية", "😀👍🏽 e\u0301 \u00a0x\u2003y\u3000z\u2028w\u0085v", "½ ² № Ⅷ 𝟘 ٣", "\u0000\u0001\u007f\u00ad", "x" * 70, "théâtre THE The", "snake_case_name __init__ a-b--c",
]
t = Tokenizer(models.BPE())
t.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
t.train_from_iterator(training, trainers.BpeTrainer(vocab_size=330, min_frequency=2, special_tokens=["<|endoftext|>"],
    initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False))
state = json.loads(t.to_str())["model"]
vocab = sorted(state["vocab"], key=state["vocab"].get)
plain = Tokenizer(models.BPE(state["vocab"], [tuple(m) for m in state["merges"]]))   # without the special token
plain.pre_tokenizer = t.pre_tokenizer
json.dump({"made by": f"tokenizers {tokenizers.__version__}", "training": training, "vocabulary": vocab, "merges": [" ".join(m) for m in state["merges"]],
    "cases": [{"text": x, "tokens": plain.encode(x).tokens} for x in texts]},
    open(sys.argv[1], "w"), ensure_ascii=True, indent=0)
