"""The process in which the model of a synthetic table is fitted, as the gate worker sees it.

While it works, the worker serves others: the conversation waits in its session, for a short time and again. A session
that leaves ends the conversation, which ends the process; a worker that ends takes the process with it.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

import discreet
from discreet.core.errors import LimitExceededError, RefusedShapeError
from discreet.core.syntax import Json
from discreet.synthesis.frames import Array, missing, packed, unpacked
from discreet.synthesis.model import Measured
from discreet.synthesis.problem import Problem
from discreet.worker.session import Session, kept

# address space of the process: numpy reserves more than it uses
MOST_MB = 2000
# seconds in which the session waits before the worker looks again
TICK = 0.02
READ_AT_ONCE = 1 << 20
# processes of one gate worker
MOST_AT_ONCE = 4

CODE = """
import sys
sys.path[:0] = {path!r}
from discreet.synthesis.process import main
main({most_mb})
"""


class FittingProcess:
    """Asks the process, one message after the other. Neither a write nor a read ever blocks the worker."""

    at_work = 0

    def __init__(self, session: Session) -> None:
        if FittingProcess.at_work >= MOST_AT_ONCE:
            raise LimitExceededError(
                f"{MOST_AT_ONCE} calls of synthesize() are at work already", "Ask again when one of them has ended."
            )
        self.session = session
        self.parts = 0
        places = dict.fromkeys(str(Path(str(module.__file__)).parents[1]) for module in (discreet, np))
        code = CODE.format(path=list(places), most_mb=MOST_MB)
        version = f"python{sys.version_info.major}.{sys.version_info.minor}"
        one = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        self._process = subprocess.Popen(
            [str(Path(sys.base_exec_prefix) / "bin" / version), "-I", "-c", code],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, bufsize=0, env=one, cwd="/",
            start_new_session=True,
        )  # fmt: skip
        FittingProcess.at_work += 1
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            os.set_blocking(pipe.fileno(), False)

    def close(self) -> None:
        """Ends the process, whatever it does."""
        FittingProcess.at_work -= 1
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()

    def ask(self, message: dict[str, Json], arrays: Sequence[Array] = ()) -> tuple[dict[str, Json], list[Array]]:
        source, target = self._process.stdout, self._process.stdin
        assert source is not None
        assert target is not None
        try:
            frame = memoryview(packed(message, arrays))
            while frame:
                written = target.write(frame)
                if written is None:
                    self.wait()
                else:
                    frame = frame[written:]
            buffer = bytearray()
            while (wanted := missing(buffer)) > 0:
                more = source.read(min(wanted, READ_AT_ONCE))
                if more is None:
                    self.wait()
                elif more:
                    buffer += more
                else:
                    raise BrokenPipeError
        except BrokenPipeError:
            raise RefusedShapeError(
                "the process that fits the synthetic table has ended; the charge is not refunded",
                "An administrator finds out why in the system's log: it may have needed more memory than there is.",
            ) from None
        return unpacked(bytes(buffer))

    def wait(self) -> None:
        """Lets the worker serve others for a moment."""
        self.session.execute(kept("SELECT discreet._wait($1)", "float8"), [TICK])

    def begun(self, problem: Problem, given: dict[int, int], counted_by: int | None) -> PartFitter:
        """One more model, which `given` attributes of the person and the number of a person's rows are told of."""
        cliques = [list(clique) for clique in problem.layout.cliques]
        self.ask({
            "do": "begin", "sizes": problem.sizes, "drawn": sorted(problem.drawn), "cliques": cliques, "given": given,
            "counted_by": counted_by,
        })  # fmt: skip
        self.parts += 1
        return PartFitter(self, self.parts - 1)


class PartFitter:
    """One model of the process: the Fitter of aim.py."""

    def __init__(self, process: FittingProcess, part: int) -> None:
        self.process, self.part = process, part
        self._sent = 0

    def fitted(self, measured: Sequence[Measured]) -> npt.NDArray[np.int64]:
        """Sends what is new."""
        new = measured[self._sent :]
        self._sent = len(measured)
        told = [[list(each.clique), each.variance] for each in new]
        _, (counts,) = self.process.ask(
            {"do": "fit", "part": self.part, "measured": told}, [each.counts for each in new]
        )
        return counts

    def settled(self) -> tuple[dict[str, Json], npt.NDArray[np.int64]]:
        """What the last fit tells, and its counts, as those of the others."""
        told, (counts,) = self.process.ask({"do": "settle", "part": self.part})
        return told, counts
