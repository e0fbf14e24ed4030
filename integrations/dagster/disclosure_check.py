"""An asset check for Dagster: a table meets a disclosure policy, and blocks what comes after it.

    import dagster
    from disclosure_check import disclosure_check

    @dagster.asset
    def release() -> None: ...  # writes release.csv

    definitions = dagster.Definitions(
        assets=[release],
        asset_checks=[disclosure_check(release, "release.csv", "policy.toml")],
    )

The check is about the file as it is: a column that the policy calls an identifier must be gone.
What it records is shareable: verdicts, no numbers, no values.
"""

from typing import Any

import dagster

import sievert

PLAN = "a count state is no file that could go out: assess the release itself"


def disclosure_check(asset: Any, table: str, policy: str) -> dagster.AssetChecksDefinition:
    """A blocking check of the file that an asset has written."""

    @dagster.asset_check(asset=asset, name="disclosure", blocking=True)
    def check() -> dagster.AssetCheckResult:
        result = sievert.assess(table, policy=policy, quick=True)
        shared = result.share().to_dict()["policy"]
        states = {True: "met", False: "breached", None: "undecided"}
        limits = {f"{v['where']}.{v['measure']}": states[v["met"]] for v in shared["limits"]}
        reasons = [reason["text"] for reason in shared["reasons"]]
        reasons += [PLAN] if "planned_met" in shared else []
        return dagster.AssetCheckResult(
            passed=result.met is True,  # undecided is not met, and a plan is no file
            severity=dagster.AssetCheckSeverity.ERROR,
            metadata={"limits": limits, "reasons": reasons, "policy": shared["sha256"]},
        )

    return check
