-- Version 6: what a measured program says of itself. A JSON object, a member a metric:
-- {"tflops": {"unit": "TFLOP/s", "better": "higher", "values": [1.5, 1.6]}}. NULL: it says nothing.

ALTER TABLE measurement ADD COLUMN numbers TEXT DEFAULT NULL;

-- Which there are is asked whenever a history is opened.
CREATE INDEX measurement_with_numbers ON measurement (benchmark) WHERE numbers IS NOT NULL;
