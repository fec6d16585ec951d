//! Ids that look like one.

/// How many are shown.
const MOST: usize = 3;

/// The ids that a slip of the finger away are, the nearest first.
pub(super) fn near(id: &str, mut ids: Vec<String>) -> Vec<String> {
    ids.sort();
    ids.dedup();
    let limit = (id.len() / 3).max(1);
    let mut near: Vec<(usize, String)> = ids
        .into_iter()
        .filter_map(|other| {
            let apart = distance(id.as_bytes(), other.as_bytes());
            let within = other.contains(id) || id.contains(other.as_str());
            (apart <= limit || within).then_some((apart, other))
        })
        .collect();
    near.sort();
    near.into_iter().take(MOST).map(|(_, id)| id).collect()
}

/// Edits that make one of the other; ids are short and ASCII.
fn distance(one: &[u8], other: &[u8]) -> usize {
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (i, a) in one.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, b) in other.iter().enumerate() {
            let changed = diagonal + usize::from(a != b);
            diagonal = row[j + 1];
            row[j + 1] = changed.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_come_first() {
        assert_eq!(distance(b"kitten", b"sitting"), 3);
        let ids = ["fund_profile_a", "fund_profile_b", "price_history", "fund"].map(String::from).to_vec();
        assert_eq!(near("fund_profil_a", ids.clone()), ["fund_profile_a", "fund_profile_b", "fund"]);
        assert_eq!(near("weather", ids), Vec::<String>::new());
    }
}
