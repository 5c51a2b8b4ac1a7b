"""Makes a synthetic table with one mechanism of one peer, in the peer's own environment: codes in, codes out.

`synthesis_peer.py PEER MECHANISM EPSILON DELTA IN OUT`: IN has a column of codes for each attribute and their `sizes`;
OUT gets the same columns, and how many seconds and MB it took.
"""

from __future__ import annotations

import resource
import sys
import time
from typing import Any

import numpy as np
import pandas as pd

Frame = Any


def dpmm(mechanism: str, rows: Frame, sizes: list[int], epsilon: float, delta: float) -> Frame:
    from dpmm.models.aim import AIMGM
    from dpmm.models.mst import MSTGM

    domain = dict(zip(rows.columns, sizes, strict=True))
    one = {"n_jobs": 1} if mechanism == "AIM" else {}
    model = (AIMGM if mechanism == "AIM" else MSTGM)(epsilon=epsilon, delta=delta, domain=domain, **one)
    model.fit(rows)
    return model.generate(len(rows))


def smartnoise(mechanism: str, rows: Frame, sizes: list[int], epsilon: float, delta: float) -> Frame:
    from snsynth.aim import AIMSynthesizer
    from snsynth.mst import MSTSynthesizer
    from snsynth.transform import LabelTransformer, TableTransformer

    made = (AIMSynthesizer if mechanism == "AIM" else MSTSynthesizer)(epsilon=epsilon, delta=delta)
    labels = []
    for size in sizes:
        label = LabelTransformer(nullable=False)
        label.fit(list(range(size)))  # the domain is declared, as it is for discreet
        labels.append(label)
    made.fit(rows, transformer=TableTransformer(labels))
    return made.sample(len(rows))


def opendp(mechanism: str, rows: Frame, sizes: list[int], epsilon: float, delta: float) -> Frame:
    import opendp.prelude as dp
    import polars as pl

    dp.enable_features("contrib")
    context = dp.Context.compositor(
        data=pl.from_pandas(rows).lazy(), privacy_unit=dp.unit_of(contributions=1),
        privacy_loss=dp.loss_of(epsilon=epsilon, delta=delta), split_evenly_over=1,
    )  # fmt: skip
    keys = {name: list(range(size)) for name, size in zip(rows.columns, sizes, strict=True)}
    algorithm = dp.mbi.AIM() if mechanism == "AIM" else dp.mbi.MST()
    table = context.query().contingency_table(keys=keys, algorithm=algorithm).release()
    return table.synthesize(len(rows)).to_pandas()


PEERS = {"dpmm": dpmm, "smartnoise_synth": smartnoise, "opendp_mbi": opendp}


def main() -> None:
    peer, mechanism, epsilon, delta, source, target = sys.argv[1:]
    held = np.load(source)
    sizes = held["sizes"].tolist()
    rows = pd.DataFrame({f"c{n}": held[f"c{n}"] for n in range(len(sizes))})
    start = time.perf_counter()
    made = PEERS[peer](mechanism, rows, sizes, float(epsilon), float(delta))
    seconds = time.perf_counter() - start
    megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    codes = {name: np.clip(np.nan_to_num(np.asarray(made[name], float)), 0, None).astype(int) for name in rows.columns}
    np.savez(target, seconds=seconds, megabytes=megabytes, **codes)


if __name__ == "__main__":
    main()
