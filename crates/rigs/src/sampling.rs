//! Random samples that keep their order.

use fastrand::Rng;

/// Picks `count` of the items at random, in their original order; all of them if there are no more.
pub(crate) fn sample_in_order<T>(random: &mut Rng, items: Vec<T>, count: usize) -> Vec<T> {
    // `choose_multiple` reserves room for as many as it is asked for.
    let count = count.min(items.len());
    let mut chosen = random.choose_multiple(items.into_iter().enumerate(), count);
    chosen.sort_by_key(|(at, _)| *at);
    chosen.into_iter().map(|(_, item)| item).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sample_keeps_order_and_depends_on_seed() {
        let sample = |seed| sample_in_order(&mut Rng::with_seed(seed), (0..100).collect::<Vec<_>>(), 10);
        assert_eq!(sample(1).len(), 10);
        assert!(sample(1).is_sorted());
        assert_ne!(sample(1), sample(2));
        assert_eq!(sample(1), sample(1));
        assert_eq!(sample_in_order(&mut Rng::with_seed(1), vec![1, 2], 10), [1, 2]);
    }

    #[test]
    fn no_limit_picks_everything() {
        assert_eq!(sample_in_order(&mut Rng::with_seed(1), vec![1, 2], usize::MAX), [1, 2]);
        assert_eq!(sample_in_order(&mut Rng::with_seed(1), Vec::<i32>::new(), usize::MAX), [0; 0]);
    }
}
