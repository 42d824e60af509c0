//! Decides what to say on a pull. Pure: no IO, no clock, no async, no randomness.
