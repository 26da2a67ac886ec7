# Makes golden.json: texts with the tokens that Hugging Face's tokenizers gives for a small
# vocabulary. Needs the package tokenizers.
import json, sys
import tokenizers
from tokenizers import BertWordPieceTokenizer

texts = [
    "The patient's blood-pressure was 120/80 mmHg.", "  unaffable\tun\naffable  \r\nUNAFFABLE ", "", "   ", "...", "$5.00 @ 3%~^`|<=>+",
    "Ångström naïve café CAFÉ e\u0301 \u1e9b\u0323", "İstanbul ISTANBUL ı STRASSE straße", "ΑΣΣΟΣ σς", "\u0000a\u0001b\ufffdc\u200bd\u00ade\u2060f\ue000g",
    "a\u00a0b\u2003c\u3000d\u2028e\u2029f\u0085g\u000bh", "中文字 a中b ｆｕｌｌ \u3400\u4dbf\U00020000\U0002ceaf\uf900\uf907\u3041\u30a2\uac00한글", "“quotes” — dash… «x» ¿que? ¡si!",
    "a##b ##b # #", "[CLS] [MASK] [SEP]", "x" * 100, "x" * 101, "😀 emoji👍🏽 a\u200d", "tokenization tokenizations untoken", "\u037e \u1fef \u212a \u2126", "12345 1234567890",
    "re\u0300sume\u0301 RE\u0301", "ﬁne ½ ² №", "𝐁𝐨𝐥𝐝 𝟘", "ǅ ǆ Ǆ ß ẞ", "a\u0338b \u0338", "don't can't it's", "e-mail@example.com http://x.y/z?q=1&r=2#f",
]
letters = sorted(set("abcdefghijklmnopqrstuvwxyz0123456789.,-/'$%@:?=&#!+<>|`^~[]_*()\";中文ασς한가ßæ한ㅏıøł“”—…«»¿¡"))
vocab = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"] + letters + ["##" + c for c in letters if c.isalnum()]
vocab += ["the", "patient", "blood", "pressure", "was", "un", "##aff", "##able", "token", "##ization", "##ations", "cafe", "##xx", "##xxxx", "##xxxxxxxx",
          "istanbul", "resume", "##ll", "mail", "can", "120", "80", "##hg", "an", "##gst", "##rom", "naive", "12", "##34", "##345", "##5", "##tion"]
vocab = list(dict.fromkeys(vocab))
with open("/tmp/golden-vocab.txt", "w", encoding="utf-8") as f:
    f.write("\n".join(vocab) + "\n")
t = BertWordPieceTokenizer("/tmp/golden-vocab.txt", lowercase=True)
skip = {"[CLS] [MASK] [SEP]"}  # special tokens in a text: read there, not here
json.dump({"made by": f"tokenizers {tokenizers.__version__}", "vocabulary": vocab,
    "cases": [{"text": x, "tokens": t.encode(x, add_special_tokens=False).tokens} for x in texts if x not in skip]},
    open(sys.argv[1], "w"), ensure_ascii=True, indent=0)
