"""The steps of the workbench, in the order of the rail: one module each."""

from sievert.workbench.steps.load import LOAD

STEPS = (LOAD,)
