//! The fuzz targets for whole calls, on thousands of mutations of their seeds. `scripts/fuzz` runs them for hours.

#[path = "../../../../fuzz/src/engine_targets.rs"]
#[allow(unreachable_pub)]
mod targets;

/// Changes a few bytes: one overwritten, removed, inserted, or a range repeated elsewhere.
fn mutate(data: &mut Vec<u8>, random: &mut fastrand::Rng) {
    for _ in 0..random.usize(1..6) {
        let at = random.usize(0..data.len().max(1)).min(data.len());
        match random.u8(0..4) {
            0 if at < data.len() => data[at] = random.u8(..),
            1 if at < data.len() => drop(data.remove(at)),
            2 => data.insert(at, random.u8(..)),
            _ => {
                let end = (at + random.usize(0..20)).min(data.len());
                let copy = data[at..end].to_vec();
                let to = random.usize(0..=data.len());
                data.splice(to..to, copy);
            }
        }
    }
}

fn run_on_mutations(target: fn(&[u8]), seeds: &[&[u8]], rounds: usize) {
    let mut random = fastrand::Rng::with_seed(15);
    for seed in seeds {
        target(seed);
    }
    for round in 0..rounds {
        let mut data = seeds[round % seeds.len()].to_vec();
        mutate(&mut data, &mut random);
        target(&data);
    }
}

macro_rules! seed {
    ($name:literal) => {
        include_bytes!(concat!("../../../../fuzz/corpus/", $name)).as_slice()
    };
}

#[test]
fn calls_change_only_what_they_report_and_can_be_undone() {
    let seeds = [
        seed!("calls/native"),
        seed!("calls/native_patch"),
        seed!("calls/crlf"),
        seed!("calls/phoenix"),
        seed!("calls/others"),
        seed!("calls/recovery"),
        seed!("calls/bytes"),
    ];
    run_on_mutations(targets::calls, &seeds, 1_500);
}

#[test]
fn batches_do_what_a_naive_model_does() {
    let seeds = [seed!("batches/nexus3"), seed!("batches/claude"), seed!("batches/adjacent_lines")];
    run_on_mutations(targets::batches, &seeds, 9_000);
}
