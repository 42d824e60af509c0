//! Timestamps and durations. Core has no clock: the current time is `Snapshot::taken_at`.

use std::fmt;
use std::ops::Sub;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A Unix timestamp in seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Time(pub i64);

/// A duration in seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Span(pub i64);

impl Span {
    pub const fn from_minutes(minutes: i64) -> Self {
        Self(minutes.saturating_mul(60))
    }

    pub const fn from_hours(hours: i64) -> Self {
        Self(hours.saturating_mul(3600))
    }
}

impl Time {
    pub fn saturating_add(self, span: Span) -> Self {
        Self(self.0.saturating_add(span.0))
    }
}

impl Sub for Time {
    type Output = Span;

    fn sub(self, earlier: Self) -> Span {
        Span(self.0.saturating_sub(earlier.0))
    }
}

/// Prints `2026-11-15 10:40 UTC`: absolute, so that the same snapshot always prints the same.
impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let days = self.0.div_euclid(86_400);
        let minutes = self.0.rem_euclid(86_400) / 60;
        let (year, month, day) = civil_from_days(days);
        write!(f, "{year:04}-{month:02}-{day:02} {:02}:{:02} UTC", minutes / 60, minutes % 60)
    }
}

/// Converts days since 1970-01-01 to a proleptic Gregorian date, with 400-year eras that start on 1 March.
fn civil_from_days(days: i64) -> (i64, i64, i64) {
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::Time;

    #[test]
    fn dates_are_gregorian() {
        for (seconds, text) in [
            (0, "1970-01-01 00:00 UTC"),
            (951_782_400, "2000-02-29 00:00 UTC"),
            (1_794_739_200, "2026-11-15 10:40 UTC"),
            (-1, "1969-12-31 23:59 UTC"),
        ] {
            assert_eq!(Time(seconds).to_string(), text);
        }
    }
}
