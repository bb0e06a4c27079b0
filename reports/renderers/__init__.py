"""Pages as HTML, Markdown, terminal text and notebooks."""
