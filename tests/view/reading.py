"""A report read back: its text, and its numbers as the page sees them."""

import base64
import gzip
import json
import re
from html.parser import HTMLParser

import numpy as np


class Tags(HTMLParser):
    """The tags with their attributes and the text outside of scripts and styles."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.text, self._inside = [], "", None
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self._inside = tag

    def handle_endtag(self, tag):
        self._inside = None

    def handle_data(self, data):
        if self._inside not in ("script", "style"):
            self.text += data


class Content:
    """What the page of a report is given, with its numbers unpacked."""

    def __init__(self, text):
        found = {
            kind: re.search(f'id="{kind}">(.*?)</script>', text, re.DOTALL).group(1) for kind in ("content", "numbers")
        }
        self.told = json.loads(found["content"])
        planes = np.frombuffer(gzip.decompress(base64.b64decode(found["numbers"])), dtype=np.uint8)
        steps = np.ascontiguousarray(planes.reshape(4, -1).T).view("<u4").ravel()
        self.numbers = np.cumsum(steps, dtype=np.uint32).view("<f4")

    def array(self, place):
        start, count = place
        return self.numbers[start : start + count]

    def times(self, run=0):
        high, low = (self.array(place).astype(float) for place in self.told["runs"][run]["t"])
        return high + low

    def values(self, name, run=0):
        return self.array(self.told["runs"][run]["values"][name])

    def points(self, run=0):
        """The points of the drawing (rows, points, 2)."""
        told = self.told["runs"][run]
        places = self.told["pictures"][told["picture"]]["places"]
        rows = len(self.times(run))
        frames = self.array(told["frames"]).reshape(-1, 4, rows)
        free = iter(self.array(told["free"]).reshape(-1, 2, rows))
        columns = []
        for fixed in places:
            if not fixed:
                columns.append(next(free).T)
                continue
            (ox, oy, ux, uy), (x, y) = frames[int(fixed[0])], fixed[1:]
            columns.append(np.column_stack([ox + x * ux - y * uy, oy + x * uy + y * ux]))
        return np.stack(columns, axis=1)
