"""The options of `doctor`."""

from dataclasses import dataclass

from sievert.errors import EngineError
from sievert.settings.command import LinesCommand
from sievert.settings.option import option


@dataclass(frozen=True, kw_only=True)
class DoctorSettings(LinesCommand):
    """Say what is installed, which engines start, where temporary data goes.

    Nothing is asked of the network, and no table of yours is read. The exit code is 0 if the core
    works, whatever extras are missing.
    """

    start: bool = option("Start Spark as well, which takes some seconds.", default=False)
    json: str | None = option("Write it to this file; - is stdout.", default=None, file=True)
    force: bool = option("Replace an existing file that sievert has not written.", default=False)
    debug: bool = option("Show the traceback of an error.", default=False)

    @property
    def failure_code(self) -> int:
        """The exit code where the core does not work."""
        return EngineError.exit_code

    @property
    def shows_progress(self) -> bool:
        """Tell that there are no steps to be shown."""
        return False
