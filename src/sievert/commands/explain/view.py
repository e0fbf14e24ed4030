"""An explanation as its page shows it: measured sets of columns, and columns made coarser."""

from collections.abc import Iterable
from functools import cached_property

from sievert.commands.explain.content import (
    Coarsening,
    ColumnsContent,
    ExplanationContent,
    MeasuredTable,
)
from sievert.measurement.subsets import Subset
from sievert.report.explanation_view import MOST_SECRETS, ExplanationView
from sievert.report.parts import NumberText, ReportPart


class ColumnsView(ExplanationView):
    """The page of `explain`: beside the shares, the numbers of measured sets of columns."""

    @cached_property
    def columns(self) -> ColumnsContent:
        """What the JSON says of the known columns."""
        columns = self.read(ExplanationContent).columns
        assert columns is not None  # asked only where columns are known
        return columns

    @property
    def subsets(self) -> tuple[Subset, ...]:
        """Every measured set of known columns; the last is all of them."""
        return self.columns.subsets

    @property
    def whole(self) -> Subset:
        """What all columns together give away."""
        return self.columns.whole

    def alone(self, table: MeasuredTable) -> NumberText:
        """How many people are unique."""
        return self.writer.count(table.reidentification["unique_count"])

    def of_all(self, alone: NumberText) -> NumberText:
        """A count of people as a share of all."""
        if alone.number is None or not self.records:
            return alone
        return self.writer.share(alone.number / self.records)

    def rates(self, table: MeasuredTable, more: Iterable[str] = ()) -> list[NumberText]:
        """What stands below the heads of rates: of finding a person, of each secret, `more`."""
        finding = table.reidentification
        secrets = [table.inference[secret] for secret in self.secrets[:MOST_SECRETS]]
        rates = [self.writer.share(each["discrimination_rate"]) for each in (finding, *secrets)]
        exact = [self.writer.number(finding[measure]) for measure in more]
        return [*rates, *exact]

    def coarser(self, change: Coarsening) -> str:
        """One way to make a column coarser, in words."""
        column = self.column_names[change.column]
        return self.say("remedy_coarser", column=column, how=self.texts.remark(change.how))


def columns_view(part: ReportPart) -> ColumnsView:
    """The view of one part of a page."""
    return ColumnsView(**vars(part))
