//! Pseudo-random numbers. A seed reproduces a history.

/// A linear congruential generator.
#[derive(Clone, Debug)]
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        let mut dice = Self(seed);
        // Neighbouring seeds start with similar numbers.
        for _ in 0..8 {
            dice.below(2);
        }
        dice
    }

    /// Returns a number from 0 to `limit - 1`.
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from((self.0 >> 33) % limit.max(1) as u64).unwrap_or_default()
    }

    /// Returns true in `percent` of 100 cases.
    pub(crate) fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    pub(crate) fn pick<T: Clone>(&mut self, items: &[T]) -> Option<T> {
        items.get(self.below(items.len())).cloned()
    }
}
