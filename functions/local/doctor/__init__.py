"""`headrace doctor`: looks at an installation, or at a deployment from outside, and says what to do about faults."""
