"""Array contraction: an array of which only one row at a time is needed is stored as that row."""

from __future__ import annotations

import re
from collections.abc import Sequence

# A new array of two axes and more.
_NEW = re.compile(r"(t\d+) = np\.empty\(\((.+?), (.+)\), (dtype|np\.int64)\)")


def with_rows(items: Sequence[Sequence[str]], results: Sequence[str]) -> list[list[str]]:
    """Return the lines of the items on the top level. Where everything that is done with an array
    stands in one outermost loop, and always in its row of that number, the array is that row: it
    stays in the cache."""
    used = [set(re.findall(r"\bt\d+\b", "\n".join(lines))) for lines in items]
    returned = set(re.findall(r"\bt\d+\b", " ".join(results)))
    found = []
    for lines, own in zip(items, used, strict=True):
        text = "\n".join(lines)
        for new in _NEW.finditer(text):
            name, _, rest, kind = new.groups()
            elsewhere = name in returned or any(name in other for other in used if other is not own)
            count = len(re.findall(rf"\b{name}\b", text))
            if elsewhere or count != 1 + len(re.findall(rf"\b{name}\[i0, ", text)):
                continue
            shape = f"({rest}{'' if ', ' in rest or rest.endswith(',') else ','})"
            text = text.replace(new[0], f"{name} = np.empty({shape}, {kind})")
            text = re.sub(rf"\b{name}\[i0, ", f"{name}[", text)
        found.append(text.split("\n") if text else [])
    return found
