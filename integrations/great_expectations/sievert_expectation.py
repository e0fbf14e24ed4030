"""An expectation for Great Expectations: a table meets a disclosure policy.

    import sievert_expectation

    batch.validate(sievert_expectation.ExpectTableToMeetDisclosurePolicy(policy="policy.toml"))

It is for batches of pandas, as they are: a column that the policy calls an identifier must be gone.
What it records is shareable: verdicts, no numbers, no values.
"""

from typing import Any, ClassVar

from great_expectations.core.metric_domain_types import MetricDomainTypes
from great_expectations.execution_engine import PandasExecutionEngine
from great_expectations.expectations.expectation import BatchExpectation
from great_expectations.expectations.metrics.metric_provider import metric_value
from great_expectations.expectations.metrics.table_metric_provider import TableMetricProvider

import sievert

METRIC = "table.disclosure_policy"


class DisclosurePolicyMetric(TableMetricProvider):
    """The verdicts of a policy on a table, as they may be shared."""

    metric_name = METRIC
    value_keys = ("policy",)

    @metric_value(engine=PandasExecutionEngine)
    def _pandas(
        cls,  # noqa: N805
        execution_engine: PandasExecutionEngine,
        metric_domain_kwargs: dict[str, Any],
        metric_value_kwargs: dict[str, Any],
        metrics: dict[str, Any],
        runtime_configuration: dict[str, Any],
    ) -> dict[str, Any]:
        frame, _, _ = execution_engine.get_compute_domain(
            metric_domain_kwargs, domain_type=MetricDomainTypes.TABLE
        )
        result = sievert.assess(frame, policy=metric_value_kwargs["policy"], quick=True)
        return dict(result.share().to_dict()["policy"])


class ExpectTableToMeetDisclosurePolicy(BatchExpectation):
    """Expect a table to meet a disclosure policy: a TOML file of Sievert with roles and limits."""

    policy: str
    metric_dependencies: ClassVar[tuple[str, ...]] = (METRIC,)
    success_keys: ClassVar[tuple[str, ...]] = ("policy",)
    domain_keys: ClassVar[tuple[str, ...]] = ("batch_id",)

    def _validate(
        self,
        metrics: dict[str, Any],
        runtime_configuration: dict[str, Any] | None = None,
        execution_engine: Any = None,
    ) -> dict[str, Any]:
        policy = metrics[METRIC]
        states = {True: "met", False: "breached", None: "undecided"}
        limits = {
            ".".join(filter(None, (limit["where"], limit["measure"], limit.get("scope")))): states[
                limit["met"]
            ]
            for limit in policy["limits"]
        }
        whole = {**states, False: "not met"}[policy["met"]]
        reasons = [reason["text"] for reason in policy["reasons"]]
        return {
            "success": policy["met"] is True,  # undecided is not met
            "result": {"observed_value": whole, "details": {"limits": limits, "reasons": reasons}},
        }
