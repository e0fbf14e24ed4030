"""A result, or several, as one page to decide from: HTML that needs nothing else, and Markdown."""
