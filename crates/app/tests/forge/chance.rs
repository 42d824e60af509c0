//! Repetition counts and random numbers. A seed reproduces every failure.

/// Returns the number of repetitions: `plain`, or `all` with `REFEREE_SCALE=10`.
pub(crate) fn times(plain: usize, all: usize) -> usize {
    if number("REFEREE_SCALE", 1) >= 10 { all } else { plain }
}

/// Pseudo-random numbers, seeded by `REFEREE_SEED`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Dice {
    pub(crate) seed: u64,
    state: u64,
}

impl Dice {
    pub(crate) fn new() -> Self {
        let seed = number("REFEREE_SEED", 5);
        Self { seed, state: seed }
    }

    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.state = self.state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from((self.state >> 33) % limit.max(1) as u64).unwrap_or_default()
    }

    pub(crate) fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }
}

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}
