"""Messages between a gate worker and the process that fits: a length, a JSON object, and arrays behind it."""

from __future__ import annotations

import json
import struct
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from discreet.core.syntax import Json

HEAD = struct.Struct("!II")
Array = npt.NDArray[Any]


def packed(message: dict[str, Json], arrays: Sequence[Array] = ()) -> bytes:
    whole = [np.ascontiguousarray(array) for array in arrays]
    told = message | {"arrays": [[str(array.dtype), array.shape] for array in whole]}
    text = json.dumps(told).encode()
    parts = [array.tobytes() for array in whole]
    return b"".join([HEAD.pack(len(text), sum(map(len, parts))), text, *parts])


def unpacked(frame: bytes) -> tuple[dict[str, Json], list[Array]]:
    length, _ = HEAD.unpack_from(frame)
    message: dict[str, Json] = json.loads(frame[HEAD.size : HEAD.size + length])
    at, arrays = HEAD.size + length, []
    for dtype, shape in message.pop("arrays"):
        count = int(np.prod(shape, dtype=np.int64))
        arrays.append(np.frombuffer(frame, dtype, count, at).reshape(shape))
        at += count * np.dtype(dtype).itemsize
    return message, arrays


def missing(buffer: bytes | bytearray) -> int:
    """How many bytes of the frame that a buffer begins with are not there yet, as far as that is known."""
    if len(buffer) < HEAD.size:
        return HEAD.size - len(buffer)
    length, arrays = HEAD.unpack_from(buffer)
    return HEAD.size + int(length) + int(arrays) - len(buffer)
