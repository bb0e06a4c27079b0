"""Reports: a page of typed sections becomes an HTML document."""
