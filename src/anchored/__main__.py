"""``python -m anchored`` is the command ``anchored``; ``torchrun -m anchored`` needs it."""

from anchored.cli import main

if __name__ == "__main__":
    main()
