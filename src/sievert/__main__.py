"""`python -m sievert`."""

from sievert.cli import main

if __name__ == "__main__":
    main()
