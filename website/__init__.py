"""The documentation as a static site: Markdown in, plain pages out; one script, no request."""
