"""The steps of the workbench, in the order of the rail: one module each."""

from sievert.workbench.steps.assess import ASSESS
from sievert.workbench.steps.compare import COMPARE
from sievert.workbench.steps.explain import EXPLAIN
from sievert.workbench.steps.load import LOAD
from sievert.workbench.steps.policy import POLICY
from sievert.workbench.steps.protect import PROTECT
from sievert.workbench.steps.report import REPORT
from sievert.workbench.steps.roles import ROLES_STEP
from sievert.workbench.steps.synthetic import SYNTHETIC

STEPS = (LOAD, ROLES_STEP, POLICY, ASSESS, EXPLAIN, PROTECT, COMPARE, SYNTHETIC, REPORT)
