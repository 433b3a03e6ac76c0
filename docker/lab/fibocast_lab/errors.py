"""What can go wrong in the laboratory, as one sentence for the person at the terminal."""


class LabError(Exception):
    """One clear sentence that says what to do."""
