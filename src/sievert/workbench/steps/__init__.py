"""The steps of the workbench, in the order of the rail: one module each."""

from sievert.workbench.steps.load import LOAD
from sievert.workbench.steps.policy import POLICY
from sievert.workbench.steps.roles import ROLES_STEP

STEPS = (LOAD, ROLES_STEP, POLICY)
