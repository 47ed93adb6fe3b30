"""One file per table: its claim, its command, its cost, and its settings as typed values."""

__all__: list[str] = []
