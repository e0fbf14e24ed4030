"""Options of the command line in a line of text, as the fields of the pages are called."""

import re

from sievert.report.texts import Texts

FIELDS = {
    "delimiter": "load.delimiter",
    "encoding": "load.encoding",
    "no-header": "load.no_header",
    "type": "load.types",
    "na": "load.missing_values",
    "keep-suppressed": "load.keep_suppressed",
    "person": "roles.person",
    "hierarchy": "protect.hierarchy",
    "suppress": "protect.budget",
}
OPTION = re.compile(rf"--({'|'.join(FIELDS)})(?![\w-])")


def with_field_names(text: str, texts: Texts) -> str:
    """The same text; who reads it on a page has fields, and no options to type."""
    return OPTION.sub(
        lambda option: texts("workbench.field", name=texts(f"workbench.{FIELDS[option[1]]}")), text
    )
