//! Timestamps in the formats of servers.

use referee_core::model::Time;

const WEEKDAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// Formats as `2026-11-15T09:37:49Z`.
pub(super) fn format_timestamp(at: Time) -> String {
    // `Time` prints minutes only: `2026-11-15 09:37 UTC`.
    let text = at.to_string();
    let (date, minute) = (text.get(..10).unwrap_or_default(), text.get(11..16).unwrap_or_default());
    format!("{date}T{minute}:{:02}Z", at.0.rem_euclid(60))
}

/// Formats as `Sun, 15 Nov 2026 09:37:49 GMT`.
pub(super) fn format_http_date(at: Time) -> String {
    let text = format_timestamp(at);
    let part = |from: usize, to: usize| text.get(from..to).unwrap_or_default();
    let day = usize::try_from(at.0.div_euclid(86_400).rem_euclid(7)).unwrap_or_default();
    let month = part(5, 7).parse::<usize>().unwrap_or(1).saturating_sub(1);
    let (day, month) = (WEEKDAYS.get(day).unwrap_or(&""), MONTHS.get(month).unwrap_or(&""));
    format!("{day}, {} {month} {} {} GMT", part(8, 10), part(0, 4), part(11, 19))
}

/// Parses the format of `format_timestamp`, as `since` uses it. Other offsets than `Z` are not supported.
pub(super) fn parse_timestamp(text: &str) -> Option<Time> {
    let number = |from: usize, to: usize| text.get(from..to)?.parse::<i64>().ok();
    let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
    let (years, months) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let days = years * 365 + years.div_euclid(4) - years.div_euclid(100) + years.div_euclid(400);
    let days = days + (153 * months + 2) / 5 + day - 1 - 719_468;
    Some(Time(days * 86_400 + number(11, 13)? * 3_600 + number(14, 16)? * 60 + number(17, 19)?))
}

#[cfg(test)]
mod tests {
    use referee_core::model::Time;

    use super::{format_http_date, format_timestamp, parse_timestamp};

    #[test]
    fn timestamps_round_trip() {
        for (at, text, header) in [
            (0, "1970-01-01T00:00:00Z", "Thu, 01 Jan 1970 00:00:00 GMT"),
            (951_782_401, "2000-02-29T00:00:01Z", "Tue, 29 Feb 2000 00:00:01 GMT"),
            (1_794_739_262, "2026-11-15T10:41:02Z", "Sun, 15 Nov 2026 10:41:02 GMT"),
        ] {
            assert_eq!((format_timestamp(Time(at)), format_http_date(Time(at))), (text.to_owned(), header.to_owned()));
            assert_eq!(parse_timestamp(text), Some(Time(at)));
        }
    }
}
