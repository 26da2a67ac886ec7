"""nbconvert's pages for Lethe: the filter mathml of the template lethe."""

import html
import re

try:
    from latex2mathml.converter import convert
except ImportError:  # a borrowed Jupyter has no such package: formulas stay as they are written
    convert = None

CODE = re.compile(r"(<(pre|code|script|style)\b.*?</\2>)", re.S)


def mathml(page):
    """Makes MathML of the formulas of a page's text; code is left alone."""

    def formula(tex, display):
        try:
            return convert(html.unescape(tex).strip(), display=display)
        except Exception:  # what the converter does not know stays as it is written
            return None

    def block(found):
        number = re.search(r"\\tag\{([^}]*)\}", found[1])
        made = formula(re.sub(r"\\tag\{[^}]*\}", "", found[1]), "block")
        return (made + (f"<span>({number[1]})</span>" if number else "")) if made else found[0]

    def text(part):
        part = re.sub(r"\$\$([^<]+?)\$\$", block, part)
        return re.sub(r"(?<![\\$\w])\$([^$\n<]+?)\$(?![\w$])", lambda found: formula(found[1], "inline") or found[0], part)

    if convert is None:
        return page
    parts = CODE.split(page)  # text, code, its element, text, ...
    return "".join(text(part) if i % 3 == 0 else part for i, part in enumerate(parts) if i % 3 != 2)


c.HTMLExporter.filters = {"mathml": mathml}  # noqa: F821, c is nbconvert's configuration
