//! Choices drawn from a list of numbers: short lists and small numbers give simple pulls, so a failing case shrinks to
//! the simplest that still fails.

use proptest::prelude::*;

/// A list of numbers, read one by one; after its end every choice is the first.
#[derive(Clone, Debug)]
pub(crate) struct Dice {
    rolls: Vec<u16>,
    at: usize,
}

impl Dice {
    /// A number below `sides`.
    pub(crate) fn roll(&mut self, sides: usize) -> usize {
        let rolled = self.rolls.get(self.at).copied().unwrap_or_default();
        self.at += 1;
        usize::from(rolled) % sides.max(1)
    }

    /// Returns true once in `n` times.
    pub(crate) fn one_in(&mut self, n: usize) -> bool {
        self.roll(n) == n - 1
    }

    pub(crate) fn pick<T: Clone>(&mut self, from: &[T]) -> T {
        from[self.roll(from.len())].clone()
    }

    /// Returns a value once in `n` times.
    pub(crate) fn maybe<T>(&mut self, n: usize, make: impl FnOnce(&mut Self) -> T) -> Option<T> {
        self.one_in(n).then(|| make(self))
    }

    pub(crate) fn some<T>(&mut self, below: usize, mut make: impl FnMut(&mut Self) -> T) -> Vec<T> {
        (0..self.roll(below)).map(|_| make(self)).collect()
    }
}

pub(crate) fn dice(most: usize) -> impl Strategy<Value = Dice> {
    prop::collection::vec(any::<u16>(), most / 2..most).prop_map(|rolls| Dice { rolls, at: 0 })
}
