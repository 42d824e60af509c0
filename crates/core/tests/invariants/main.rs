//! The numbered invariants, as far as they concern core. They hold on any pull.
//!
//! There are two kinds of pulls: `play` builds possible ones, from events with referee's plans applied in between;
//! `any` builds arbitrary ones, contradictory ones included. A property that holds on both runs on both.
//!
//! | invariant | proven elsewhere, because |
//! |---|---|
//! | I5 | it is about the final state on a forge: the publishing table's product, and testkit's models |
//! | I10, I31 | crashes and lost responses happen to a turn: testkit's models and scenarios |
//! | I22, the second read | `turn` reads the head again, not core |
//! | I26, I27, I28, I34, I36 | secrets, the sandbox and the network are outside of core |
//! | I30, lost and duplicate events | an event only triggers a turn |
//! | I35 | the journal is written by `turn` |

mod any;
#[path = "../render/commands.rs"]
mod commands;
mod dice;
mod forge;
mod marks;
mod others;
mod play;
mod pool;
mod rest;
mod tell;
mod threads;
mod total;
mod verdicts;
mod words;
mod work;

use proptest::prelude::ProptestConfig;

/// Configures `usual` cases; `PROPTEST_CASES` scales the number.
pub(crate) fn cases(usual: u32) -> ProptestConfig {
    let config = ProptestConfig::default();
    let cases = config.cases.saturating_mul(usual) / 256;
    ProptestConfig { cases: cases.max(1), failure_persistence: None, max_shrink_iters: 2_000, ..config }
}

/// A property that holds on possible and on arbitrary pulls.
#[macro_export]
macro_rules! holds {
    ($config:expr, $name:ident, $property:path) => {
        proptest::proptest! {
            #![proptest_config($config)]

            #[test]
            fn $name(able in $crate::play::any_play(), unable in $crate::any::any_scene()) {
                $property(&able)?;
                $property(&unable)?;
            }
        }
    };
}
