"""The few classes of Flower that the app uses, for tests where Flower is not installed."""

__version__ = "stand-in"
