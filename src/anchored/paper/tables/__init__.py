"""One file per table: its claim, command, cost and expected numbers, and its settings as typed values."""

__all__: list[str] = []
