"""The documentation as a static site: Markdown in, plain pages out, no script and no request."""
