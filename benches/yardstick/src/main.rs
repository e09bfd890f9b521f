//! The least work that any program must do for a task, as a baseline for `scripts/bench`.

use std::error::Error;
use std::fs::File;
use std::hint::black_box;
use std::io;
use std::path::Path;
use std::time::Instant;

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["hello"] => println!("Hello, world!"),
        ["copy", file] => copy(Path::new(file))?,
        ["scan", file, needle, rounds] => scan(Path::new(file), needle, rounds.parse()?)?,
        _ => return Err("usage: yardstick hello | copy FILE | scan FILE TEXT ROUNDS".into()),
    }
    Ok(())
}

/// Replaces a file by a copy of itself, on disk before its name changes.
fn copy(file: &Path) -> io::Result<()> {
    let temp = file.with_extension("copy");
    let mut to = File::create(&temp)?;
    io::copy(&mut File::open(file)?, &mut to)?;
    to.sync_all()?;
    std::fs::rename(temp, file)
}

/// Prints how many seconds it takes to read a file and to search it for a text, the best of several rounds: on the clock, and
/// of the processor.
fn scan(file: &Path, needle: &str, rounds: usize) -> io::Result<()> {
    let (mut best, mut best_cpu) = (f64::INFINITY, f64::INFINITY);
    for _ in 0..rounds {
        let (start, cpu) = (Instant::now(), cpu_time()?);
        let text = std::fs::read(file)?;
        black_box(memchr::memmem::find(black_box(&text), needle.as_bytes()));
        best = best.min(start.elapsed().as_secs_f64());
        best_cpu = best_cpu.min(cpu_time()? - cpu);
    }
    println!("{best} {best_cpu}");
    Ok(())
}

/// How long this thread has computed, in seconds.
fn cpu_time() -> io::Result<f64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat")?;
    let nanoseconds = text.split(' ').next().and_then(|number| number.parse::<f64>().ok());
    nanoseconds.map(|time| time / 1e9).ok_or_else(|| io::ErrorKind::InvalidData.into())
}
