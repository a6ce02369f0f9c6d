"""Puts what a script makes into a page of the documents, between its marks."""

END = "<!-- end -->"


def begin(maker: str) -> str:
    """The mark that begins what the module of that name makes."""
    return f"<!-- made by {maker} -->"


def page_with(maker: str, block: str, page: str) -> str:
    """The page with this block where its maker's marks are.

    Raises:
        ValueError: It has no such marks.
    """
    before, mark, rest = page.partition(begin(maker))
    _, end, after = rest.partition(END)
    if not (mark and end):
        raise ValueError(f"the page has no place for {maker}: {begin(maker)} and {END}")
    return f"{before}{mark}\n\n{block}\n\n{end}{after}"
