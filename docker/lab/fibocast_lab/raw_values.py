"""Every repetition as it was measured, one JSON object a line, written at once: an interrupted run keeps what it has."""
import json


class RawValues:
    def __init__(self, file, experiment):
        self.file = file
        self.experiment = experiment

    def write(self, line):
        self.file.write(json.dumps({"experiment": self.experiment, **line}) + "\n")
        self.file.flush()
